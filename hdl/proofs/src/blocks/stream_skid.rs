//! The register stage of a stream.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{DataOfferSnk, DataSrc, StreamSkid};
use rust_hdl::prelude::*;

use crate::EntryTracker;

/// Properties of [`StreamSkid`] with items of 8 bits.
#[derive(LogicBlock, Default)]
pub struct StreamSkidProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub in_: DataOfferSnk<Bits<8>>,
    pub out: DataSrc<Bits<8>>,
    pub pick: Signal<In, Bit>,

    /// Every item leaves once, unchanged and in order.
    pub holds_order: Signal<Out, Bit>,
    /// An item is offered exactly when there is one inside: none is lost or made up.
    pub holds_offer: Signal<Out, Bit>,
    /// It stores at most two items, and accepts one exactly when it has a free register.
    pub holds_ready: Signal<Out, Bit>,
    /// Both registers can be full.
    pub reaches_full: Signal<Out, Bit>,
    /// A followed item can leave.
    pub reaches_exit: Signal<Out, Bit>,

    skid: StreamSkid<Bits<8>>,
    tracker: EntryTracker<8, 3>,
}

impl Logic for StreamSkidProof {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, skid, tracker);
        join!(self, in_ => skid.in_, skid.out => out);
        let offered = self.skid.out.valid.val();
        self.tracker.pick.next = self.pick.val();
        self.tracker.push.next = self.in_.valid.val() & self.skid.in_.ready.val();
        self.tracker.pushed.next = self.in_.data.val();
        self.tracker.offered.next = offered;
        self.tracker.head.next = self.skid.out.data.val();
        self.tracker.pop.next = offered & self.out.ready.val();

        let held = self.tracker.held.val();
        self.holds_order.next = self.tracker.in_order.val();
        self.holds_offer.next = offered == held.any();
        self.holds_ready.next = (held <= 2) & (self.skid.in_.ready.val() == (held < 2));
        self.reaches_full.next = held == 2;
        self.reaches_exit.next = self.tracker.leaves.val();
    }
}
