//! The tops are Verilog that tools accept, with every port of the hard blocks, the card and the shims connected at its width.
use std::path::PathBuf;
use std::process::Command;

use hdl_designs::Board;
use hdl_testkit::tools::LINT_WAIVERS;
use stellar_fpga::Project;

use crate::files::project;

const IP: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fpga/ip.v"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fpga/blocks.v"),
];

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
    let output = command.args(sources).args(IP).output();
    let output = output.expect("verilator runs; `./stellar setup` installs it");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn verilator_accepts_the_tops() {
    for board in Board::ALL {
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
    find(&good, &[&unconnected, &unknown]);
}

#[test]
fn wrong_connections_of_the_v80_are_found() {
    let good = project(Board::V80);
    let card = "rtl/openstellar_200g2.v";
    let blocks = "rtl/v80.v";
    let unconnected = [
        (
            blocks,
            "    .pcie1_status_cq_np_req(2'b11),\n",
            "",
            "pcie1_status_cq_np_req",
        ),
        (
            blocks,
            "    .mac_axi_aresetn(axi_aresetn),\n",
            "",
            "mac_axi_aresetn",
        ),
        (
            blocks,
            "wire [3:0] tx_mty6;",
            "wire [2:0] tx_mty6;",
            "tx_axis_tuser_mty6",
        ),
        (card, "    .gt_rx_done(gt_rx_done),\n", "", "gt_rx_done"),
        (
            card,
            "  wire [336:0] rc1_tuser;",
            "  wire [335:0] rc1_tuser;",
            "rc1_tuser",
        ),
    ];
    let unknown = [(
        blocks,
        ".pcie0_msix_enable(msix_enable)",
        ".pcie0_msix_on(msix_enable)",
        "pcie0_msix_on",
    )];
    find(&good, &[&unconnected, &unknown]);
}

/// Changes of a file: what, to what, and what Verilator has to name.
type Changes<'a> = &'a [(&'a str, &'a str, &'a str, &'a str)];

fn find(good: &Project, all: &[Changes]) {
    for changes in all {
        let mut changed = good.clone();
        for (file, from, to, _) in *changes {
            let text = changed.files.get_mut(*file).unwrap();
            assert!(text.contains(from), "{from}");
            *text = text.replacen(from, to, 1);
        }
        let complaint = lint(&changed);
        for (.., said) in *changes {
            assert!(complaint.contains(said), "{said}: {complaint}");
        }
    }
}
