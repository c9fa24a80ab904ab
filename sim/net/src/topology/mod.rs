//! Topologies: hosts, switches and links, read from a file or built from a [`TopologySpec`].

mod error;
mod generate;
mod nodes;
mod params;
mod resolve;
mod select;
mod spec;

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::path::Path;

use stellar_wire::{MacAddr, UsidContainer};

use crate::parcel::Classifier;
use crate::{Balancer, ChannelId, HostId, LinkId, Node, SwitchId, Time};

pub use error::{Problem, TopologyError};
pub use params::LinkParams;
pub use spec::{
    BackToBack, EventSpec, FabricSpec, HostSpec, LeafSpine, LinkSettings, LinkSpec, OverrideSpec,
    PortSpec, SwitchSpec, TopologySpec,
};

/// uSIDs of a switch's own ports (uA): port `n` is the first of them plus `n`. The split into global and local uSIDs
/// is that of RFC 9800's F3216 deployments.
pub const ADJACENCY_USIDS: RangeInclusive<u16> = 0xe000..=0xffff;

/// A host's port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// MAC address.
    pub mac: MacAddr,
    /// IPv4 address.
    pub ipv4: Ipv4Addr,
    /// IPv6 address.
    pub ipv6: Ipv6Addr,
    /// uSID in its plane.
    pub usid: u16,
    /// The link of the port.
    pub link: LinkId,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Unique name.
    pub name: String,
    /// Ports by plane.
    pub ports: Vec<HostPort>,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Unique name.
    pub name: String,
    /// The plane it is in.
    pub plane: usize,
    /// Node uSID in its plane.
    pub usid: u16,
    /// Source MAC address of the frames that it forwards.
    pub mac: MacAddr,
    /// Latency from the last bit in to the output queue, in picoseconds.
    pub latency: Time,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Unique name.
    pub name: String,
    /// The plane it is in.
    pub plane: usize,
    /// Its two ends; the forward direction runs from the first to the second.
    pub ends: [Node; 2],
    /// Rate, delay, queues, faults.
    pub params: LinkParams,
}

/// A scheduled change of a link's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When, in picoseconds.
    pub time: Time,
    /// Which link.
    pub link: LinkId,
    /// Its state from then on.
    pub up: bool,
}

/// A checked topology: every name refers to something, every host port has one link, and within a plane every host reaches every other.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    hosts: Vec<Host>,
    switches: Vec<Switch>,
    links: Vec<Link>,
    changes: Vec<Change>,
    usid_block: u32,
    classifier: Classifier,
    ecn_at_last_hop: bool,
    reroute_delay: Option<Time>,
    balancer: Balancer,
}

impl Topology {
    /// Reads a topology file.
    ///
    /// # Errors
    /// [`TopologyError`], with the file, the key and what is wrong.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, TopologyError> {
        let file = path.as_ref().display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::from_toml(&file, &text),
            Err(error) => Err(TopologyError {
                file,
                key: "file".into(),
                problem: Problem::Unreadable(error),
            }),
        }
    }

    /// Reads the text of a topology file; errors call it `file`.
    ///
    /// # Errors
    /// See [`Self::from_file`].
    pub fn from_toml(file: &str, text: &str) -> Result<Self, TopologyError> {
        match toml::from_str(text) {
            Ok(spec) => Self::from_spec(file, spec),
            Err(error) => Err(TopologyError {
                file: file.into(),
                key: "TOML".into(),
                problem: Problem::Syntax(Box::new(error)),
            }),
        }
    }

    /// Hosts in the order of the file, then generated ones.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Switches in the order of the file, then generated ones.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Links in the order of the file, then generated ones.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Scheduled changes of links in the file.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The host of this name.
    pub fn host(&self, name: &str) -> Option<HostId> {
        position(&self.hosts, |host| host.name == name).map(HostId)
    }

    /// The switch of this name.
    pub fn switch(&self, name: &str) -> Option<SwitchId> {
        position(&self.switches, |switch| switch.name == name).map(SwitchId)
    }

    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<LinkId> {
        position(&self.links, |link| link.name == name).map(LinkId)
    }

    /// Every direction of every link.
    pub fn channels(&self) -> impl Iterator<Item = ChannelId> {
        (0..self.links.len() as u32 * 2).map(ChannelId)
    }

    /// Sender and receiver of a channel.
    ///
    /// # Panics
    /// If the topology has no such channel.
    pub fn ends(&self, channel: ChannelId) -> (Node, Node) {
        let [first, second] = self.links[channel.link().index()].ends;
        if channel.is_backward() {
            (second, first)
        } else {
            (first, second)
        }
    }

    /// The channel a host's port sends on; `None` if there is no such port.
    pub fn uplink(&self, host: HostId, port: usize) -> Option<ChannelId> {
        let link = self.hosts.get(host.index())?.ports.get(port)?.link;
        link.channels()
            .into_iter()
            .find(|&channel| self.ends(channel).0 == Node::Host { host, port })
    }

    /// Channels that `switch` sends on, in the order of its ports.
    pub fn switch_ports(&self, switch: SwitchId) -> impl Iterator<Item = ChannelId> + '_ {
        self.channels()
            .filter(move |&channel| self.ends(channel).0 == Node::Switch(switch))
    }

    /// uSID of the port of a switch that sends on `channel`; `None` if a host does, or the port's number has no uSID.
    pub fn adjacency_usid(&self, channel: ChannelId) -> Option<u16> {
        let Node::Switch(switch) = self.ends(channel).0 else {
            return None;
        };
        let port = self.switch_ports(switch).position(|port| port == channel)?;
        ADJACENCY_USIDS.clone().nth(port)
    }

    /// Container of a path through `via` to port `plane` of `host`, where the NIC decapsulates; `None` if there is no
    /// such port or switch, a switch is of another plane, or the path is longer than a container.
    pub fn usid_path(&self, via: &[SwitchId], host: HostId, plane: usize) -> Option<UsidContainer> {
        let mut path = Vec::with_capacity(via.len() + 1);
        for switch in via {
            let switch = self.switches.get(switch.index())?;
            if switch.plane != plane {
                return None;
            }
            path.push(switch.usid);
        }
        path.push(self.hosts.get(host.index())?.ports.get(plane)?.usid);
        UsidContainer::new(self.usid_block, &path)
    }

    /// The 32 bits all uSID containers start with.
    pub fn usid_block(&self) -> u32 {
        self.usid_block
    }

    pub(crate) fn classifier(&self) -> &Classifier {
        &self.classifier
    }

    pub(crate) fn ecn_at_last_hop(&self) -> bool {
        self.ecn_at_last_hop
    }

    /// How its switches choose among equal paths.
    pub fn balancer(&self) -> &Balancer {
        &self.balancer
    }

    /// The same topology with another balancer.
    ///
    /// # Errors
    /// [`TopologyError`] for a parameter out of its range.
    pub fn with_balancer(mut self, balancer: Balancer) -> Result<Self, TopologyError> {
        balancer.check().map_err(|bad| TopologyError {
            file: "balancer".into(),
            key: bad.parameter.into(),
            problem: bad.into(),
        })?;
        self.balancer = balancer;
        Ok(self)
    }

    pub(crate) fn reroute_delay(&self) -> Option<Time> {
        self.reroute_delay
    }

    pub(crate) fn latency(&self, node: Node) -> Time {
        match node {
            Node::Host { .. } => 0,
            Node::Switch(switch) => self.switches[switch.index()].latency,
        }
    }

    pub(crate) fn mac(&self, node: Node) -> MacAddr {
        match node {
            Node::Host { host, port } => self.hosts[host.index()].ports[port].mac,
            Node::Switch(switch) => self.switches[switch.index()].mac,
        }
    }
}

fn position<T>(items: &[T], matches: impl Fn(&T) -> bool) -> Option<u32> {
    items.iter().position(matches).map(|index| index as u32)
}
