//! The Verilated shim, and the times of its clocks.
use std::sync::LazyLock;

use hdl_shims::CmacShim;
use hdl_testkit::{tools, Dut};
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

/// The model of a block whose Verilog other tools accept, with metastability.
pub fn checked<T: Block + Default>() -> Library {
    let mut block = Box::<T>::default();
    block.connect_all();
    let design = emit(block.as_ref()).unwrap();
    tools::check(&design).unwrap_or_else(|error| panic!("{error}"));
    model(&design, |text| text)
}

/// The model of the shim with this change of its text, and with metastability.
pub fn changed(change: impl FnOnce(String) -> String) -> Library {
    model(&design(), change)
}

fn model(design: &Design, change: impl FnOnce(String) -> String) -> Library {
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

/// An edge of those of two clocks that rise now, and their falling edge.
pub fn tick(dut: &mut Dut, clocks: [&str; 2], rise: [bool; 2]) {
    for level in [1, 0] {
        for (clock, _) in clocks.iter().zip(rise).filter(|(_, rises)| *rises) {
            dut.set(clock, level);
        }
        dut.eval();
    }
}
