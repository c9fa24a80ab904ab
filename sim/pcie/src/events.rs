//! Events in time order; events of the same time in the order they were scheduled, which makes runs repeatable.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::link::LinkId;
use crate::tlp::FlowClass;
use crate::Picoseconds;

/// Something that happens to one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// The serialiser has sent a TLP and is free.
    LinkFree(LinkId),
    /// A TLP reaches the receiver.
    Arrival(LinkId),
    /// A TLP in the receive buffer may be ready to leave.
    Release(LinkId),
    /// A credit reaches the sender.
    Credit(LinkId, FlowClass),
    /// There is space in the send queue for waiting packets.
    Room(LinkId),
}

#[derive(Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<(Picoseconds, u64, Event)>>,
    scheduled: u64,
}

impl EventQueue {
    pub fn schedule(&mut self, at: Picoseconds, event: Event) {
        self.heap.push(Reverse((at, self.scheduled, event)));
        self.scheduled += 1;
    }

    /// Time of the next event.
    pub fn next_time(&self) -> Option<Picoseconds> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    /// Takes the next event, if it is due by `limit`.
    pub fn pop_due(&mut self, limit: Picoseconds) -> Option<(Picoseconds, Event)> {
        if self.next_time()? > limit {
            return None;
        }
        let Reverse((at, _, event)) = self.heap.pop()?;
        Some((at, event))
    }
}
