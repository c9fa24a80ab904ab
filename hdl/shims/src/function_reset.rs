//! The card's reset, from those of AMD's PCIe block.

use hdl_macros::hdl;
use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    /// The card's reset is high.
    Hold,
    /// The card clears its memories.
    Clear,
    /// The card works.
    Run,
    /// A function-level reset is over for the card, and not yet for the PCIe block.
    Over,
}

/// Resets the card with the PCIe block (`user_reset`: fundamental reset, hot reset, link down), and for a function-level reset (PG213, `cfg_flr_in_process`). The
/// reset lasts for `HOLD` cycles. `CLEAR` cycles later the card has cleared its memories, and `flr_done` is high for one cycle: the function may be
/// used again. `COUNT` is the width of a counter for both.
///
/// LUT levels: 2.
#[derive(LogicBlock, Default)]
pub struct FunctionReset<const HOLD: usize, const CLEAR: usize, const COUNT: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub user_reset: Signal<In, Bit>,
    /// A function-level reset is under way. It stays until `flr_done`.
    pub flr_in_process: Signal<In, Bit>,
    pub flr_done: Signal<Out, Bit>,
    /// To the card, a register.
    pub reset: Signal<Out, Bit>,

    step: DFF<Step>,
    cycles: DFF<Bits<COUNT>>,
    /// The present reset is a function-level reset.
    is_flr: DFF<Bit>,
    resets: DFF<Bit>,
    done: DFF<Bit>,
}

impl<const HOLD: usize, const CLEAR: usize, const COUNT: usize> Parameters
    for FunctionReset<HOLD, CLEAR, COUNT>
{
    fn check() {
        assert!(
            HOLD > 1 && CLEAR > 1 && HOLD.max(CLEAR) < 1 << COUNT,
            "FunctionReset of {HOLD} and {CLEAR} cycles with a counter of {COUNT} bits: use 2 cycles or more, and a counter that holds both"
        );
    }
}

impl<const HOLD: usize, const CLEAR: usize, const COUNT: usize> Logic
    for FunctionReset<HOLD, CLEAR, COUNT>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, cycles, is_flr, resets, done);
        let begins = self.flr_in_process.val();
        let next = self.cycles.q.val() + 1;
        self.done.d.next = false;
        match self.step.q.val() {
            Step::Hold => {
                self.cycles.d.next = next;
                if next == (HOLD as u64) {
                    self.cycles.d.next = bits(0);
                    self.step.d.next = Step::Clear;
                }
            }
            Step::Clear => {
                self.cycles.d.next = next;
                if next == (CLEAR as u64) {
                    self.cycles.d.next = bits(0);
                    if self.is_flr.q.val() {
                        self.done.d.next = true;
                        self.step.d.next = Step::Over;
                    } else {
                        self.step.d.next = Step::Run;
                    }
                }
            }
            Step::Run => {
                if begins {
                    self.is_flr.d.next = true;
                    self.step.d.next = Step::Hold;
                }
            }
            Step::Over => {
                if !begins {
                    self.step.d.next = Step::Run;
                }
            }
        }
        if self.user_reset.val() {
            self.is_flr.d.next = false;
            self.cycles.d.next = bits(0);
            self.step.d.next = Step::Hold;
        }
        self.resets.d.next = (self.step.q.val() == Step::Hold) | self.user_reset.val();
        self.reset.next = self.resets.q.val();
        self.flr_done.next = self.done.q.val();
    }
}
