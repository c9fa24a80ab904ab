//! A fence of two lanes is done when both lanes have passed it.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// Number of fences by which one lane may be ahead of the other: those in its place FIFO (64) and its DMA write engine (fewer than 64).
const AHEAD_BITS: usize = 7;

/// Pairs the reports of two DMA write engines; both report the same fences in the same order. LUT levels: 3 (7-bit counters).
#[derive(LogicBlock, Default)]
pub struct FenceBarrier {
    pub clock: Signal<In, Clock>,
    /// Discards fences in progress.
    pub reset: Signal<In, Bit>,
    /// A lane passed its next fence.
    pub passed0: Signal<In, Bit>,
    pub passed1: Signal<In, Bit>,
    /// One cycle per fence: both lanes passed it.
    pub done: Signal<Out, Bit>,

    /// Fences that only lane 0, or only lane 1, has passed. At least one of the two numbers is zero.
    ahead0: DFF<Bits<AHEAD_BITS>>,
    ahead1: DFF<Bits<AHEAD_BITS>>,
    complete: DFF<Bit>,
}

impl Logic for FenceBarrier {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, ahead0, ahead1, complete);
        let passed0 = self.passed0.val();
        let passed1 = self.passed1.val();
        let ahead0 = self.ahead0.q.val();
        let ahead1 = self.ahead1.q.val();
        self.complete.d.next =
            (passed0 & passed1) | (passed0 & ahead1.any()) | (passed1 & ahead0.any());
        if passed0 & !passed1 {
            if ahead1.any() {
                self.ahead1.d.next = ahead1 - 1;
            } else {
                self.ahead0.d.next = ahead0 + 1;
            }
        } else if passed1 & !passed0 {
            if ahead0.any() {
                self.ahead0.d.next = ahead0 - 1;
            } else {
                self.ahead1.d.next = ahead1 + 1;
            }
        }
        self.done.next = self.complete.q.val();
        if self.reset.val() {
            self.ahead0.d.next = bits(0);
            self.ahead1.d.next = bits(0);
            self.complete.d.next = false;
        }
    }
}
