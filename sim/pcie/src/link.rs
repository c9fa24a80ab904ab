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
use crate::tlp_check::{self, Malformed};
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
pub(crate) struct Flying {
    pub arrives_at: Picoseconds,
    pub packet: Box<Packet>,
    pub cost: Cost,
    /// What the receiver finds wrong with it.
    pub malformed: Option<Malformed>,
}

pub(crate) struct Link {
    pub config: LinkConfig,
    pub receiver: Node,
    /// For this long after a TLP has arrived nothing follows from it, unless it is malformed: a switch decides by what the TLP says alone.
    quiet_ps: Picoseconds,
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
    /// Malformed TLPs among them.
    malformed: usize,
    busy_until: Picoseconds,
    last_arrival: Picoseconds,
    posted_delay: Delay,
}

impl Link {
    pub fn new(
        config: LinkConfig,
        receiver: Node,
        quiet_ps: Picoseconds,
        reverse: LinkId,
        posted_delay: Delay,
        responder: Responder,
    ) -> Self {
        Self {
            credits: Credits::new(&config.credits),
            config,
            receiver,
            quiet_ps,
            reverse,
            counters: LinkCounters::default(),
            is_up: true,
            held: ClassQueues::new(),
            responder,
            waiters: Vec::new(),
            has_freed: false,
            queue: ClassQueues::new(),
            in_flight: VecDeque::new(),
            malformed: 0,
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

    /// Starts to send, as far as the link is free and a TLP has credit.
    #[inline]
    pub fn transmit(&mut self, now: Picoseconds) {
        while now >= self.busy_until && !self.queue.is_empty() {
            if !self.start(now) {
                break;
            }
        }
    }

    /// Starts to send the next TLP on the free link, if one has credit.
    fn start(&mut self, now: Picoseconds) -> bool {
        self.credits.collect(now);
        let credits = &self.credits;
        let mut cost = None;
        let class = self.queue.find(|class, packet| {
            let of_this = credits.cost(class, packet.tlp.payload_len());
            cost = Some(of_this);
            credits.cover(of_this)
        });
        let packet = class.and_then(|class| self.queue.pop(class));
        let (Some(packet), Some(cost)) = (packet, cost) else {
            return false;
        };
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
        let memory = packet.tlp.memory();
        let checked = memory.map(|tlp| tlp_check::check(tlp, self.config.max_payload));
        let malformed = checked.and_then(Result::err);
        self.malformed += usize::from(malformed.is_some());
        self.in_flight.push_back(Flying {
            arrives_at,
            packet,
            cost,
            malformed,
        });
        self.has_freed = true;
        true
    }

    /// Whether TLPs may land later than they arrive.
    pub const fn lands_late(&self) -> bool {
        self.quiet_ps > 0
    }

    /// The next TLP that has arrived by `now`.
    #[inline]
    pub fn land(&mut self, now: Picoseconds) -> Option<Flying> {
        if self.in_flight.front()?.arrives_at > now {
            return None;
        }
        let landed = self.in_flight.pop_front()?;
        self.malformed -= usize::from(landed.malformed.is_some());
        Some(landed)
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

    /// Removes the TLPs that have not arrived. Those that have must have landed.
    pub fn drop_flying(&mut self) -> Vec<Packet> {
        let Self {
            in_flight,
            malformed,
            credits,
            ..
        } = self;
        *malformed = 0;
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
        let mut next = Picoseconds::MAX;
        if let Some(flying) = self.in_flight.front() {
            // What lies in front of a malformed TLP lands in time, so that this one does.
            let quiet = if self.malformed == 0 {
                self.quiet_ps
            } else {
                0
            };
            next = (flying.arrives_at + quiet).max(now);
        }
        if !self.queue.is_empty() {
            next = next.min(if self.busy_until > now {
                self.busy_until
            } else {
                self.credits.next_arrival().max(now)
            });
        }
        if !self.responder.is_idle() {
            next = next.min(self.responder.next_time(now));
        }
        self.held.find(|_, held| {
            if held.ready_at > now {
                next = next.min(held.ready_at);
            }
            false
        });
        next
    }
}
