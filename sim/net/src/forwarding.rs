//! Where a switch sends a packet.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use stellar_wire::{Ip, UsidContainer};

use crate::hash::{choose, mix};
use crate::headers::Headers;
use crate::routes::{Hop, Routes};
use crate::topology::ADJACENCY_USIDS;
use crate::{ChannelId, DropReason, Node, SwitchId, Topology};

/// A node as the target of a packet, as its switch sees it.
#[derive(Clone, Copy, Debug)]
enum Target {
    Switch(SwitchId),
    /// A host port: its switch, and the channel from there.
    Host(SwitchId, ChannelId),
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
    addresses: HashMap<IpAddr, Target>,
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
        let mut addresses = HashMap::new();
        let mut hops = Vec::new();
        let mut to_host = Vec::new();
        for channel in topology.channels() {
            let (from, to) = topology.ends(channel);
            to_host.push(matches!(to, Node::Host { .. }));
            let Node::Switch(from) = from else { continue };
            switches[from.index()].ports.push(channel);
            match to {
                Node::Switch(to) => hops.push(Hop { channel, from, to }),
                Node::Host { host, port } => {
                    let target = Target::Host(from, channel);
                    let port_info = &topology.hosts()[host.index()].ports[port];
                    addresses.insert(IpAddr::V4(port_info.ipv4), target);
                    addresses.insert(IpAddr::V6(port_info.ipv6), target);
                    usids.insert((port, port_info.usid), target);
                }
            }
        }
        Self {
            usid_block: topology.usid_block(),
            routes: Routes::new(switches.len(), &hops),
            switches,
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

    /// Decides the next channel of a packet at switch `at`, and changes its headers as forwarding does: the hop limit decreases by one, and uSIDs of
    /// this switch are shifted out.
    pub(crate) fn forward(
        &self,
        at: SwitchId,
        headers: &mut Headers,
        is_up: impl Fn(ChannelId) -> bool,
    ) -> Result<ChannelId, DropReason> {
        let hops = headers.outer.hops();
        if *hops <= 1 {
            return Err(DropReason::HopLimit);
        }
        *hops -= 1;
        let target = match &mut headers.outer.ip {
            Ip::V6(ip) if u128::from(ip.dst) >> 96 == u128::from(self.usid_block) => {
                match self.segment(at, &mut ip.dst)? {
                    Segment::Node(target) => target,
                    Segment::Port(channel) => return Ok(channel),
                }
            }
            ip => {
                let dst = match ip {
                    Ip::V4(ip) => IpAddr::V4(ip.dst),
                    Ip::V6(ip) => IpAddr::V6(ip.dst),
                };
                *self.addresses.get(&dst).ok_or(DropReason::NoRoute)?
            }
        };
        self.towards(at, target, headers.flow, is_up)
    }

    /// Channel of `at` towards `target`. A flow keeps its channel as long as that is up.
    fn towards(
        &self,
        at: SwitchId,
        target: Target,
        flow: u64,
        is_up: impl Fn(ChannelId) -> bool,
    ) -> Result<ChannelId, DropReason> {
        let switch = match target {
            Target::Host(switch, channel) if switch == at => return Ok(channel),
            Target::Host(switch, _) | Target::Switch(switch) => switch,
        };
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
