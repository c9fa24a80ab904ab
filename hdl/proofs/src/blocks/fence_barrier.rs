//! The fence of two lanes.

use hdl_macros::{clock_reset, hdl};
use hdl_nic::FenceBarrier;
use rust_hdl::prelude::*;

/// Fences by which one lane is ahead of the other at most.
const AHEAD: u64 = 3;

/// Properties of [`FenceBarrier`] for lanes of which one is at most 3 fences ahead of the other.
#[derive(LogicBlock, Default)]
pub struct FenceBarrierProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub passed0: Signal<In, Bit>,
    pub passed1: Signal<In, Bit>,

    /// No lane is further ahead.
    pub given_ahead: Signal<Out, Bit>,

    /// A fence is done only after both lanes have passed it.
    pub holds_both_passed: Signal<Out, Bit>,
    /// A fence that both lanes have passed is done in the next cycle, so none is lost.
    pub holds_no_loss: Signal<Out, Bit>,
    /// A lane can be as far ahead as it may.
    pub reaches_ahead: Signal<Out, Bit>,

    barrier: FenceBarrier,
    /// Fences that each lane has passed and that are not done.
    owed0: DFF<Bits<7>>,
    owed1: DFF<Bits<7>>,
}

impl Logic for FenceBarrierProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, owed0, owed1);
        clock_reset!(self, barrier);
        self.barrier.passed0.next = self.passed0.val();
        self.barrier.passed1.next = self.passed1.val();
        let done = self.barrier.done.val();
        let owed0 = self.owed0.q.val();
        let owed1 = self.owed1.q.val();
        let one = bits::<7>(1);
        let more0 = if self.passed0.val() {
            owed0 + one
        } else {
            owed0
        };
        let more1 = if self.passed1.val() {
            owed1 + one
        } else {
            owed1
        };
        self.owed0.d.next = if done { more0 - one } else { more0 };
        self.owed1.d.next = if done { more1 - one } else { more1 };

        // Of inputs and what was, and not of `done`: else a `done` without cause would break the assumption, not the property.
        self.given_ahead.next = (owed0 <= AHEAD) & (owed1 <= AHEAD);
        self.holds_both_passed.next = !done | (owed0.any() & owed1.any());
        self.holds_no_loss.next = done | !(owed0.any() & owed1.any());
        self.reaches_ahead.next = owed0 == AHEAD;
        if self.reset.val() {
            self.owed0.d.next = bits(0);
            self.owed1.d.next = bits(0);
        }
    }
}
