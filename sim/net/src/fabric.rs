//! The public functions of the fabric.

use std::sync::Arc;

use stellar_wire::MacAddr;
use thiserror::Error;

use crate::channel::Channel;
use crate::event::{Event, EventQueue};
use crate::forwarding::Forwarding;
use crate::headers::Classifier;
use crate::packet::{Packet, PacketId, PacketStore};
use crate::stats::{Drops, Sample};
use crate::{ChannelId, Frame, HostId, LinkId, Node, Time, Topology};

/// A frame that reached a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The host.
    pub host: HostId,
    /// Its port, which is the plane.
    pub port: usize,
    /// When the last bit (of the FCS) arrived, in picoseconds.
    pub time: Time,
    /// The frame as it arrived.
    pub frame: Frame,
}

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FabricError {
    /// The host does not exist or has fewer ports.
    #[error("host {host:?} has no port {port}; see the hosts of the topology")]
    NoSuchPort {
        /// The given host.
        host: HostId,
        /// The given port.
        port: usize,
    },
    /// The time is in the past.
    #[error("time {time} ps is before the fabric's present, {now} ps; advance the fabric no further than the next thing you do to it")]
    InPast {
        /// The given time.
        time: Time,
        /// The present time of the fabric.
        now: Time,
    },
    /// The frame is shorter than an Ethernet header.
    #[error("a frame of {stored} stored bytes has no Ethernet header; give at least 14")]
    NoEthernetHeader {
        /// Number of bytes that it stores.
        stored: usize,
    },
    /// The link does not exist.
    #[error("there is no link {0:?}; see the links of the topology")]
    NoSuchLink(LinkId),
    /// The channel does not exist.
    #[error("there is no channel {0:?}; see the channels of the topology")]
    NoSuchChannel(ChannelId),
    /// A sampling period of zero.
    #[error("a sampling period of 0 ps never ends; give at least 1")]
    ZeroPeriod,
}

/// Channels to sample, period, and samples so far.
pub(crate) struct Sampler {
    pub period: Time,
    pub next: Time,
    pub channels: Vec<ChannelId>,
    pub samples: Vec<Sample>,
}

/// A running fabric. Its state is a function of the topology, the seed and the calls made.
pub struct Fabric {
    topology: Arc<Topology>,
    pub(crate) now: Time,
    pub(crate) events: EventQueue,
    pub(crate) packets: PacketStore,
    pub(crate) channels: Vec<Channel>,
    pub(crate) forwarding: Forwarding,
    pub(crate) classifier: Classifier,
    pub(crate) ecn_at_last_hop: bool,
    pub(crate) reroute_delay: Option<Time>,
    /// The latest time at which routing is scheduled to converge.
    pub(crate) reroute_at: Option<Time>,
    /// Latency of the node behind a channel, in picoseconds.
    pub(crate) latency: Vec<Time>,
    /// MAC address of the node behind a channel.
    pub(crate) next_macs: Vec<MacAddr>,
    pub(crate) switch_macs: Vec<MacAddr>,
    pub(crate) switch_drops: Vec<Drops>,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) delivered: u64,
    pub(crate) sent: u64,
}

impl Fabric {
    /// An idle fabric at time 0, with the link changes of the topology scheduled. `seed` decides every random choice,
    /// ECMP's hashes included.
    pub fn new(topology: impl Into<Arc<Topology>>, seed: u64) -> Self {
        let topology = topology.into();
        let mut events = EventQueue::default();
        for change in topology.changes() {
            let (link, up) = (change.link, change.up);
            events.push(change.time, Event::Link { link, up });
        }
        let behind: Vec<Node> = topology.channels().map(|id| topology.ends(id).1).collect();
        Self {
            now: 0,
            events,
            packets: PacketStore::default(),
            channels: topology
                .channels()
                .map(|id| {
                    let params = topology.links()[id.link().index()].params.clone();
                    Channel::new(id, params, topology.ends(id), seed)
                })
                .collect(),
            forwarding: Forwarding::new(&topology, seed),
            classifier: topology.classifier().clone(),
            ecn_at_last_hop: topology.ecn_at_last_hop(),
            reroute_delay: topology.reroute_delay(),
            reroute_at: None,
            latency: behind.iter().map(|&node| topology.latency(node)).collect(),
            next_macs: behind.iter().map(|&node| topology.mac(node)).collect(),
            switch_macs: topology
                .switches()
                .iter()
                .map(|switch| switch.mac)
                .collect(),
            switch_drops: vec![Drops::default(); topology.switches().len()],
            sampler: None,
            delivered: 0,
            sent: 0,
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
        frame: Frame,
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
        frame: Frame,
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
        frame: Frame,
    ) -> Result<(ChannelId, PacketId), FabricError> {
        let channel = self.uplink(host, port)?;
        if time < self.now {
            return Err(FabricError::InPast {
                time,
                now: self.now,
            });
        }
        if !frame.has_ethernet_header() {
            let stored = frame.bytes().len();
            return Err(FabricError::NoEthernetHeader { stored });
        }
        self.sent += 1;
        Ok((channel, self.packets.insert(Packet::new(frame))))
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
        self.channel_mut(downlink)?.from_first_bit = true;
        Ok(())
    }

    /// When a host's port will have sent all frames that are queued so far, without those of later times. A frame that is sent at that time starts at
    /// once.
    ///
    /// # Errors
    /// [`FabricError::NoSuchPort`].
    pub fn free_at(&self, host: HostId, port: usize) -> Result<Time, FabricError> {
        let channel = self.uplink(host, port)?;
        Ok(self.channels[channel.index()].free_at().max(self.now))
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
        if time < self.now {
            return Err(FabricError::InPast {
                time,
                now: self.now,
            });
        }
        self.events.push(time, Event::Link { link, up });
        Ok(())
    }

    /// Time of the next event, if any is left: nothing happens before it.
    pub fn next_event(&self) -> Option<Time> {
        self.events.next_time()
    }

    /// Runs until a frame reaches a host, at most until `limit` (inclusive), and returns it. The present is then the time
    /// of the delivery, so that the host can answer at once. With `None` the present is `limit`, except for
    /// `Time::MAX`, which means "to the end" and leaves it at the last event.
    pub fn next_delivery(&mut self, limit: Time) -> Option<Delivery> {
        while let Some((time, event)) = self.events.pop_until(limit) {
            self.sample_until(time);
            self.now = time;
            if let Some(delivery) = self.process(event) {
                return Some(delivery);
            }
        }
        if limit != Time::MAX && limit > self.now {
            self.sample_until(limit);
            self.now = limit;
        }
        None
    }

    /// Runs until `time`, inclusive, and passes every frame that reached a host to `deliver`, in order.
    pub fn advance_to(&mut self, time: Time, mut deliver: impl FnMut(Delivery)) {
        while let Some(delivery) = self.next_delivery(time) {
            deliver(delivery);
        }
    }

    fn uplink(&self, host: HostId, port: usize) -> Result<ChannelId, FabricError> {
        let uplink = self.topology.uplink(host, port);
        uplink.ok_or(FabricError::NoSuchPort { host, port })
    }

    pub(crate) fn channel(&self, id: ChannelId) -> Result<&Channel, FabricError> {
        let channel = self.channels.get(id.index());
        channel.ok_or(FabricError::NoSuchChannel(id))
    }

    pub(crate) fn channel_mut(&mut self, id: ChannelId) -> Result<&mut Channel, FabricError> {
        let channel = self.channels.get_mut(id.index());
        channel.ok_or(FabricError::NoSuchChannel(id))
    }
}
