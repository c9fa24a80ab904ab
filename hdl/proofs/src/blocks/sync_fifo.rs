//! The FIFO in LUT RAM.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{DataOfferSnk, DataSrc, SyncFifo};
use rust_hdl::prelude::*;

use crate::EntryTracker;

/// Properties of [`SyncFifo`] with 4 entries of 3 bits.
#[derive(LogicBlock, Default)]
pub struct SyncFifoProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub in_: DataOfferSnk<Bits<3>>,
    pub out: DataSrc<Bits<3>>,
    pub pick: Signal<In, Bit>,

    /// Every entry leaves once, unchanged and in order.
    pub holds_order: Signal<Out, Bit>,
    /// `count` is the number of entries inside.
    pub holds_count: Signal<Out, Bit>,
    /// It never has more entries than places.
    pub holds_no_overflow: Signal<Out, Bit>,
    /// It accepts an entry exactly when it has a free place.
    pub holds_ready: Signal<Out, Bit>,
    /// An entry is offered in the cycle after it entered, if it is the first.
    pub holds_offer: Signal<Out, Bit>,
    /// It can be full.
    pub reaches_full: Signal<Out, Bit>,
    /// A followed entry can leave.
    pub reaches_exit: Signal<Out, Bit>,

    fifo: SyncFifo<Bits<3>, 2, 3>,
    tracker: EntryTracker<3, 4>,
}

impl Logic for SyncFifoProof {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, fifo, tracker);
        join!(self, in_ => fifo.in_, fifo.out => out);
        let offered = self.fifo.out.valid.val();
        self.tracker.pick.next = self.pick.val();
        self.tracker.push.next = self.in_.valid.val() & self.fifo.in_.ready.val();
        self.tracker.pushed.next = self.in_.data.val();
        self.tracker.offered.next = offered;
        self.tracker.head.next = self.fifo.out.data.val();
        self.tracker.pop.next = offered & self.out.ready.val();

        let held = self.tracker.held.val();
        self.holds_order.next = self.tracker.in_order.val();
        self.holds_count.next = held == bit_cast::<4, 3>(self.fifo.count.val());
        self.holds_no_overflow.next = held <= 4;
        self.holds_ready.next = self.fifo.in_.ready.val() == (held < 4);
        self.holds_offer.next = offered == held.any();
        self.reaches_full.next = held == 4;
        self.reaches_exit.next = self.tracker.leaves.val();
    }
}
