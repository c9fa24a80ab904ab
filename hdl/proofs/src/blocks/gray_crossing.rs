//! A pointer in gray code between two clocks.

use hdl_crossings::async_fifo::STAGES;
use hdl_crossings::gray_pointer::{binary_of, gray_of};
use hdl_crossings::{CrossingSource, LevelSynchroniser};
use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// Bits of a pointer.
const BITS: usize = 5;
/// Steps that the pointer may be ahead of what was seen of it: the entries of a FIFO.
const MOST: u64 = 1 << (BITS - 1);

/// Properties of a pointer of 5 bits that crosses as those of `AsyncFifo` do.
#[derive(LogicBlock, Default)]
pub struct GrayCrossingProof {
    pub clock: Signal<In, Clock>,
    pub send_clock: Signal<In, Clock>,
    pub send_edge: Signal<In, Bit>,
    pub receive_clock: Signal<In, Clock>,
    pub receive_edge: Signal<In, Bit>,
    /// The pointer steps at this edge, if it may.
    pub steps: Signal<In, Bit>,

    /// The code changes by one bit at a time.
    pub holds_one_bit: Signal<Out, Bit>,
    /// What is seen is a number that the pointer had: never one behind the last one seen, nor one ahead of the pointer.
    pub holds_old_or_new: Signal<Out, Bit>,
    /// The number of a code is the number that was coded.
    pub holds_inverse: Signal<Out, Bit>,
    /// The pointer can be as far ahead as it may be.
    pub reaches_far: Signal<Out, Bit>,
    /// Several steps can be seen at once.
    pub reaches_several: Signal<Out, Bit>,

    pointer: DFF<Bits<BITS>>,
    source: CrossingSource<BITS>,
    synchroniser: LevelSynchroniser<BITS, STAGES>,
    /// The number that was seen in the step before.
    seen_before: DFF<Bits<BITS>>,
}

impl Logic for GrayCrossingProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, send_clock, pointer);
        dff_setup!(self, clock, seen_before);
        self.source.clock.next = self.send_clock.val();
        self.synchroniser.clock.next = self.receive_clock.val();
        let pointer = self.pointer.q.val();
        self.synchroniser.level.next = self.source.q.val();
        let seen = binary_of(self.synchroniser.synchronised.val());
        let seen_before = self.seen_before.q.val();
        let ahead = pointer - seen;
        let next = if self.steps.val() & (ahead != MOST) {
            pointer + 1
        } else {
            pointer
        };
        self.pointer.d.next = next;
        self.source.d.next = gray_of(next);
        self.seen_before.d.next = seen;

        let code = gray_of(pointer);
        let changed = code ^ gray_of(next);
        let moved = seen - seen_before;
        self.holds_one_bit.next = !(changed & (changed - 1)).any();
        self.holds_old_or_new.next = (moved <= (pointer - seen_before)) & (ahead <= MOST);
        self.holds_inverse.next = binary_of(code) == pointer;
        self.reaches_far.next = ahead == MOST;
        self.reaches_several.next = moved > 2;
    }
}
