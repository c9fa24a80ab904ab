//! The FIFO between two clocks.

use hdl_crossings::async_fifo::STAGES;
use hdl_crossings::LutAsyncFifo;
use hdl_macros::{clock, hdl, join};
use hdl_primitives::DataOfferSnk;
use rust_hdl::prelude::*;

use crate::reset_order::ResetOrder;
use crate::EntryTracker;

/// Edges until an entry is offered: those of the synchroniser, and two registers.
const OFFER_EDGES: u64 = STAGES as u64 + 2;
/// Edges until a place is free again: those of the synchroniser, and one register.
const PLACE_EDGES: u64 = STAGES as u64 + 1;

/// Properties of [`LutAsyncFifo`] with 4 entries of a bit.
#[derive(LogicBlock, Default)]
pub struct AsyncFifoProof {
    pub clock: Signal<In, Clock>,
    pub write_clock: Signal<In, Clock>,
    pub write_edge: Signal<In, Bit>,
    pub write_reset: Signal<In, Bit>,
    pub read_clock: Signal<In, Clock>,
    pub read_edge: Signal<In, Bit>,
    pub read_reset: Signal<In, Bit>,
    pub in_: DataOfferSnk<Bits<1>>,
    pub out_ready: Signal<In, Bit>,
    pub pick: Signal<In, Bit>,

    /// The resets come in the order that they need.
    pub given_reset_order: Signal<Out, Bit>,

    /// Every entry leaves once, unchanged and in order.
    pub holds_order: Signal<Out, Bit>,
    /// It never has more entries than places.
    pub holds_no_overflow: Signal<Out, Bit>,
    /// `count` is at least the number of entries inside.
    pub holds_count: Signal<Out, Bit>,
    /// An offer stays until it is accepted or `read_reset` comes.
    pub holds_stays: Signal<Out, Bit>,
    /// If there is an entry, one is offered after the next edge of the write clock and 5 edges of the read clock.
    pub holds_offer: Signal<Out, Bit>,
    /// If there is a place, an entry is accepted after the next edge of the read clock and 4 edges of the write clock.
    pub holds_ready: Signal<Out, Bit>,
    /// It can be full.
    pub reaches_full: Signal<Out, Bit>,
    /// A followed entry can leave that entered when others were inside.
    pub reaches_exit: Signal<Out, Bit>,
    /// An entry can leave after a reset that came while there was another one.
    pub reaches_exit_after_reset: Signal<Out, Bit>,

    fifo: LutAsyncFifo<Bits<1>, 2, 3>,
    tracker: EntryTracker<1, 4>,
    order: ResetOrder,
    /// An edge of the write clock came since nothing is offered although there is an entry; then edges of the read clock.
    sent: DFF<Bit>,
    offer_edges: DFF<Bits<3>>,
    /// The same for a place.
    freed: DFF<Bit>,
    place_edges: DFF<Bits<3>>,
    /// An offer that was not accepted.
    waits: DFF<Bit>,
    head: DFF<Bits<1>>,
    /// A reset came while there was an entry.
    emptied: DFF<Bit>,
}

impl Logic for AsyncFifoProof {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, tracker, order);
        dff_setup!(
            self,
            clock,
            sent,
            offer_edges,
            freed,
            place_edges,
            waits,
            head,
            emptied
        );
        self.fifo.write_clock.next = self.write_clock.val();
        self.fifo.read_clock.next = self.read_clock.val();
        join!(
            self,
            in_ => fifo.in_,
            out_ready => fifo.out.ready,
            write_reset => fifo.write_reset,
            read_reset => fifo.read_reset,
            write_reset => order.write_reset,
            read_reset => order.read_reset,
            write_edge => order.write_edge,
            read_edge => order.read_edge,
        );
        let write_edge = self.write_edge.val();
        let read_edge = self.read_edge.val();
        let loses = self.order.loses.val();
        self.given_reset_order.next = self.order.kept.val();
        let ready = self.fifo.in_.ready.val();
        let head = self.fifo.out.data.val();
        let offered = self.fifo.out.valid.val() & !loses;
        let pops = offered & self.out_ready.val() & read_edge;
        self.tracker.reset.next = loses;
        self.tracker.pick.next = self.pick.val();
        self.tracker.push.next = self.in_.valid.val() & ready & write_edge;
        self.tracker.pushed.next = self.in_.data.val();
        self.tracker.offered.next = offered;
        self.tracker.head.next = head;
        self.tracker.pop.next = pops;
        self.waits.d.next = offered & !pops;
        self.head.d.next = head;

        let held = self.tracker.held.val();
        let waits_for_offer = held.any() & !offered & !loses & !self.read_reset.val();
        self.sent.d.next = waits_for_offer & (self.sent.q.val() | write_edge);
        self.offer_edges.d.next = if !waits_for_offer {
            bits::<3>(0)
        } else if self.sent.q.val() & read_edge {
            self.offer_edges.q.val() + 1
        } else {
            self.offer_edges.q.val()
        };
        let waits_for_place = (held < 4) & !ready & !loses & !self.write_reset.val();
        self.freed.d.next = waits_for_place & (self.freed.q.val() | read_edge);
        self.place_edges.d.next = if !waits_for_place {
            bits::<3>(0)
        } else if self.freed.q.val() & write_edge {
            self.place_edges.q.val() + 1
        } else {
            self.place_edges.q.val()
        };
        self.emptied.d.next = self.emptied.q.val() | (loses & held.any());

        self.holds_order.next = self.tracker.in_order.val();
        self.holds_no_overflow.next = held <= 4;
        self.holds_count.next = loses | (held <= bit_cast::<4, 3>(self.fifo.count.val()));
        self.holds_stays.next =
            !self.waits.q.val() | loses | (offered & (head == self.head.q.val()));
        self.holds_offer.next = !waits_for_offer | (self.offer_edges.q.val() != OFFER_EDGES);
        self.holds_ready.next = !waits_for_place | (self.place_edges.q.val() != PLACE_EDGES);
        self.reaches_full.next = held == 4;
        self.reaches_exit.next = self.tracker.leaves.val() & (held > 1);
        self.reaches_exit_after_reset.next = self.tracker.leaves.val() & self.emptied.q.val();
    }
}
