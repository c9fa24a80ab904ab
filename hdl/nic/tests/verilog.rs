//! Other tools accept the Verilog of the top levels.

use hdl_nic::{RxDualLane1024, RxDualLane512, RxSingleLane512, Shape, Top};
use hdl_testkit::tools;
use rust_hdl::prelude::Block;

fn check<B: Block + Default>() {
    let mut block = Box::<B>::default();
    block.connect_all();
    let design = hdl_verilog::emit(block.as_ref()).unwrap();
    tools::check(&design).unwrap();
}

#[test]
fn lanes_lint_in_verilator_parse_in_icarus_and_elaborate_in_yosys_without_latches() {
    check::<RxSingleLane512>();
    check::<RxDualLane512>();
    check::<RxDualLane1024>();
}

/// Yosys checks the card's blocks one by one, in the tests of their crates.
#[test]
fn the_card_lints_in_verilator_and_parses_in_icarus_in_every_shape() {
    for shape in Shape::ALL {
        let design = Top::Nic(shape).elaborate().unwrap();
        tools::lint(&design).unwrap();
        tools::icarus(&design).unwrap();
        let has = |port: &str| design.ports.iter().any(|p| p.name == port);
        let second = [
            "rx1_data",
            "tx1_data",
            "rq1_tdata",
            "rc1_tdata",
            "cq1_tdata",
        ];
        assert!(
            second.iter().all(|port| has(port) == (shape.ports() == 2)),
            "{shape:?}"
        );
        for port in [
            "rx0_data",
            "tx0_data",
            "rq0_tdata",
            "rc0_tdata",
            "cq_tdata",
            "cc_tdata",
        ] {
            let found = design.ports.iter().find(|p| p.name == port);
            assert_eq!(
                found.map(|p| p.width),
                Some(shape.width()),
                "{shape:?} {port}"
            );
        }
    }
}
