//! Checks that every program uses the same model of the card, and that each simulation mode has a model of its own.

use hdl_designs::elaborate;
use sim_models::DesignModels;
use sim_nic::{chosen_shape, NicModel};
use sim_verilated::SimMode;

#[test]
fn the_plain_card_is_the_design_that_benches_build_by_its_name() {
    let design = elaborate(chosen_shape().design()).expect("the card is emitted");
    let spec = NicModel::spec(SimMode::Plain).expect("the card is emitted");
    // The levels are those of `tests/cocotb/simulators.py`.
    let benches = design.model().with_trace_of(Some(2)).for_short_run();
    assert!(benches == spec, "two models of the card");
}

#[test]
fn a_mode_decides_the_text_and_the_key() {
    let [plain, gated, on_change] =
        SimMode::ALL.map(|mode| NicModel::spec(mode).expect("the card is emitted"));
    assert!(plain.gating.is_none() && !plain.verilog.contains("gate_active"));
    assert!(gated.gating.is_some() && gated.gating == on_change.gating);
    assert!(gated.verilog == on_change.verilog && gated != on_change);
}
