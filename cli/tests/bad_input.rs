//! Messages about wrong arguments and files: what is wrong, where, and what to do. The program never panics, and writes nothing.

use std::path::Path;
use std::process::{Command, Output};

/// The program with `folder` as its directory.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stellar-cli"));
    command.args(arguments).current_dir(folder);
    command
}

/// Runs the program in `folder`.
fn stellar(folder: &Path, arguments: &[&str]) -> Output {
    let output = command(folder, arguments).output();
    output.expect("the program starts")
}

/// Runs the program and expects the exit status, and an error message that contains all of `parts`.
#[track_caller]
pub fn refuse(folder: &Path, arguments: &[&str], status: i32, parts: &[&str]) {
    refuse_output(&stellar(folder, arguments), status, parts);
}

#[track_caller]
fn refuse_output(output: &Output, status: i32, parts: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{message}");
    for part in parts {
        assert!(message.contains(part), "no '{part}' in: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
}

/// An empty folder.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn wrong_arguments_are_named_with_what_is_allowed() {
    let folder = scratch();
    for (arguments, parts) in [
        (
            &["demo", "rx", "--width", "700"][..],
            &["700", "512, 1024"][..],
        ),
        (&["demo", "rx", "--messages", "41"], &["41", "1..=40"]),
        (
            &["demo", "rx", "--mesages", "4"],
            &["--mesages", "--messages"],
        ),
        (&["demo", "--byte", "4"], &["--byte", "--bytes"]),
        (&["demo", "--paths", "300"], &["--paths", "300", "0..=255"]),
        (&["demo", "--loss", "often"], &["--loss", "often"]),
        (&["demo", "--seed", "1", "rx"], &["rx", "--seed"]),
        (&["demo", "tx"], &["tx"]),
        (&["interop-rxe"], &["--net", "--control"]),
        (
            &["interop-rxe", "--net", "tap0", "--control", "c"],
            &["--net", "dgram:LOCAL:REMOTE"],
        ),
        (
            &["interop-rxe", "--flip", "1", "--list"],
            &["--flip", "BYTE.BIT"],
        ),
        (
            &["interop-rxe", "--sim-mode", "slow"],
            &["--sim-mode", "plain, gated, on-change"],
        ),
        (&["demo", "--sim-mode", "fast"], &["fast", "on-change"]),
        (&["demo", "rx", "--sim-mode", "plain"], &["--sim-mode"]),
        (&["bench", "modes", "--repeat", "0"], &["--repeat", "0"]),
        (&["demo", "--rto-us", "0"], &["--rto-us", "1..=8000"]),
        (&["wave", "nic", "--bytes", "0"], &["--bytes", "0"]),
        (&["wave", "nic", "--card", "both"], &["both", "receiver"]),
        (&["wave", "--width", "512", "nic"], &["--width"]),
        (&["wave", "tx"], &["tx"]),
        (&["fuzz", "--frames", "0"], &["--frames", "0"]),
        (&["fuzz", "--seed", "-1"], &["-1"]),
        (&["bench", "tx"], &["tx"]),
        (&["bench", "nic", "--packets", "9"], &["--packets"]),
        (&["bench", "nic", "--seed", "one"], &["--seed", "one"]),
        (&["verilog"], &["--out"]),
        (
            &["verilog", "--board", "u50", "--out", "v"],
            &["u50", "u250, u280, u55c, v80"],
        ),
        (
            &["verilog", "--out", "v", "--width", "512", "nic"],
            &["--width"],
        ),
        (
            &["synth", "--width", "512", "--design", "nic"],
            &["--width", "--design"],
        ),
        (&["sinth"], &["sinth", "synth"]),
        (
            &["devinfo", "--sim", "--vfio", "0000:01:00.0"],
            &["--sim", "--vfio"],
        ),
        (&["write_bw", "--slower", "10"], &["--vfio <BDF>"]),
        (
            &["write_bw", "--sim", "--slower", "10"],
            &["--sim", "--slower"],
        ),
        (
            &["write_lat", "--vfio-user", "nic0.sock", "--slower", "10"],
            &["--vfio-user", "--slower"],
        ),
        (
            &["write_imm_bw", "--vfio", "0000:01:00.0", "--slower", "0"],
            &["--slower <TIMES>", "zero"],
        ),
        (
            &["devinfo", "--vfio", "0000:01:00.0", "--slower", "much"],
            &["--slower <TIMES>", "much"],
        ),
    ] {
        refuse(folder.path(), arguments, 2, parts);
    }
    let left = std::fs::read_dir(folder.path()).expect("the folder");
    assert_eq!(left.count(), 0, "a refused command wrote something");
}

#[test]
fn options_of_a_simulation_need_a_simulated_card() {
    let folder = scratch();
    for (option, value) in [("--sim-mode", "plain"), ("--sim-threads", "2")] {
        for (arguments, needed) in [
            (&["world"][..], "--nic rtl"),
            (&["devinfo", "--vfio-user", "nic0.sock"], "--sim"),
            (&["write_bw", "--vfio", "0000:01:00.0"], "--sim"),
        ] {
            let arguments = [arguments, &[option, value]].concat();
            refuse(folder.path(), &arguments, 1, &[option, needed]);
        }
    }
}

#[test]
fn a_wrong_number_of_threads_is_refused() {
    let folder = scratch();
    for wrong in ["0", "two", "-1"] {
        let option = format!("--sim-threads={wrong}");
        refuse(
            folder.path(),
            &["demo", &option],
            2,
            &["--sim-threads", wrong],
        );
    }
    let mut demo = command(folder.path(), &["demo", "--quiet"]);
    demo.env("STELLAR_SIM_THREADS", "many");
    let parts = ["STELLAR_SIM_THREADS", "`many`", "use 1 or more"];
    refuse_output(&demo.output().expect("the program starts"), 1, &parts);
}

#[test]
fn an_unknown_mode_in_the_environment_is_refused() {
    let folder = scratch();
    let mut demo = command(folder.path(), &["demo"]);
    demo.env("STELLAR_SIM_MODE", "fast");
    let parts = ["STELLAR_SIM_MODE", "`fast`", "plain, gated or on-change"];
    refuse_output(&demo.output().expect("the program starts"), 1, &parts);
}

/// A command with something that calls itself another version of Verilator and builds nothing.
fn with_other_verilator(folder: &Path, arguments: &[&str]) -> Output {
    let program = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../sim/verilated/tests/other_verilator.sh"
    );
    let mut command = command(folder, arguments);
    command
        .env("VERILATOR", program)
        .env_remove("STELLAR_SIM_MODE");
    command.env("STELLAR_MODEL_CACHE", folder.join("cache"));
    command.output().expect("the program starts")
}

#[test]
fn mode_on_change_is_refused_with_another_verilator() {
    let folder = scratch();
    let output = with_other_verilator(folder.path(), &["demo", "--sim-mode", "on-change"]);
    let parts = ["Verilator 5.020", "5.006 alone", "--sim-mode gated"];
    refuse_output(&output, 1, &parts);
    assert!(!folder.path().join("cache").exists(), "nothing was built");
}

#[test]
fn the_default_mode_falls_back_with_one_warning() {
    let folder = scratch();
    let output = with_other_verilator(folder.path(), &["demo", "--quiet"]);
    let parts = [
        "warning: `nic` cannot be simulated in mode on-change",
        "Mode gated",
    ];
    refuse_output(&output, 1, &parts);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(message.matches("warning:").count(), 1, "{message}");
    // This Verilator cannot build the gated model either.
    assert!(message.contains("verilator failed on"), "{message}");
}

#[test]
fn an_unknown_design_is_answered_with_the_closest_names_before_anything_is_written() {
    let folder = scratch();
    let parts = ["no design \"nick\"", "nic"];
    let verilog = ["verilog", "--out", "v", "registers", "nick"];
    refuse(folder.path(), &verilog, 1, &parts);
    refuse(folder.path(), &["synth", "--design", "nick"], 1, &parts);
    let left = std::fs::read_dir(folder.path()).expect("the folder");
    assert_eq!(left.count(), 0, "a refused command wrote something");
}

#[test]
fn an_unknown_block_is_answered_with_the_blocks() {
    let parts = ["no block matches", "core_issue", "dma_write"];
    refuse(scratch().path(), &["synth", "--block", "nic"], 1, &parts);
}

#[test]
fn a_world_that_cannot_be_is_answered_with_what_to_give_instead() {
    let folder = scratch();
    std::fs::copy(
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../sim/net/topologies/leaf_spine.toml"
        ),
        folder.path().join("net.toml"),
    )
    .expect("a topology");
    std::fs::copy(
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../sim/net/topologies/back_to_back.toml"
        ),
        folder.path().join("cables.toml"),
    )
    .expect("a topology");
    let cables = ["world", "--topology", "cables.toml", "--addressing", "srv6"];
    let parts = ["no source routes (SRv6)", "0 and 0 switches without hosts"];
    refuse(folder.path(), &cables, 1, &parts);
    for value in ["0", "128", "1500", "16384", "4k"] {
        let parts: &[&str] = match value {
            "4k" => &["--mtu", "4k", "invalid digit"],
            _ => &["--mtu", value, "use 256, 512, 1024, 2048, 4096 or 8192"],
        };
        refuse(folder.path(), &["world", "--mtu", value], 2, parts);
    }
    for (value, part) in [("spine3", "is no entropy value"), ("1+3", "power of two")] {
        let parts = ["--entropy", value, part];
        refuse(folder.path(), &["world", "--entropy", value], 2, &parts);
    }
    let own = ["world", "--topology", "net.toml"];
    for (arguments, parts) in [
        (&["--loss", "0.1"][..], &["--lossy-link"][..]),
        (&["--lossy-link", "p0.leaf0-spine1"], &["--loss 0.01"]),
        (&["--mode", "rc", "--policy", "obs"], &["RC has one path"]),
        (&["--bytes", "0"], &["byte"]),
        (
            &["--entropy", "1,2", "--paths", "4"],
            &["2 entropy value(s) for 4 path(s); give each path one"],
        ),
        (
            &["--entropy", "5,5"],
            &["0x5 stands at index 0 and at index 1"],
        ),
        (&["--entropy", "0xff80+1"], &["above 0xffff"]),
        (
            &["--mode", "rc", "--entropy", "5"],
            &["RC", "`hopper` or `hp3`"],
        ),
    ] {
        refuse(folder.path(), &[&own[..], arguments].concat(), 1, parts);
    }
    let nowhere = ["world", "--topology", "nowhere.toml"];
    refuse(
        folder.path(),
        &nowhere,
        1,
        &["cannot read topology nowhere.toml"],
    );
    let scenario = ["world", "--scenario", "lost-sack"];
    refuse(folder.path(), &scenario, 1, &["lost-sacks"]);
    assert!(
        !folder.path().join("out").exists(),
        "a refused run wrote something"
    );
}

#[test]
fn a_demonstration_that_cannot_be_is_refused_before_the_card_is_built() {
    let folder = scratch();
    for (arguments, parts) in [
        (["--bytes", "0"], &["message of 0 bytes", "1073741824"][..]),
        (["--bytes", "1073741825"], &["1073741825"]),
        (["--paths", "0"], &["0 paths"]),
        (["--paths", "127"], &["127 paths"]),
        (["--paths", "130"], &["130 paths"]),
        (["--loss", "1.5"], &["1.5"]),
        (["--loss", "NaN"], &["NaN"]),
    ] {
        refuse(
            folder.path(),
            &["demo", arguments[0], arguments[1]],
            1,
            parts,
        );
    }
    let left = std::fs::read_dir(folder.path()).expect("the folder");
    assert_eq!(left.count(), 0, "a refused demonstration wrote something");
}

/// Every command that puts a card into a host has the same options, and refuses them before it builds the card.
#[test]
fn pcie_settings_that_cannot_be_are_refused_by_every_command() {
    let folder = scratch();
    std::fs::write(folder.path().join("pcie.toml"), "rcb = 64\nrcv = 64\n").expect("a file");
    for command in [
        &["demo"][..],
        &["bench", "nic"],
        &["bench", "modes"],
        &["bench", "registration"],
        &["world", "--nic", "rtl"],
        &["serve"],
        &["wave", "nic"],
        &["write_bw", "--sim"],
        &["devinfo", "--sim"],
    ] {
        let with = |more: &[&'static str]| [command, more].concat();
        let value = with(&["--pcie-read-ns", "99"]);
        let parts = ["`read_ns` is 99", "use 100 to 100000", "--pcie-"];
        refuse(folder.path(), &value, 1, &parts);
        let file = with(&["--pcie", "pcie.toml"]);
        let parts = ["pcie.toml", "line 2", "unknown field `rcv`", "`rcb`"];
        refuse(folder.path(), &file, 1, &parts);
    }
    for (arguments, parts) in [
        (
            &["world", "--pcie-rcb", "128"][..],
            &["reference", "--nic rtl"][..],
        ),
        (
            &["world", "--scenario", "lost-sacks", "--pcie-rcb", "128"],
            &["do nothing", "--scenario"],
        ),
        (
            &["write_bw", "--vfio-user", "no.sock", "--pcie-rcb", "128"],
            &["do nothing", "--sim"],
        ),
    ] {
        refuse(folder.path(), arguments, 1, parts);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = scratch();
    std::fs::write(folder.path().join("file"), "").expect("a file");
    for arguments in [
        &["demo", "--out", "file/out"][..],
        &["demo", "rx", "--out", "file/out"],
        &["world", "--out", "file/out"],
        &["verilog", "--out", "file/out"],
        &["wave", "--out", "file/out/a.fst"],
    ] {
        refuse(folder.path(), arguments, 1, &["cannot create file/out"]);
    }
}

#[test]
fn captures_that_cannot_be_read_are_named_before_anything_is_built() {
    let folder = scratch();
    let file = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).expect("a file");
    };
    let rxe = include_bytes!("../../tests/data/rxe_rping_cm.pcap");
    file(
        "text.pcap",
        b"not a capture at all, but long enough for a header",
    );
    file("cut.pcap", &rxe[..rxe.len() - 7]);
    file("empty.pcap", b"");
    let mut raw_ip = rxe.to_vec();
    raw_ip[20..24].copy_from_slice(&101u32.to_le_bytes());
    file("raw_ip.pcap", &raw_ip);
    for (name, reason) in [
        ("nowhere.pcap", "cannot open"),
        ("text.pcap", "not a readable pcap"),
        ("cut.pcap", "not a readable pcap"),
        ("empty.pcap", "not a readable pcap"),
        ("raw_ip.pcap", "link type 101"),
    ] {
        let arguments = ["demo", "rx", "--capture", name];
        refuse(folder.path(), &arguments, 1, &[name, reason]);
    }
}

#[test]
fn a_bandwidth_test_that_cannot_be_is_refused_before_the_cards_are_built() {
    let folder = scratch();
    for test in ["write_bw", "write_imm_bw"] {
        refuse(folder.path(), &[test], 1, &["which cards", "--sim"]);
        let never = [test, "--sim", "--cq-mod", "9", "--tx-depth", "8"];
        refuse(folder.path(), &never, 1, &["--cq-mod", "--tx-depth", "9"]);
        for (option, value) in [
            ("--size", "0"),
            ("--qp", "65"),
            ("--mtu", "4097"),
            ("--mtu", "0"),
            ("--mtu", "16384"),
        ] {
            let arguments = [test, "--sim", option, value];
            refuse(folder.path(), &arguments, 2, &[option, value]);
        }
    }
}

#[test]
fn a_case_that_is_not_there_is_named_before_anything_is_built() {
    let folder = scratch();
    let arguments = ["interop-rxe", "--net", "listen:net", "--control", "control"];
    let unknown = [&arguments[..], &["--case", "sizes-to-moon"]].concat();
    refuse(folder.path(), &unknown, 1, &["sizes-to-moon", "--list"]);
    let both = [&arguments[..], &["--case", "psn-wrap", "--short"]].concat();
    refuse(folder.path(), &both, 2, &["--case", "--short"]);
    assert!(!folder.path().join("net").exists());
}
