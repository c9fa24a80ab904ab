//! The lanes' Verilog is what other tools take.

use hdl_nic::{RxLanes1024, RxLanes512};
use rust_hdl::prelude::Block;

fn check<B: Block + Default>() {
    let mut block = Box::<B>::default();
    block.connect_all();
    let design = hdl_verilog::emit(block.as_ref()).unwrap();
    hdl_verilog::tools::check(&design).unwrap();
}

#[test]
fn two_lanes_lint_in_verilator_parse_in_icarus_and_elaborate_in_yosys_without_latches() {
    check::<RxLanes512>();
    check::<RxLanes1024>();
}
