//! The public functions of the fabric.

use std::collections::HashMap;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use stellar_wire::MacAddr;

use crate::ahead::LARGE;
use crate::balance::{Choose, Effects};
use crate::calendar::Calendar;
use crate::channel::{Channel, Settings};
use crate::error::FabricError;
use crate::event::Event;
use crate::flight::{Flight, PacketId, PacketStore};
use crate::forwarding::Forwarding;
use crate::observe::{Hooks, Sampler};
use crate::occurrence::{Delivery, Occurrence};
use crate::parcel::{Class, Classifier, Parcel};
use crate::pfc::Pfc;
use crate::stats::{Drops, Ledger};
use crate::{ChannelId, Frame, HostId, LinkId, Time, Topology};

/// A running fabric. Its state is a function of the topology, the seed and the calls made. It carries frames, or records of them ([`Parcel`]).
pub struct Fabric<P: Parcel = Frame> {
    topology: Arc<Topology>,
    pub(crate) seed: u64,
    pub(crate) now: Time,
    pub(crate) events: Calendar<Event>,
    pub(crate) packets: PacketStore<P>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) settings: Vec<Settings>,
    /// Depths and counts of each channel, without what [`Channel`] counts.
    pub(crate) ledgers: Vec<Ledger>,
    pub(crate) hooks: HashMap<ChannelId, Hooks<P>>,
    /// Random streams of the channels that have drawn something.
    pub(crate) dice: Vec<Option<Box<ChaCha8Rng>>>,
    /// When the channels went down that ever did.
    pub(crate) failures: HashMap<ChannelId, Vec<Time>>,
    pub(crate) forwarding: Forwarding,
    pub(crate) classifier: Classifier,
    pub(crate) ecn_at_last_hop: bool,
    pub(crate) reroute_delay: Option<Time>,
    /// The latest time at which routing is scheduled to converge.
    pub(crate) reroute_at: Option<Time>,
    /// MAC address of the node behind a channel.
    pub(crate) next_macs: Vec<MacAddr>,
    pub(crate) switch_macs: Vec<MacAddr>,
    pub(crate) switch_drops: Vec<Drops>,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) delivered: u64,
    pub(crate) sent: u64,
    /// How switches choose among equal paths; `None`: by ECMP.
    pub(crate) balancer: Option<Box<dyn Choose>>,
    /// What the balancer has asked for.
    pub(crate) effects: Effects,
    /// Channels that the switch which has to choose may use.
    pub(crate) up: Vec<ChannelId>,
    /// Flow control, if any link has it.
    pub(crate) pfc: Option<Pfc>,
    /// It is larger than the processor's caches, with what its hosts need.
    pub(crate) is_large: bool,
    /// It has looked ahead and nobody knows yet.
    pub(crate) has_looked: bool,
    /// Channels onto which the next packets go.
    pub(crate) ahead: Vec<ChannelId>,
}

impl Fabric {
    /// An idle fabric of frames at time 0, with the link changes of the topology scheduled. `seed` decides every random choice, ECMP's hashes included.
    pub fn new(topology: impl Into<Arc<Topology>>, seed: u64) -> Self {
        Self::carrying(topology, seed)
    }
}

impl<P: Parcel> Fabric<P> {
    /// As [`Fabric::new`], for frames or for records of frames.
    pub fn carrying(topology: impl Into<Arc<Topology>>, seed: u64) -> Self {
        let topology = topology.into();
        let mut events = Calendar::default();
        for change in topology.changes() {
            let (link, up) = (change.link, change.up);
            events.push(change.time, Event::Link { link, up });
        }
        let behind = |id| topology.ends(id).1;
        let (settings, indices) = Settings::of(&topology);
        let channels: Vec<Channel> = topology
            .channels()
            .zip(indices)
            .map(|(id, settings)| Channel::new(settings, behind(id)))
            .collect();
        let switches = topology.switches();
        Self {
            seed,
            now: 0,
            events,
            packets: PacketStore::default(),
            pfc: Pfc::new(&settings, channels.len()),
            settings,
            ledgers: vec![Ledger::default(); channels.len()],
            hooks: HashMap::new(),
            dice: vec![None; channels.len()],
            failures: HashMap::new(),
            channels,
            forwarding: Forwarding::new(&topology, seed),
            classifier: topology.classifier().clone(),
            ecn_at_last_hop: topology.ecn_at_last_hop(),
            reroute_delay: topology.reroute_delay(),
            reroute_at: None,
            next_macs: topology
                .channels()
                .map(|id| topology.mac(behind(id)))
                .collect(),
            switch_macs: switches.iter().map(|switch| switch.mac).collect(),
            switch_drops: vec![Drops::default(); switches.len()],
            sampler: None,
            delivered: 0,
            sent: 0,
            balancer: topology.balancer().start(&topology, seed),
            effects: Effects::default(),
            up: Vec::new(),
            is_large: topology.hosts().len() >= LARGE,
            ahead: Vec::new(),
            has_looked: false,
            topology,
        }
    }

    /// The topology of the fabric.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The present, in picoseconds.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Queues a frame at a host's port at `time`. The port sends frames one after the other, in the order of their times. Frames of equal time leave
    /// in the order of the calls.
    ///
    /// # Errors
    /// [`FabricError::NoSuchPort`], [`FabricError::InPast`], [`FabricError::NoEthernetHeader`].
    pub fn send(
        &mut self,
        host: HostId,
        port: usize,
        time: Time,
        frame: P,
    ) -> Result<(), FabricError> {
        let (channel, packet) = self.admit(host, port, time, frame)?;
        self.events.push(time, Event::Send(channel, packet));
        Ok(())
    }

    /// Passes on a frame whose last bit (of the FCS) leaves the host's port at `last_bit`. Use it for hosts that put frames on the line themselves,
    /// like a MAC at RTL. The frame gets the link's delay and faults, but there is no queue and no rate: the host must keep to the rate. A port uses
    /// either this or [`Self::send`].
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn send_serialized(
        &mut self,
        host: HostId,
        port: usize,
        last_bit: Time,
        frame: P,
    ) -> Result<(), FabricError> {
        let (channel, packet) = self.admit(host, port, last_bit, frame)?;
        self.events
            .push(last_bit, Event::Serialized(channel, packet));
        Ok(())
    }

    /// Checks a frame from a host, and accepts it.
    fn admit(
        &mut self,
        host: HostId,
        port: usize,
        time: Time,
        frame: P,
    ) -> Result<(ChannelId, PacketId), FabricError> {
        let channel = self.uplink(host, port)?;
        self.not_past(time)?;
        frame.check()?;
        self.sent += 1;
        let mut flight = Flight::new(&frame);
        let headers = if P::REWRITTEN {
            None
        } else {
            // No switch changes its headers: they are read while the packet is in the cache. What cannot be read is dropped at the first switch.
            flight.read(&frame, &self.classifier, &self.forwarding).ok()
        };
        let packet = self.packets.insert(flight, frame, headers);
        Ok((channel, packet))
    }

    /// Puts a frame on a host's port now, in front of frames that are sent later. [`Occurrence::PortFree`] follows when the port can send the next
    /// one, at once if its link is down.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn transmit(&mut self, host: HostId, port: usize, frame: P) -> Result<(), FabricError> {
        let (channel, packet) = self.admit(host, port, self.now, frame)?;
        self.enqueue(channel, packet, Class::Data);
        let free = self.line_free_at(channel);
        self.events.push(free, Event::PortFree(host, port as u32));
        Ok(())
    }

    /// Has [`Self::next_occurrence`] return [`Occurrence::Alarm`] with `token` at `time`.
    ///
    /// # Errors
    /// [`FabricError::InPast`].
    pub fn set_alarm(&mut self, time: Time, token: u64) -> Result<(), FabricError> {
        self.not_past(time)?;
        self.events.push(time, Event::alarm(token));
        Ok(())
    }

    fn not_past(&self, time: Time) -> Result<(), FabricError> {
        let now = self.now;
        if time < now {
            return Err(FabricError::InPast { time, now });
        }
        Ok(())
    }

    /// Delivers frames to a host's port when their first bit arrives, instead of their last. Use it for hosts that read frames from the line
    /// themselves, like a MAC at RTL. The present is then the time of the first bit of the destination MAC address, and [`Delivery::time`] that of
    /// the last bit. A frame from [`Self::send_serialized`] over a cable shorter than itself is known only after its first bit has arrived, and is
    /// delivered when it is known. A link that fails after the delivery does not cut the frame off.
    ///
    /// # Errors
    /// [`FabricError::NoSuchPort`].
    pub fn receive_from_first_bit(&mut self, host: HostId, port: usize) -> Result<(), FabricError> {
        let downlink = self.uplink(host, port)?.opposite();
        self.hooks_mut(downlink)?.from_first_bit = true;
        Ok(())
    }

    /// When a host's port will have sent all frames that are queued so far, without those of later times. A frame that is sent at that time starts at
    /// once. The function walks the port's queue.
    ///
    /// # Errors
    /// [`FabricError::NoSuchPort`].
    pub fn free_at(&self, host: HostId, port: usize) -> Result<Time, FabricError> {
        let channel = self.uplink(host, port)?;
        Ok(self.line_free_at(channel))
    }

    /// When a channel will have sent all packets that are queued so far.
    #[inline]
    fn line_free_at(&self, id: ChannelId) -> Time {
        let channel = &self.channels[id.index()];
        let settings = &self.settings[channel.settings as usize];
        channel.free_at(&self.packets, settings).max(self.now)
    }

    /// Whether a link is up.
    ///
    /// # Errors
    /// [`FabricError::NoSuchLink`].
    pub fn is_up(&self, link: LinkId) -> Result<bool, FabricError> {
        let channel = self.channels.get(link.forward().index());
        Ok(channel.ok_or(FabricError::NoSuchLink(link))?.up)
    }

    /// Schedules a change of a link's state, both directions. A link that goes down loses the frames on it and in its queues. If there are several
    /// changes, the latest one decides, whichever call scheduled it.
    ///
    /// # Errors
    /// [`FabricError::NoSuchLink`], [`FabricError::InPast`].
    pub fn schedule_link(&mut self, link: LinkId, time: Time, up: bool) -> Result<(), FabricError> {
        self.is_up(link)?;
        self.not_past(time)?;
        self.events.push(time, Event::Link { link, up });
        Ok(())
    }

    /// Time of the next event, if any is left: nothing happens before it.
    pub fn next_event(&self) -> Option<Time> {
        self.events.next_time()
    }

    /// Runs until there is something to act on, at most until `limit` (inclusive), and returns it. The present is then its time, so that hosts can
    /// answer at once. With `None` the present is `limit`, except for `Time::MAX`, which means "to the end" and leaves it at the last event.
    pub fn next_occurrence(&mut self, limit: Time) -> Option<Occurrence<P>> {
        while let Some((time, event)) = self.events.pop_until(limit) {
            self.look_ahead();
            if self.sampler.is_some() {
                self.sample_until(time);
            }
            self.now = time;
            if let Some(occurrence) = self.process(event) {
                return Some(occurrence);
            }
        }
        if limit != Time::MAX && limit > self.now {
            self.sample_until(limit);
            self.now = limit;
        }
        None
    }

    /// As [`Self::next_occurrence`], but returns only frames that reached a host. Anything else passes unseen.
    pub fn next_delivery(&mut self, limit: Time) -> Option<Delivery<P>> {
        loop {
            if let Occurrence::Delivery(delivery) = self.next_occurrence(limit)? {
                return Some(delivery);
            }
        }
    }

    /// Runs until `time`, inclusive, and passes every frame that reached a host to `deliver`, in order.
    pub fn advance_to(&mut self, time: Time, mut deliver: impl FnMut(Delivery<P>)) {
        while let Some(delivery) = self.next_delivery(time) {
            deliver(delivery);
        }
    }

    fn uplink(&self, host: HostId, port: usize) -> Result<ChannelId, FabricError> {
        let uplink = self.forwarding.uplink(host, port);
        uplink.ok_or(FabricError::NoSuchPort { host, port })
    }

    pub(crate) fn channel(&self, id: ChannelId) -> Result<&Channel, FabricError> {
        let channel = self.channels.get(id.index());
        channel.ok_or(FabricError::NoSuchChannel(id))
    }
}
