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
}

/// Resets the card with the PCIe block (`user_reset`: fundamental reset, hot reset, link down), and for a function-level reset of any of its `F` functions (PG213,
/// `cfg_flr_in_process`). The reset lasts for `HOLD` cycles. `CLEAR` cycles later the card has cleared its memories, and `flr_done` of the function is high for one cycle: it may
/// be used again. Functions whose resets begin while the reset is high are done with it; one that begins later has a reset of its own. `COUNT` is the width of a counter for both.
///
/// LUT levels: 2.
#[derive(LogicBlock, Default)]
pub struct FunctionReset<const HOLD: usize, const CLEAR: usize, const COUNT: usize, const F: usize>
{
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub user_reset: Signal<In, Bit>,
    /// A function-level reset is under way. It stays until `flr_done`.
    pub flr_in_process: Signal<In, Bits<F>>,
    pub flr_done: Signal<Out, Bits<F>>,
    /// To the card, a register.
    pub reset: Signal<Out, Bit>,

    step: DFF<Step>,
    cycles: DFF<Bits<COUNT>>,
    /// Functions whose reset is the present one.
    resetting: DFF<Bits<F>>,
    /// Functions whose reset is over for the card, and not yet for the PCIe block.
    over: DFF<Bits<F>>,
    resets: DFF<Bit>,
    done: DFF<Bits<F>>,
}

impl<const HOLD: usize, const CLEAR: usize, const COUNT: usize, const F: usize> Parameters
    for FunctionReset<HOLD, CLEAR, COUNT, F>
{
    fn check() {
        assert!(
            HOLD > 1 && CLEAR > 1 && HOLD.max(CLEAR) < 1 << COUNT,
            "FunctionReset of {HOLD} and {CLEAR} cycles with a counter of {COUNT} bits: use 2 cycles or more, and a counter that holds both"
        );
    }
}

impl<const HOLD: usize, const CLEAR: usize, const COUNT: usize, const F: usize> Logic
    for FunctionReset<HOLD, CLEAR, COUNT, F>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, cycles, resetting, over, resets, done);
        let flr = self.flr_in_process.val();
        let begins = flr & !self.over.q.val();
        let next = self.cycles.q.val() + 1;
        self.done.d.next = bits(0);
        self.over.d.next = self.over.q.val() & flr;
        match self.step.q.val() {
            Step::Hold => {
                self.resetting.d.next = self.resetting.q.val() | begins;
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
                    self.done.d.next = self.resetting.q.val();
                    self.over.d.next = (self.over.q.val() | self.resetting.q.val()) & flr;
                    self.resetting.d.next = bits(0);
                    self.step.d.next = Step::Run;
                }
            }
            Step::Run => {
                if begins.any() {
                    self.resetting.d.next = begins;
                    self.step.d.next = Step::Hold;
                }
            }
        }
        if self.user_reset.val() {
            self.resetting.d.next = bits(0);
            self.over.d.next = bits(0);
            self.cycles.d.next = bits(0);
            self.step.d.next = Step::Hold;
        }
        self.resets.d.next = (self.step.q.val() == Step::Hold) | self.user_reset.val();
        self.reset.next = self.resets.q.val();
        self.flr_done.next = self.done.q.val();
    }
}
