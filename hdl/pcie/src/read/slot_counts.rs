//! A count for each slot.

use hdl_macros::hdl;
use hdl_primitives::LutRam;
use rust_hdl::prelude::*;

/// Counters of 2^`S` slots, modulo 128. Only the counter of the head is read. The path from `head` to `of_head` is combinational, with one LUT level.
#[derive(LogicBlock, Default)]
pub struct SlotCounts<const S: usize> {
    pub clock: Signal<In, Clock>,
    /// One more for `slot`.
    pub add: Signal<In, Bit>,
    pub slot: Signal<In, Bits<S>>,
    /// 0 for `clear_slot`; `add` does nothing then.
    pub clear: Signal<In, Bit>,
    pub clear_slot: Signal<In, Bits<S>>,
    pub head: Signal<In, Bits<S>>,
    pub of_head: Signal<Out, Bits<7>>,
    // The counts are stored twice, because a memory has one read port: one copy is read to add, the other for the head.
    counts: LutRam<Bits<7>, S>,
    counts_of_head: LutRam<Bits<7>, S>,
}

impl<const S: usize> Logic for SlotCounts<S> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, counts, counts_of_head);
        let clear = self.clear.val();
        let writes = clear | self.add.val();
        self.counts.read_address.next = self.slot.val();
        let place = if clear {
            self.clear_slot.val()
        } else {
            self.slot.val()
        };
        let count = if clear {
            bits::<7>(0)
        } else {
            self.counts.read_data.val() + 1
        };
        self.counts.write_enable.next = writes;
        self.counts.write_address.next = place;
        self.counts.write_data.next = count;
        self.counts_of_head.write_enable.next = writes;
        self.counts_of_head.write_address.next = place;
        self.counts_of_head.write_data.next = count;
        self.counts_of_head.read_address.next = self.head.val();
        self.of_head.next = self.counts_of_head.read_data.val();
    }
}
