//! `--board` and `--config`: the card that they name, and what they refuse.

use std::fs;
use std::process::Command;

use crate::bad_input::{refuse, scratch};

/// Commands that take a card, with what else they need.
const COMMANDS: [&[&str]; 6] = [
    &["verilog", "--out", "out"],
    &["synth"],
    &["demo"],
    &["world", "--nic", "rtl"],
    &["bench", "nic"],
    &["serve"],
];

#[test]
fn an_unknown_board_is_answered_with_those_that_there_are() {
    let folder = scratch();
    for command in COMMANDS {
        let arguments = [command, &["--board", "u200"]].concat();
        let boards = ["--board", "u200", "u250", "u280", "u55c", "v80"];
        refuse(folder.path(), &arguments, 2, &boards);
    }
}

#[test]
fn a_file_that_describes_no_card_is_answered_with_what_is_allowed() {
    let folder = scratch();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("queues.toml", "board = \"u55c\"\nqueue_pairs = 64\n");
    write("shape.toml", "ports = 2\nwidth = 512\n");
    write("key.toml", "bord = \"u55c\"\n");
    for command in COMMANDS {
        let with = |file| [command, &["--config", file]].concat();
        let refuse = |file, parts: &[&str]| refuse(folder.path(), &with(file), 1, parts);
        refuse("none.toml", &["cannot read none.toml"]);
        refuse(
            "queues.toml",
            &["queues.toml: queue_pairs = 64", "has 1024"],
        );
        refuse(
            "shape.toml",
            &["shape.toml: there is no card of 2 ports and 512 bits"],
        );
        refuse("key.toml", &["key.toml", "unknown field `bord`", "`board`"]);
        let both = [&with("queues.toml")[..], &["--board", "v80"]].concat();
        let conflict = ["--config", "--board"];
        crate::bad_input::refuse(folder.path(), &both, 2, &conflict);
    }
    let lone = "serve --board u250 --lone --bridge dgram:a.sock:b.sock --bridge-port 1";
    let lone: Vec<&str> = lone.split(' ').collect();
    refuse(folder.path(), &lone, 1, &["--bridge-port 1", "1 port(s)"]);
}

#[test]
fn a_check_of_the_whole_card_names_what_it_needs() {
    let folder = scratch();
    let refuse = |arguments: &[&str], status, parts: &[&str]| {
        refuse(
            folder.path(),
            &[&["synth"], arguments].concat(),
            status,
            parts,
        );
    };
    refuse(&["--check"], 1, &["--board", "--config"]);
    refuse(&["--board", "u55c", "--ratchet"], 2, &["--check"]);
    let block = ["--board", "u55c", "--check", "--block", "parse"];
    refuse(&block, 2, &["--check", "--block"]);
    let check = ["--board", "u55c", "--check"];
    refuse(&check, 1, &["fpga/budgets/u55c.toml"]);
    let budgets = folder.path().join("fpga/budgets");
    fs::create_dir_all(&budgets).unwrap();
    fs::write(budgets.join("u55c.toml"), "[goal]\npercent = 55\n").unwrap();
    refuse(&check, 1, &["fpga/budgets/u55c.toml", "levels"]);
    let budget = include_str!("../../fpga/budgets/u55c.toml");
    fs::write(budgets.join("u55c.toml"), budget).unwrap();
    let ratchet = [&check[..], &["--ratchet"]].concat();
    refuse(&ratchet, 1, &["docs/area/u55c.toml", "--record"]);
    let missing = [&check[..], &["--yosys", "no-such-yosys"]].concat();
    refuse(&missing, 1, &["no-such-yosys", "./stellar setup"]);
    let card = "ports = 2\nwidth = 1024\nqueue_pairs = 16384\n";
    fs::write(folder.path().join("card.toml"), card).unwrap();
    let check = ["--check", "--ratchet", "--config", "card.toml"];
    refuse(&check, 1, &["board = \"v80\""]);
    let card = "board = \"v80\"\nqueue_pairs = 16384\n";
    fs::write(folder.path().join("card.toml"), card).unwrap();
    refuse(&check, 1, &["fpga/budgets/v80.toml"]);
    let budget = include_str!("../../fpga/budgets/v80.toml");
    fs::write(budgets.join("v80.toml"), budget).unwrap();
    refuse(&check, 1, &["docs/area/v80_nic_16k.toml", "--record"]);
}

#[test]
fn a_count_of_memories_names_what_it_needs() {
    let folder = scratch();
    let refuse = |arguments: &[&str], status, parts: &[&str]| {
        let arguments = [&["synth", "--memories"], arguments].concat();
        refuse(folder.path(), &arguments, status, parts);
    };
    refuse(&[], 1, &["--board", "--config"]);
    refuse(
        &["--board", "u55c", "--check"],
        2,
        &["--check", "--memories"],
    );
    refuse(&["--board", "u55c"], 1, &["fpga/budgets/u55c.toml"]);
    let shape = "ports = 2\nwidth = 1024\nqueue_pairs = 16384\n";
    fs::write(folder.path().join("shape.toml"), shape).unwrap();
    refuse(&["--config", "shape.toml"], 1, &["board = \"v80\""]);
}

/// The card with 16,384 queue pairs fits a V80, and not one with fewer memories.
#[test]
fn the_memories_of_the_largest_card_fit_its_device() {
    let folder = scratch();
    let budgets = folder.path().join("fpga/budgets");
    fs::create_dir_all(&budgets).unwrap();
    let budget = include_str!("../../fpga/budgets/v80.toml");
    fs::write(budgets.join("v80.toml"), budget).unwrap();
    let card = "board = \"v80\"\nqueue_pairs = 16384\n";
    fs::write(folder.path().join("card.toml"), card).unwrap();
    let arguments = ["synth", "--config", "card.toml", "--memories"];
    let output = Command::new(env!("CARGO_BIN_EXE_stellar-cli"))
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("The memories of nic_16k keep to the device on v80."));
    let less = budget.replace("uram = 1925", "uram = 1000");
    assert_ne!(less, budget);
    fs::write(budgets.join("v80.toml"), less).unwrap();
    refuse(
        folder.path(),
        &arguments,
        1,
        &["of 1000 URAM", "do not keep to the device on v80"],
    );
}

#[test]
fn every_board_has_a_budget() {
    for board in ["u250", "u280", "u55c", "v80"] {
        let path = format!(
            "{}/../fpga/budgets/{board}.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        let budget = stellar_fit::Budget::read(path.as_ref()).unwrap();
        assert_eq!(budget.goal.levels, 8);
        assert_eq!(budget.goal.loads, stellar_fpga::MAX_LOADS);
        assert!(budget.goal.percent <= 55.0 && budget.device.ff == 2 * budget.device.lut);
    }
}

#[test]
fn the_card_of_a_board_is_written() {
    let folder = scratch();
    fs::write(folder.path().join("card.toml"), "ports = 1\nwidth = 512\n").unwrap();
    for (option, value, out) in [("--board", "u280", "a"), ("--config", "card.toml", "b")] {
        let written = Command::new(env!("CARGO_BIN_EXE_stellar-cli"))
            .args(["--quiet", "verilog", "nic", "--out", out, option, value])
            .current_dir(folder.path())
            .status();
        assert!(written.unwrap().success());
        let top = folder.path().join(out).join("nic_512/nic.v");
        let text = fs::read_to_string(top).unwrap();
        assert!(text.contains("input wire [511:0] rx0_data") && !text.contains("rx1_data"));
    }
}
