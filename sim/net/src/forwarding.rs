//! Where a switch sends a packet.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use stellar_wire::UsidContainer;

use crate::flight::TargetId;
use crate::hash::{choose, mix};
use crate::parcel::Destination;
use crate::routes::{Hop, Routes};
use crate::topology::ADJACENCY_USIDS;
use crate::{ChannelId, DropReason, HostId, Node, SwitchId, Topology};

/// A host port as the target of a packet.
#[derive(Clone, Copy, Debug)]
struct HostPort {
    /// The switch it is connected to; `None` on a cable between two hosts.
    switch: Option<SwitchId>,
    /// The channel from it.
    uplink: ChannelId,
}

/// The target of a uSID.
#[derive(Clone, Copy, Debug)]
enum Target {
    Switch(SwitchId),
    Host(TargetId),
}

/// Where a switch sends a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// To this channel.
    Channel(ChannelId),
    /// To any channel on a shortest path to this switch.
    Switch(SwitchId),
}

/// The state of one switch.
#[derive(Debug)]
struct Switch {
    plane: usize,
    usid: u16,
    seed: u64,
    /// Outgoing channels in the order of the topology's links; adjacency uSIDs number them.
    ports: Vec<ChannelId>,
}

/// Forwarding tables of every switch.
#[derive(Debug)]
pub(crate) struct Forwarding {
    usid_block: u32,
    switches: Vec<Switch>,
    /// Every host port, by host and port.
    ports: Vec<HostPort>,
    /// Index in `ports` of the first port of each host, and their number.
    first_ports: Vec<u32>,
    addresses: HashMap<IpAddr, TargetId>,
    usids: HashMap<(usize, u16), Target>,
    /// Channels that lead to a host.
    to_host: Vec<bool>,
    hops: Vec<Hop>,
    routes: Routes,
}

impl Forwarding {
    pub(crate) fn new(topology: &Topology, seed: u64) -> Self {
        let mut switches: Vec<Switch> = (0u64..)
            .zip(topology.switches())
            .map(|(index, switch)| Switch {
                plane: switch.plane,
                usid: switch.usid,
                seed: mix(mix(seed) ^ index),
                ports: Vec::new(),
            })
            .collect();
        let mut usids: HashMap<_, _> = (0..)
            .zip(topology.switches())
            .map(|(index, switch)| {
                let target = Target::Switch(SwitchId(index));
                ((switch.plane, switch.usid), target)
            })
            .collect();
        let (mut ports, mut first_ports) = (Vec::new(), Vec::new());
        let mut addresses = HashMap::new();
        for (id, host) in (0..).map(HostId).zip(topology.hosts()) {
            first_ports.push(ports.len() as u32);
            for (plane, port) in host.ports.iter().enumerate() {
                let target = TargetId(ports.len() as u32);
                addresses.insert(IpAddr::V4(port.ipv4), target);
                addresses.insert(IpAddr::V6(port.ipv6), target);
                usids.insert((plane, port.usid), Target::Host(target));
                let uplink = topology.uplink(id, plane);
                let uplink = uplink.expect("every port has a link");
                ports.push(HostPort {
                    uplink,
                    switch: match topology.ends(uplink).1 {
                        Node::Switch(switch) => Some(switch),
                        Node::Host { .. } => None,
                    },
                });
            }
        }
        first_ports.push(ports.len() as u32);
        let mut hops = Vec::new();
        let mut to_host = Vec::new();
        for channel in topology.channels() {
            let (from, to) = topology.ends(channel);
            to_host.push(matches!(to, Node::Host { .. }));
            let Node::Switch(from) = from else { continue };
            switches[from.index()].ports.push(channel);
            if let Node::Switch(to) = to {
                hops.push(Hop { channel, from, to });
            }
        }
        Self {
            usid_block: topology.usid_block(),
            routes: Routes::new(switches.len(), &hops),
            switches,
            ports,
            first_ports,
            addresses,
            usids,
            to_host,
            hops,
        }
    }

    /// Computes new routes over the channels that are up.
    pub(crate) fn reroute(&mut self, is_up: impl Fn(ChannelId) -> bool) {
        let hops: Vec<Hop> = self
            .hops
            .iter()
            .copied()
            .filter(|hop| is_up(hop.channel))
            .collect();
        self.routes = Routes::new(self.switches.len(), &hops);
    }

    /// The target of a packet, for [`Self::towards`]; [`TargetId::PER_SWITCH`] for a container of uSIDs.
    #[inline]
    pub(crate) fn target(&self, destination: Destination) -> TargetId {
        match destination {
            Destination::Address(IpAddr::V6(ip))
                if u128::from(ip) >> 96 == u128::from(self.usid_block) =>
            {
                TargetId::PER_SWITCH
            }
            Destination::Address(address) => {
                let target = self.addresses.get(&address);
                target.copied().unwrap_or(TargetId::NOWHERE)
            }
            Destination::Port(host, port) => {
                let index = self.port_index(host, port);
                index.map_or(TargetId::NOWHERE, |index| TargetId(index as u32))
            }
        }
    }

    #[inline]
    fn port_index(&self, host: HostId, port: usize) -> Option<usize> {
        let first = *self.first_ports.get(host.index())? as usize;
        let next = *self.first_ports.get(host.index() + 1)? as usize;
        (port < next - first).then_some(first + port)
    }

    /// The channel that a host's port sends on.
    #[inline]
    pub(crate) fn uplink(&self, host: HostId, port: usize) -> Option<ChannelId> {
        Some(self.ports[self.port_index(host, port)?].uplink)
    }

    /// Where switch `at` sends what goes to `target`.
    #[inline]
    pub(crate) fn towards(&self, at: SwitchId, target: TargetId) -> Result<Next, DropReason> {
        let target = self.ports.get(target.0 as usize);
        let target = target.ok_or(DropReason::NoRoute)?;
        match target.switch {
            Some(switch) if switch == at => Ok(Next::Channel(target.uplink.opposite())),
            Some(switch) => Ok(Next::Switch(switch)),
            None => Err(DropReason::NoRoute),
        }
    }

    /// Channels of switch `at` on shortest paths to another switch.
    #[inline]
    pub(crate) fn group(&self, at: SwitchId, switch: SwitchId) -> &[ChannelId] {
        self.routes.group(at, switch)
    }

    /// Channel of switch `at` towards another by ECMP: the flow's hash decides. A flow keeps its channel as long as that is up.
    #[inline]
    pub(crate) fn hashed(
        &self,
        at: SwitchId,
        switch: SwitchId,
        flow: u64,
        is_up: impl Fn(ChannelId) -> bool,
    ) -> Result<ChannelId, DropReason> {
        let group = self.routes.group(at, switch);
        if group.is_empty() {
            return Err(DropReason::NoRoute);
        }
        let hash = mix(flow ^ self.switches[at.index()].seed);
        let first = group[choose(hash, group.len())];
        if is_up(first) {
            return Ok(first);
        }
        let up = || group.iter().copied().filter(|&channel| is_up(channel));
        match up().count() {
            0 => Err(DropReason::NoRoute),
            count => Ok(up()
                .nth(choose(mix(hash), count))
                .expect("an index below the count")),
        }
    }

    /// Where switch `at` sends what has the container `dst`, from which uSIDs of this switch are shifted out.
    pub(crate) fn by_usid(&self, at: SwitchId, dst: &mut Ipv6Addr) -> Result<Next, DropReason> {
        match self.segment(at, dst)? {
            Segment::Node(Target::Host(target)) => self.towards(at, target),
            Segment::Node(Target::Switch(switch)) => Ok(Next::Switch(switch)),
            Segment::Port(channel) => Ok(Next::Channel(channel)),
        }
    }

    /// NEXT-CSID processing (RFC 9800 section 4) of a destination in the uSID block.
    fn segment(&self, at: SwitchId, dst: &mut Ipv6Addr) -> Result<Segment, DropReason> {
        let switch = &self.switches[at.index()];
        let mut container = UsidContainer::from(*dst);
        // uN: this switch's own segments are done; the next one decides.
        while container.active() == switch.usid {
            container = container.next().ok_or(DropReason::UsidExhausted)?;
        }
        *dst = container.into();
        let active = container.active();
        if active == 0 {
            return Err(DropReason::UsidExhausted);
        }
        if !ADJACENCY_USIDS.contains(&active) {
            let target = self.usids.get(&(switch.plane, active));
            return Ok(Segment::Node(*target.ok_or(DropReason::UnknownUsid)?));
        }
        // uA: shift and send to the adjacency. The last uSID, to a host, stays, because the NIC decapsulates.
        let port = usize::from(active - ADJACENCY_USIDS.start());
        let channel = *switch.ports.get(port).ok_or(DropReason::UnknownUsid)?;
        match container.next() {
            Some(shifted) => *dst = shifted.into(),
            None if self.to_host[channel.index()] => {}
            None => return Err(DropReason::UsidExhausted),
        }
        Ok(Segment::Port(channel))
    }
}

/// The target of the active uSID.
enum Segment {
    Node(Target),
    Port(ChannelId),
}
