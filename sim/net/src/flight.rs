//! What a fabric carries at the moment.

use stellar_fetch::fetch_at;

use crate::forwarding::Forwarding;
use crate::parcel::{Class, Classifier, Parcel};
use crate::{DropReason, Time};

/// Place of a packet in the [`PacketStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketId(u32);

impl PacketId {
    /// No packet: the end of a list.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// Its number, below the greatest number of packets so far.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The host port that a packet goes to, as an index into the forwarding tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TargetId(pub u32);

impl TargetId {
    /// Every switch reads it anew: the packet has a container of uSIDs.
    pub(crate) const PER_SWITCH: Self = Self(u32::MAX);
    /// No port has the address.
    pub(crate) const NOWHERE: Self = Self(u32::MAX - 1);
}

/// What every hop of a packet reads: half a cache line, apart from the packet itself.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Flight {
    /// When its last bit arrives at the end of the present channel.
    pub last_bit: Time,
    /// Hash of what makes a flow, for ECMP.
    pub flow: u64,
    /// The packet behind it in its queue, or the next free place.
    next: PacketId,
    /// Length in bytes.
    pub len: u32,
    pub target: TargetId,
    pub class: Class,
    /// Hop limit.
    pub hops: u8,
    /// A switch has read its headers. Not so before the first one, and after a byte changed.
    pub is_read: bool,
}

const _: () = assert!(size_of::<Flight>() == 32);

impl Flight {
    /// A packet that no switch has seen yet.
    pub(crate) fn new(parcel: &impl Parcel) -> Self {
        Self {
            last_bit: 0,
            flow: 0,
            next: PacketId::NONE,
            len: length(parcel),
            target: TargetId::PER_SWITCH,
            class: Class::Data,
            hops: 0,
            is_read: false,
        }
    }

    /// Reads the headers of the packet, which is `parcel`.
    #[inline(always)]
    pub(crate) fn read<P: Parcel>(
        &mut self,
        parcel: &P,
        classifier: &Classifier,
        forwarding: &Forwarding,
    ) -> Result<P::Headers, DropReason> {
        let (headers, label) = parcel.read(classifier)?;
        self.class = label.class;
        self.flow = label.flow;
        self.hops = label.hops;
        self.target = forwarding.target(label.destination);
        self.is_read = true;
        Ok(headers)
    }
}

/// A packet, and its headers as the switches change them.
///
/// It has lines of the cache for itself: a record of 120 bytes would lie in three of them otherwise, and not in two.
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct Body<P: Parcel> {
    pub parcel: P,
    pub headers: Option<P::Headers>,
}

/// First and last packet of a queue that goes through [`Flight::next`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    head: PacketId,
    tail: PacketId,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            head: PacketId::NONE,
            tail: PacketId::NONE,
        }
    }
}

impl Queue {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == PacketId::NONE
    }
}

/// Every packet in the fabric, so that events and queues move four bytes instead of a packet.
pub(crate) struct PacketStore<P: Parcel> {
    flights: Vec<Flight>,
    bodies: Vec<Option<Body<P>>>,
    /// The free place that was in use last.
    free: PacketId,
}

impl<P: Parcel> Default for PacketStore<P> {
    fn default() -> Self {
        Self {
            flights: Vec::new(),
            bodies: Vec::new(),
            free: PacketId::NONE,
        }
    }
}

impl<P: Parcel> PacketStore<P> {
    /// Adds a packet, with its headers if they were read.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        flight: Flight,
        parcel: P,
        headers: Option<P::Headers>,
    ) -> PacketId {
        self.put(flight, Body { parcel, headers })
    }

    /// A second packet like `id`.
    pub(crate) fn duplicate(&mut self, id: PacketId) -> PacketId {
        let (flight, body) = (*self.flight(id), self.body(id).clone());
        self.put(flight, body)
    }

    #[inline]
    fn put(&mut self, flight: Flight, body: Body<P>) -> PacketId {
        let id = self.free;
        if id != PacketId::NONE {
            self.free = self.flights[id.index()].next;
            self.flights[id.index()] = flight;
            self.bodies[id.index()] = Some(body);
            // The place of the next packet: it was left long ago.
            fetch_at(&self.flights, self.free.index());
            fetch_at(&self.bodies, self.free.index());
            return id;
        }
        let place = u32::try_from(self.flights.len()).ok();
        let place = place.filter(|&place| place != u32::MAX);
        self.flights.push(flight);
        self.bodies.push(Some(body));
        PacketId(place.expect("fewer than 2^32 - 1 packets"))
    }

    /// What the hops read of a packet, to be changed.
    #[inline]
    pub(crate) fn flight(&mut self, id: PacketId) -> &mut Flight {
        &mut self.flights[id.index()]
    }

    /// What the hops read of a packet.
    #[inline]
    pub(crate) fn peek(&self, id: PacketId) -> &Flight {
        &self.flights[id.index()]
    }

    /// A packet, if there is one at a place.
    #[inline]
    pub(crate) fn parcel(&self, id: PacketId) -> Option<&P> {
        self.bodies[id.index()].as_ref().map(|body| &body.parcel)
    }

    /// Asks for the memory of a packet, and reads nothing of it.
    #[inline]
    pub(crate) fn fetch_body(&self, id: PacketId) {
        fetch_at(&self.bodies, id.index());
    }

    pub(crate) fn body(&mut self, id: PacketId) -> &mut Body<P> {
        let body = self.bodies[id.index()].as_mut();
        body.expect("an id in use names a packet")
    }

    /// Both parts of a packet.
    pub(crate) fn both(&mut self, id: PacketId) -> (&mut Flight, &mut Body<P>) {
        let body = self.bodies[id.index()].as_mut();
        let body = body.expect("an id in use names a packet");
        (&mut self.flights[id.index()], body)
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) -> P {
        self.flights[id.index()].next = self.free;
        self.free = id;
        let body = self.bodies[id.index()].take();
        body.expect("an id in use names a packet").parcel
    }

    /// Packets in the store.
    pub(crate) fn live(&self) -> u64 {
        self.bodies.iter().flatten().count() as u64
    }

    /// Puts a packet at the end of a queue.
    #[inline]
    pub(crate) fn push_back(&mut self, queue: &mut Queue, id: PacketId) {
        self.flights[id.index()].next = PacketId::NONE;
        if queue.is_empty() {
            queue.head = id;
        } else {
            self.flights[queue.tail.index()].next = id;
        }
        queue.tail = id;
    }

    /// Takes the first packet of a queue, with its length.
    #[inline]
    pub(crate) fn pop_front(&self, queue: &mut Queue) -> Option<(PacketId, u32)> {
        let id = queue.head;
        let flight = self.flights.get(id.index())?;
        queue.head = flight.next;
        Some((id, flight.len))
    }

    /// The first packet of a queue.
    pub(crate) fn first(&self, queue: &Queue) -> Option<&Flight> {
        self.flights.get(queue.head.index())
    }

    /// The last packet of a queue.
    pub(crate) fn last(&self, queue: &Queue) -> Option<&Flight> {
        self.flights.get(queue.tail.index())
    }

    /// Lengths of the packets in a queue.
    pub(crate) fn lengths(&self, queue: &Queue) -> impl Iterator<Item = u32> + '_ {
        let first = self.flights.get(queue.head.index());
        std::iter::successors(first, |flight| self.flights.get(flight.next.index()))
            .map(|flight| flight.len)
    }
}

/// Length of a parcel in bytes.
pub(crate) fn length(parcel: &impl Parcel) -> u32 {
    u32::try_from(parcel.length()).expect("a packet is shorter than 4 GiB")
}
