//! The tops are Verilog that tools accept, with every port of the hard blocks, the card and the shims connected at its width.
use std::path::PathBuf;
use std::process::Command;

use hdl_designs::Board;
use hdl_testkit::tools::LINT_WAIVERS;
use stellar_fpga::Project;

use crate::files::{project, CMACS};

const IP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fpga/ip.v");

/// What Verilator says about the sources of a project.
fn lint(project: &Project) -> String {
    let folder = tempfile::tempdir().unwrap();
    project.write(folder.path()).unwrap();
    let sources = project.files.keys().filter(|path| path.ends_with(".v"));
    let sources: Vec<PathBuf> = sources.map(|path| folder.path().join(path)).collect();
    let mut command = Command::new("verilator");
    command.args([
        "--lint-only",
        "-Wall",
        "--top-module",
        project.board.facts().name,
    ]);
    // Outputs of hard blocks that nothing reads, and modules of hard blocks without contents.
    command.args(["-Wno-PINCONNECTEMPTY", "-Wno-UNDRIVEN", "-Wno-TIMESCALEMOD"]);
    for (rule, _) in LINT_WAIVERS {
        command.arg(format!("-Wno-{rule}"));
    }
    let output = command.args(sources).arg(IP).output();
    let output = output.expect("verilator runs; `./stellar setup` installs it");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn verilator_accepts_the_tops() {
    for board in CMACS {
        assert_eq!(lint(&project(board)), "", "{board}");
    }
}

/// What the check is worth: a port that is not connected, one of another width, and one that does not exist.
#[test]
fn wrong_connections_of_the_tops_are_found() {
    let good = project(Board::U55c);
    let card = "rtl/openstellar_100g.v";
    let blocks = "rtl/alveo_100g.v";
    let unconnected = [
        (blocks, "    .pcie_cq_np_req(1'b1),\n", "", "pcie_cq_np_req"),
        (
            blocks,
            "wire [182:0] cq_tuser;",
            "wire [181:0] cq_tuser;",
            "cq_tuser",
        ),
        (
            card,
            "    .usr_rx_reset(usr_rx_reset),\n",
            "",
            "usr_rx_reset",
        ),
    ];
    // An error hides the warnings behind it.
    let unknown = [(
        blocks,
        ".ctl_tx_enable(tx_enable)",
        ".ctl_tx_on(tx_enable)",
        "ctl_tx_on",
    )];
    for changes in [&unconnected[..], &unknown] {
        let mut changed = good.clone();
        for (file, from, to, _) in changes {
            let text = changed.files.get_mut(*file).unwrap();
            assert!(text.contains(from), "{from}");
            *text = text.replacen(from, to, 1);
        }
        let complaint = lint(&changed);
        for (.., said) in changes {
            assert!(complaint.contains(said), "{said}: {complaint}");
        }
    }
}
