//! A reset for a clock, from anywhere.

use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;

/// Makes the synchronous reset of a clock from a reset of any other clock, or of none. `STAGES` is 2 to 8.
///
/// The chain is set asynchronously: a reset is noted even while `clock` stands, as that of a MAC does whose link is down. It empties by edges of
/// `clock`, so `reset` falls `STAGES` + 1 edges after `asynchronous`. `reset` itself is a register without an asynchronous input: it rises and falls
/// at edges of `clock`, and the blocks behind it are timed as usual. It is 1 after configuration.
///
/// `asynchronous` must come from a flip-flop or a pin, because a glitch of logic would reset.
#[derive(LogicBlock)]
pub struct ResetSynchroniser<const STAGES: usize> {
    pub clock: Signal<In, Clock>,
    /// The reset of another clock.
    pub asynchronous: Signal<In, Bit>,
    pub reset: Signal<Out, Bit>,
    _parameters: Checked<Self>,
    /// The chain, oldest last.
    _chain: Vec<bool>,
    _reset: bool,
}

impl<const STAGES: usize> Default for ResetSynchroniser<STAGES> {
    fn default() -> Self {
        Self {
            _parameters: Checked::default(),
            clock: Default::default(),
            asynchronous: Default::default(),
            reset: Default::default(),
            _chain: vec![true; STAGES],
            _reset: true,
        }
    }
}

impl<const STAGES: usize> Parameters for ResetSynchroniser<STAGES> {
    fn check() {
        assert!(
            (2..=8).contains(&STAGES),
            "ResetSynchroniser of {STAGES} stages: one does not settle, use 2 to 8"
        );
    }
}

impl<const STAGES: usize> Logic for ResetSynchroniser<STAGES> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self._reset = self._chain[STAGES - 1];
            self._chain.rotate_right(1);
            self._chain[0] = false;
        }
        if self.asynchronous.val() {
            self._chain.fill(true);
        }
        self.reset.next = self._reset;
    }

    fn connect(&mut self) {
        self.reset.connect();
    }

    fn hdl(&self) -> Verilog {
        let top = STAGES - 1;
        let path = std::any::type_name::<Self>();
        Verilog::Custom(format!(
            "// @module {path}\n\
             \x20 (* ASYNC_REG = \"TRUE\" *) reg [{top}:0] chain_crossing = {{{STAGES}{{1'b1}}}};\n\
             \x20 initial reset = 1'b1;\n\
             \x20 always @(posedge clock or posedge asynchronous)\n\
             \x20   if (asynchronous) chain_crossing <= {{{STAGES}{{1'b1}}}};\n\
             \x20   else chain_crossing <= {{chain_crossing[{below}:0], 1'b0}};\n\
             \x20 always @(posedge clock) reset <= chain_crossing[{top}];\n",
            below = STAGES - 2,
        ))
    }
}
