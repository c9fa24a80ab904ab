//! Levels from another clock.

use hdl_primitives::sim::{text, Gated};
use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;

use crate::sim;

/// Takes `N` levels into `clock` through a chain of `STAGES` flip-flops each (2 to 8). More stages leave more time for a metastable flip-flop to settle.
///
/// - Each bit of `level` must come from a flip-flop, such as a [`CrossingSource`](crate::CrossingSource). The output of logic may glitch, and a glitch may be
///   sampled.
/// - The bits are independent. Bits that change together arrive in different cycles. A number needs gray code
///   ([`gray_pointer`](crate::gray_pointer)) or an [`AsyncFifo`](crate::AsyncFifo).
/// - A level that lasts shorter than a period of `clock` may be lost. A pulse needs a [`PulseHandshake`](crate::PulseHandshake).
///
/// The flip-flops have `ASYNC_REG`: Vivado places each chain in one slice, and does not optimise it. There is no reset; they start as 0.
#[derive(LogicBlock)]
pub struct LevelSynchroniser<const N: usize, const STAGES: usize> {
    /// The clock that receives.
    pub clock: Signal<In, Clock>,
    pub level: Signal<In, Bits<N>>,
    /// `level` of `STAGES` edges ago.
    pub synchronised: Signal<Out, Bits<N>>,
    _parameters: Checked<Self>,
    _stages: Vec<Bits<N>>,
}

impl<const N: usize, const STAGES: usize> Default for LevelSynchroniser<N, STAGES> {
    fn default() -> Self {
        Self {
            _parameters: Checked::default(),
            clock: Default::default(),
            level: Default::default(),
            synchronised: Default::default(),
            _stages: vec![Bits::default(); STAGES],
        }
    }
}

impl<const N: usize, const STAGES: usize> Parameters for LevelSynchroniser<N, STAGES> {
    fn check() {
        assert!(
            (1..=64).contains(&N),
            "LevelSynchroniser of {N} levels: use 1 to 64, or several"
        );
        assert!(
            (2..=8).contains(&STAGES),
            "LevelSynchroniser of {STAGES} stages: one does not settle, use 2 to 8"
        );
    }
}

impl<const N: usize, const STAGES: usize> Logic for LevelSynchroniser<N, STAGES> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self._stages.rotate_right(1);
            self._stages[0] = self.level.val();
        }
        self.synchronised.next = self._stages[STAGES - 1];
    }

    fn connect(&mut self) {
        self.synchronised.connect();
    }

    fn hdl(&self) -> Verilog {
        let registers: Vec<String> = (1..=STAGES)
            .map(|stage| match stage {
                1 => "first_crossing".to_owned(),
                _ => format!("stage_{stage}"),
            })
            .collect();
        let mut hardware = String::new();
        for register in &registers {
            hardware += &format!(
                "  (* ASYNC_REG = \"TRUE\" *) reg [{}:0] {register} = {N}'d0;\n",
                N - 1
            );
        }
        hardware += "  always @(posedge clock) begin\n";
        let mut before = "level";
        for register in &registers {
            hardware += &format!("    {register} <= {before};\n");
            before = register;
        }
        hardware += &format!("  end\n  assign synchronised = {before};\n");
        let gated = Gated::Beside(sim::synchroniser_moves(&registers));
        let metastable = sim::metastable_synchroniser(N, STAGES);
        Verilog::Wrapper(Wrapper {
            code: text::<Self>(&hardware, gated) + "// @metastable\n" + &metastable,
            cores: String::new(),
        })
    }
}
