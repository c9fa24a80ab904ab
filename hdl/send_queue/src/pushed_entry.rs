//! The entry that a doorbell carried last.

use hdl_macros::hdl;
use hdl_primitives::FlowSnk;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::WqeFetched;
use stellar_wire::hw::Qpn;

/// Holds the entry that was pushed last, until the next doorbell of its queue pair. Levels: 3.
#[derive(LogicBlock, Default)]
pub struct PushedEntry {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub pushed: FlowSnk<WqeFetched>,
    /// A request may be accepted in this cycle. What is offered to it is known in the next one, because a request comes late in a cycle.
    pub takes: Signal<In, Bit>,
    pub offers: Signal<Out, Bit>,
    pub offered: Signal<Out, WqeFetched>,
    /// A doorbell of queue pair `qp`, or a restart, which discards what was pushed for it.
    pub ends: Signal<In, Bit>,
    pub qp: Signal<In, Qpn>,

    valid: DFF<Bit>,
    entry: DFF<WqeFetched>,
    offers_held: DFF<Bit>,
    offered_held: DFF<WqeFetched>,
}

impl Logic for PushedEntry {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, entry, offers_held, offered_held);
        let pushes = self.pushed.valid.val();
        let entry = self.entry.q.val();
        if pushes {
            self.entry.d.next = self.pushed.record.val();
        }
        if self.takes.val() {
            self.offered_held.d.next = entry;
            self.offers_held.d.next = self.valid.q.val();
        }
        let is_over = self.ends.val() & (entry.qp == self.qp.val());
        self.valid.d.next = pushes | (self.valid.q.val() & !is_over);
        self.offers.next = self.offers_held.q.val();
        self.offered.next = self.offered_held.q.val();
        if self.reset.val() {
            self.valid.d.next = false;
        }
    }
}
