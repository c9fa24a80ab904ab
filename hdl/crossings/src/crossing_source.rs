//! The last register before another clock.

use hdl_primitives::sim::{text, Gated};
use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;

use crate::sim;

/// A register of `N` bits whose output goes to a [`LevelSynchroniser`](crate::LevelSynchroniser) on another clock. It starts as 0.
///
/// Vivado keeps it as it is (`DONT_TOUCH`). Otherwise a bit that equals another register could be merged with it: the top bit of a gray-coded pointer
/// equals that of the pointer. The constraint of the crossing would then miss that bit.
#[derive(LogicBlock, Default)]
pub struct CrossingSource<const N: usize> {
    _parameters: Checked<Self>,
    /// The clock that sends.
    pub clock: Signal<In, Clock>,
    pub d: Signal<In, Bits<N>>,
    pub q: Signal<Out, Bits<N>>,
    _q: Bits<N>,
}

impl<const N: usize> Parameters for CrossingSource<N> {
    fn check() {
        assert!(N > 0, "CrossingSource of no bits: use 1 or more");
    }
}

impl<const N: usize> Logic for CrossingSource<N> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self._q = self.d.val();
        }
        self.q.next = self._q;
    }

    fn connect(&mut self) {
        self.q.connect();
    }

    fn hdl(&self) -> Verilog {
        let hardware = format!(
            "  (* DONT_TOUCH = \"TRUE\" *) reg [{}:0] source_crossing = {N}'d0;\n\
             \x20 always @(posedge clock) source_crossing <= d;\n\
             \x20 assign q = source_crossing;\n",
            N - 1
        );
        Verilog::Wrapper(Wrapper {
            code: text::<Self>(&hardware, Gated::Beside(sim::register_moves()))
                + "// @proof\n"
                + &sim::proof::late_register(N),
            cores: String::new(),
        })
    }
}
