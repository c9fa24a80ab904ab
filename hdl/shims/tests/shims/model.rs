//! The Verilated shim, and the times of its clocks.
use std::sync::LazyLock;

use hdl_shims::CmacShim;
use hdl_testkit::Dut;
use hdl_verilog::{emit, Design};
use rust_hdl::prelude::*;
use sim_models::DesignModels;
use sim_verilated::Library;

/// 250 MHz and 322.265625 MHz in femtoseconds.
pub const CARD: u64 = 4_000_000;
pub const MAC: u64 = 3_103_030;

/// Both clocks at 100 ppm from their frequency: the card's, then the MAC's.
pub const TOLERANCES: [[u64; 2]; 4] = [
    [CARD - CARD / 10_000, MAC - MAC / 10_000],
    [CARD - CARD / 10_000, MAC + MAC / 10_000],
    [CARD + CARD / 10_000, MAC - MAC / 10_000],
    [CARD + CARD / 10_000, MAC + MAC / 10_000],
];

/// The shim's design.
pub fn design() -> Design {
    let mut block = Box::<CmacShim>::default();
    block.connect_all();
    emit(block.as_ref()).unwrap()
}

/// The model of `design` with this change of its text, and with metastability.
pub fn changed(change: impl FnOnce(String) -> String) -> Library {
    let design = design();
    let mut spec = design.model().for_short_run();
    spec.verilog = change(design.metastable_text());
    spec.build().unwrap()
}

static LIBRARY: LazyLock<Library> = LazyLock::new(|| changed(|text| text));

/// An instance whose synchronisers draw from `seed`.
pub fn instance(seed: u64) -> Dut {
    of(&LIBRARY, seed)
}

/// The same of another model.
pub fn of(library: &Library, seed: u64) -> Dut {
    let mut dut = Dut::of(library);
    dut.model().plus_argument(&format!("metastability={seed}"));
    dut
}
