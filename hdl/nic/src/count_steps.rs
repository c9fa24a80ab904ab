//! Events from a count.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// Makes an event of each step of a count that a neighbour of the card keeps, modulo 2^32, and that no reset of the card changes. Steps that happen during
/// a reset are not counted.
///
/// The count may rise by more than one per cycle for a while, because it comes from a faster clock; the events follow one per cycle. LUT levels: 4 (32-bit
/// comparison and sum).
#[derive(LogicBlock, Default)]
pub struct CountSteps {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub count: Signal<In, Bits<32>>,
    /// One cycle per step.
    pub step: Signal<Out, Bit>,

    /// Steps that have been made events.
    seen: DFF<Bits<32>>,
    steps: DFF<Bit>,
}

impl Logic for CountSteps {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, seen, steps);
        let seen = self.seen.q.val();
        let behind = self.count.val() != seen;
        self.steps.d.next = behind;
        if behind {
            self.seen.d.next = seen + 1;
        }
        self.step.next = self.steps.q.val();
        if self.reset.val() {
            self.seen.d.next = self.count.val();
            self.steps.d.next = false;
        }
    }
}
