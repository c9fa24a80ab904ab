//! Two clocks without a relation, on a Verilated model.
use hdl_testkit::Dut;
use hdl_verilog::{emit, Design};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use sim_models::DesignModels;
use sim_verilated::Library;

/// Periods in femtoseconds.
pub type Periods = [u64; 2];

const MHZ_250: u64 = 4_000_000;
const MHZ_390: u64 = 2_560_000;
const MHZ_322: u64 = 3_103_030;

/// The clocks of the boards' MACs and of the card in both directions, equal ones, nearly equal ones, and far ones.
pub const RATIOS: [Periods; 9] = [
    [MHZ_390, MHZ_250],
    [MHZ_250, MHZ_390],
    [MHZ_322, MHZ_250],
    [MHZ_250, MHZ_322],
    [MHZ_250, MHZ_250],
    [MHZ_250, MHZ_250 + MHZ_250 / 10_000],
    [MHZ_250, MHZ_250 - MHZ_250 / 10_000],
    [MHZ_250, 7 * MHZ_250],
    [7 * MHZ_250, MHZ_250],
];

/// The times of the edges of two clocks, with a random phase.
pub struct Clocks {
    periods: Periods,
    next: Periods,
}

impl Clocks {
    pub fn new(periods: Periods, rng: &mut ChaCha8Rng) -> Self {
        // Equal phases are a case of their own: both clocks rise at once.
        let phase = if rng.random_ratio(1, 4) {
            0
        } else {
            rng.random_range(0..periods[1])
        };
        Self {
            periods,
            next: [0, phase],
        }
    }

    /// Which clocks rise next.
    pub fn rise(&mut self) -> [bool; 2] {
        let now = self.next[0].min(self.next[1]);
        let rise = self.next.map(|at| at == now);
        for ((next, period), rises) in self.next.iter_mut().zip(self.periods).zip(rise) {
            *next += period * u64::from(rises);
        }
        rise
    }
}

/// The design of a block.
pub fn design<B: Block + Default>() -> Design {
    let mut block = B::default();
    block.connect_all();
    emit(&block).unwrap()
}

/// The model of a block with metastability.
pub fn metastable<B: Block + Default>() -> Library {
    let design = design::<B>();
    let mut spec = design.model().for_short_run();
    spec.verilog = design.metastable_text();
    spec.build().unwrap()
}

/// An instance whose synchronisers draw from `seed`.
pub fn instance(library: &Library, seed: u64) -> Dut {
    let mut dut = Dut::of(library);
    dut.model().plus_argument(&format!("metastability={seed}"));
    dut
}
