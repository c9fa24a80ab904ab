//! One direction of a link: send queue, serialiser, flight, receive buffer and credits.

use std::collections::VecDeque;

use crate::config::LinkConfig;
use crate::counters::{LinkCounters, Refusal};
use crate::tlp::{Completion, FlowClass, Tlp};
use crate::topology::Node;
use crate::Picoseconds;

/// Index of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkId(pub usize);

/// A TLP in flight.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub tlp: Tlp,
    /// Whether the root complex has sent it back down.
    pub hairpin: bool,
}

/// The action of a receiver for a TLP in its buffer.
#[derive(Debug)]
pub(crate) enum Action {
    /// Forward it.
    Forward(LinkId),
    /// Write it to, or read it from, host memory.
    HostMemory,
    /// Write it to, or read it from, the memory of the GPU with this index.
    GpuMemory(usize),
    /// Deliver it to the NIC with this index.
    NicInbox(usize),
    /// Drop it, and answer it if it is a read.
    Refuse(Refusal),
    /// A read being answered: completions still to be sent the other way.
    Respond(VecDeque<Completion>),
}

/// A TLP in a receive buffer.
#[derive(Debug)]
pub(crate) struct Held {
    pub packet: Packet,
    pub class: FlowClass,
    pub ready_at: Picoseconds,
    pub action: Action,
}

/// A TLP that started to be sent.
pub(crate) struct Departure {
    pub link_free_at: Picoseconds,
    pub arrives_at: Picoseconds,
}

pub(crate) struct Link {
    pub config: LinkConfig,
    pub receiver: Node,
    pub reverse: LinkId,
    pub counters: LinkCounters,
    /// TLPs in the receiver's buffer, in order of arrival.
    pub held: VecDeque<Held>,
    /// Links whose receive buffers wait for space in this link's send queue.
    pub waiters: Vec<LinkId>,
    queue: VecDeque<Packet>,
    queued: [usize; 3],
    credits: [usize; 3],
    in_flight: VecDeque<Packet>,
    busy_until: Picoseconds,
}

impl Link {
    pub fn new(config: LinkConfig, receiver: Node, reverse: LinkId) -> Self {
        Self {
            credits: [config.receive_buffer; 3],
            config,
            receiver,
            reverse,
            counters: LinkCounters::default(),
            held: VecDeque::new(),
            waiters: Vec::new(),
            queue: VecDeque::new(),
            queued: [0; 3],
            in_flight: VecDeque::new(),
            busy_until: 0,
        }
    }

    /// Whether the send queue has space for another TLP of `class`.
    pub fn has_room(&self, class: FlowClass) -> bool {
        self.queued[class as usize] < self.config.send_queue
    }

    /// Puts a TLP into the send queue. The caller must have checked [`has_room`](Self::has_room).
    pub fn enqueue(&mut self, packet: Packet) {
        self.queued[packet.tlp.class() as usize] += 1;
        self.queue.push_back(packet);
    }

    /// Starts to send the next TLP, if the link is free and one has credit.
    pub fn start(&mut self, now: Picoseconds) -> Option<Departure> {
        if now < self.busy_until {
            return None;
        }
        let credits = self.credits;
        let next = next_in_order(self.queue.iter().map(|p| p.tlp.class()), |_, class| {
            credits[class as usize] > 0
        })?;
        let packet = self.queue.remove(next)?;
        let class = packet.tlp.class() as usize;
        self.queued[class] -= 1;
        self.credits[class] -= 1;
        let wire_len = packet.tlp.wire_len();
        let occupancy = self.config.occupancy(wire_len);
        self.busy_until = now + occupancy;
        self.counters.tlps += 1;
        self.counters.payload_bytes += packet.tlp.payload_len() as u64;
        self.counters.wire_bytes += wire_len as u64;
        self.counters.busy_ps += occupancy;
        self.in_flight.push_back(packet);
        Some(Departure {
            link_free_at: self.busy_until,
            arrives_at: self.busy_until + self.config.latency_ps,
        })
    }

    /// The TLP that arrives now. Latency is constant, so it is the oldest one in flight.
    pub fn land(&mut self) -> Option<Packet> {
        self.in_flight.pop_front()
    }

    /// Gets back a credit that the receiver returned.
    pub fn credit(&mut self, class: FlowClass) {
        self.credits[class as usize] += 1;
    }
}

/// Index of the oldest TLP that may go next under PCIe's ordering rules (base specification, table 2-40, without
/// relaxed or ID-based ordering): nothing passes a posted write that is older; a posted write passes reads and
/// completions that are stuck; reads and completions pass each other; each class stays in order.
pub(crate) fn next_in_order(
    classes: impl Iterator<Item = FlowClass>,
    mut can_go: impl FnMut(usize, FlowClass) -> bool,
) -> Option<usize> {
    let mut stuck = [false; 3];
    for (index, class) in classes.enumerate() {
        if !stuck[class as usize] && can_go(index, class) {
            return Some(index);
        }
        if class == FlowClass::Posted {
            return None;
        }
        stuck[class as usize] = true;
        // Posted writes further back may still pass, so the scan continues.
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use FlowClass::{Completion, NonPosted, Posted};

    fn next(queue: &[FlowClass], stuck: &[FlowClass]) -> Option<usize> {
        next_in_order(queue.iter().copied(), |_, class| !stuck.contains(&class))
    }

    #[test]
    fn ordering_rules() {
        assert_eq!(next(&[NonPosted, Posted], &[]), Some(0));
        assert_eq!(
            next(&[Posted, NonPosted], &[Posted]),
            None,
            "a read does not pass a write"
        );
        assert_eq!(
            next(&[Posted, Completion], &[Posted]),
            None,
            "nor does a completion"
        );
        assert_eq!(
            next(&[NonPosted, Completion, Posted], &[NonPosted, Completion]),
            Some(2)
        );
        assert_eq!(next(&[NonPosted, Completion], &[NonPosted]), Some(1));
        assert_eq!(next(&[Completion, NonPosted], &[Completion]), Some(1));
    }

    #[test]
    fn a_class_stays_in_order() {
        let queue = [NonPosted, NonPosted];
        let first_stuck = next_in_order(queue.into_iter(), |index, _| index != 0);
        assert_eq!(first_stuck, None);
    }
}
