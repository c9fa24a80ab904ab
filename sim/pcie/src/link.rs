//! One direction of a link: send queue, serialiser, flight, receive buffer and credits.

use std::collections::VecDeque;

use crate::ats::TranslationEntry;
use crate::carried::Carried;
use crate::class_queues::ClassQueues;
use crate::config::{FaultKind, LinkConfig};
use crate::counters::{LinkCounters, Refusal};
use crate::credits::{Cost, Credits};
use crate::delay::Delay;
use crate::responder::Responder;
use crate::tlp::{FlowClass, Tlp};
use crate::topology::Node;
use crate::Picoseconds;
use stellar_wire::pcie::AddressType;

/// Index of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkId(pub usize);

/// A TLP on its way. It moves between queues at every hop, so those hold it in a box.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub tlp: Carried,
    /// Address and AT that the requester wrote; `None` for a completion or message.
    pub asked: Option<(u64, AddressType)>,
    /// Whether the root complex has sent it back down.
    pub hairpin: bool,
    /// What an injected fault does to it.
    pub fault: Option<FaultKind>,
}

impl Packet {
    pub fn new(tlp: impl Into<Carried>) -> Box<Self> {
        let tlp = tlp.into();
        Box::new(Self {
            asked: tlp.memory().and_then(Tlp::memory_target),
            tlp,
            hairpin: false,
            fault: None,
        })
    }

    /// Whether the requester sent it with AT = 10.
    pub fn is_translated(&self) -> bool {
        matches!(self.asked, Some((_, AddressType::Translated)))
    }
}

/// The action of a receiver for a TLP in its buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// Forward it.
    Forward(LinkId),
    /// Write it to, or read it from, host memory.
    HostMemory,
    /// Write it to, or read it from, the memory of the GPU with this index.
    GpuMemory(usize),
    /// Deliver it to the NIC with this index.
    NicInbox(usize),
    /// Answer a translation request with this entry.
    Translation(TranslationEntry),
    /// Tell software that an invalidation is complete.
    InvalidationDone,
    /// Drop it, and answer it if it is a read.
    Refuse(Refusal),
}

/// A TLP in a receive buffer.
#[derive(Debug)]
pub(crate) struct Held {
    pub packet: Box<Packet>,
    pub cost: Cost,
    pub ready_at: Picoseconds,
    pub action: Action,
}

/// A TLP between sender and receiver.
#[derive(Debug)]
struct Flying {
    arrives_at: Picoseconds,
    packet: Box<Packet>,
    cost: Cost,
}

pub(crate) struct Link {
    pub config: LinkConfig,
    pub receiver: Node,
    pub reverse: LinkId,
    pub counters: LinkCounters,
    /// Whether TLPs pass at all.
    pub is_up: bool,
    /// TLPs in the receiver's buffer.
    pub held: ClassQueues<Held>,
    /// Requests that the receiver is about to answer.
    pub responder: Responder,
    /// Links whose receivers wait for space in this link's send queue.
    pub waiters: Vec<LinkId>,
    /// Whether the send queue has got space since the waiters looked.
    pub has_freed: bool,
    queue: ClassQueues<Box<Packet>>,
    credits: Credits,
    in_flight: VecDeque<Flying>,
    busy_until: Picoseconds,
    last_arrival: Picoseconds,
    posted_delay: Delay,
}

impl Link {
    pub fn new(
        config: LinkConfig,
        receiver: Node,
        reverse: LinkId,
        posted_delay: Delay,
        responder: Responder,
    ) -> Self {
        Self {
            credits: Credits::new(&config.credits),
            config,
            receiver,
            reverse,
            counters: LinkCounters::default(),
            is_up: true,
            held: ClassQueues::new(),
            responder,
            waiters: Vec::new(),
            has_freed: false,
            queue: ClassQueues::new(),
            in_flight: VecDeque::new(),
            busy_until: 0,
            last_arrival: 0,
            posted_delay,
        }
    }

    /// Whether the send queue has space for another TLP of `class`. A link that is down takes everything, to drop it.
    pub fn has_room(&self, class: FlowClass) -> bool {
        !self.is_up || self.queue.len(class) < self.config.send_queue
    }

    /// Puts a TLP into the send queue. The caller must have checked [`has_room`](Self::has_room).
    pub fn enqueue(&mut self, packet: Box<Packet>) {
        self.queue.push(packet.tlp.class(), packet);
    }

    /// Starts to send the next TLP, if the link is free and one has credit.
    pub fn start(&mut self, now: Picoseconds) -> bool {
        if now < self.busy_until || self.queue.is_empty() {
            return false;
        }
        self.credits.collect(now);
        let credits = &self.credits;
        let class = self
            .queue
            .find(|_, packet| credits.cover(credits.cost(&packet.tlp)));
        let Some(class) = class else {
            return false;
        };
        let Some(packet) = self.queue.pop(class) else {
            return false;
        };
        let cost = self.credits.cost(&packet.tlp);
        self.credits.take(cost);
        let wire_len = packet.tlp.wire_len();
        let occupancy = self.config.occupancy(wire_len);
        self.busy_until = now + occupancy;
        self.counters.tlps += 1;
        self.counters.payload_bytes += packet.tlp.payload_len() as u64;
        self.counters.wire_bytes += wire_len as u64;
        self.counters.busy_ps += occupancy;
        let delay = if cost.class == FlowClass::Posted {
            self.posted_delay.draw()
        } else {
            0
        };
        // The data link layer delivers in order, so what is behind a delayed write waits for it.
        let arrives_at = (self.busy_until + self.config.latency_ps + delay).max(self.last_arrival);
        self.last_arrival = arrives_at;
        self.in_flight.push_back(Flying {
            arrives_at,
            packet,
            cost,
        });
        self.has_freed = true;
        true
    }

    /// The next TLP that has arrived by `now`.
    pub fn land(&mut self, now: Picoseconds) -> Option<(Box<Packet>, Cost)> {
        let next = self.in_flight.front()?;
        if next.arrives_at > now {
            return None;
        }
        let Flying { packet, cost, .. } = self.in_flight.pop_front()?;
        Some((packet, cost))
    }

    /// The receiver has emptied the buffer of a TLP.
    pub fn give_back(&mut self, now: Picoseconds, cost: Cost) {
        self.credits.give_back(now + self.config.latency_ps, cost);
    }

    /// Removes the TLPs that wait for the link.
    pub fn drop_queued(&mut self) -> Vec<Packet> {
        self.has_freed = true;
        self.queue.drain().map(|packet| *packet).collect()
    }

    /// Removes the TLPs that have not arrived.
    pub fn drop_flying(&mut self) -> Vec<Packet> {
        let Self {
            in_flight, credits, ..
        } = self;
        let lost = in_flight.drain(..).map(|flying| {
            credits.put(flying.cost);
            *flying.packet
        });
        lost.collect()
    }

    /// Time at which something happens to this link, as far as it is known.
    pub fn next_time(&self, now: Picoseconds) -> Picoseconds {
        if self.has_freed && !self.waiters.is_empty() {
            return now;
        }
        let flight = self.in_flight.front();
        let mut next = flight.map_or(Picoseconds::MAX, |flying| flying.arrives_at);
        if !self.queue.is_empty() {
            next = next.min(if self.busy_until > now {
                self.busy_until
            } else {
                self.credits.next_arrival().max(now)
            });
        }
        next = next.min(self.responder.next_time(now));
        self.held.find(|_, held| {
            if held.ready_at > now {
                next = next.min(held.ready_at);
            }
            false
        });
        next
    }
}
