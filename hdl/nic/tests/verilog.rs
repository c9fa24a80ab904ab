//! Other tools accept the Verilog of the top levels.

use hdl_nic::{RxDualLane1024, RxDualLane512, Top};
use hdl_testkit::tools;
use rust_hdl::prelude::Block;

fn check<B: Block + Default>() {
    let mut block = Box::<B>::default();
    block.connect_all();
    let design = hdl_verilog::emit(block.as_ref()).unwrap();
    tools::check(&design).unwrap();
}

#[test]
fn two_lanes_lint_in_verilator_parse_in_icarus_and_elaborate_in_yosys_without_latches() {
    check::<RxDualLane512>();
    check::<RxDualLane1024>();
}

/// Yosys checks the card's blocks one by one, in the tests of their crates.
#[test]
fn the_card_lints_in_verilator_and_parses_in_icarus() {
    let design = Top::Nic.elaborate().unwrap();
    tools::lint(&design).unwrap();
    tools::icarus(&design).unwrap();
}
