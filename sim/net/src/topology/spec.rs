//! The topology file, key by key. [`TopologySpec`] is the file; `docs/fabric.md` explains it for people who write one.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use crate::{Balancer, EcnThresholds, PfcThresholds, Trimming};

/// A topology file. Explicit nodes and generators may be mixed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TopologySpec {
    /// Settings of the whole fabric.
    pub fabric: FabricSpec,
    /// Default settings of links.
    pub defaults: LinkSettings,
    /// Hosts.
    pub hosts: Vec<HostSpec>,
    /// Switches.
    pub switches: Vec<SwitchSpec>,
    /// Links.
    pub links: Vec<LinkSpec>,
    /// Generator: hosts h0 and h1 with a cable per plane.
    pub back_to_back: Option<BackToBack>,
    /// Generator: a two-tier Clos fabric per plane.
    pub leaf_spine: Option<LeafSpine>,
    /// Settings of particular links, generated ones included; later ones win.
    pub overrides: Vec<OverrideSpec>,
    /// Links that go down and come back.
    pub events: Vec<EventSpec>,
}

/// Settings of the whole fabric.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FabricSpec {
    /// The 32 bits all uSID containers start with.
    pub usid_block: String,
    /// UDP destination port of RoCEv2 and MRC.
    pub roce_port: u16,
    /// Code points of the control class. Without it, ACK, SACK, NACK and CNP packets are of that class.
    pub control_dscp: Option<Vec<u8>>,
    /// Whether ports that lead to a host mark ECN, too. It is off by default, because MRC takes a mark for imbalance inside the fabric.
    pub ecn_at_last_hop: bool,
    /// Default latency of a switch, in ns.
    pub switch_latency_ns: f64,
    /// How switches choose among equal paths.
    pub balancer: Balancer,
    /// How long routing takes to converge after a link changed, in ns. Without it, only the switches at the link react.
    pub reroute_ns: Option<f64>,
}

impl Default for FabricSpec {
    fn default() -> Self {
        Self {
            usid_block: "fcbb:bb00".into(),
            roce_port: stellar_wire::udp::ROCE_UDP_PORT,
            control_dscp: None,
            ecn_at_last_hop: false,
            switch_latency_ns: 0.0,
            balancer: Balancer::default(),
            reroute_ns: None,
        }
    }
}

/// A host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// Name, unique among hosts and switches.
    pub name: String,
    /// One per plane, plane 0 first.
    #[serde(default = "one_port")]
    pub ports: Vec<PortSpec>,
}

fn one_port() -> Vec<PortSpec> {
    vec![PortSpec::default()]
}

/// A host's port. What is left out follows from the host's index `i` and the plane `p`; see `docs/fabric.md`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PortSpec {
    /// MAC address, six bytes in hexadecimal with colons.
    pub mac: Option<String>,
    /// IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// IPv6 address.
    pub ipv6: Option<Ipv6Addr>,
    /// uSID, unique in its plane.
    pub usid: Option<u16>,
}

/// A switch.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchSpec {
    /// Name, unique among hosts and switches.
    pub name: String,
    /// Plane it belongs to.
    #[serde(default)]
    pub plane: usize,
    /// Node uSID, unique in its plane.
    pub usid: Option<u16>,
    /// Latency from the last bit in to the output queue, in ns.
    pub latency_ns: Option<f64>,
}

/// A link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Name, unique among links.
    pub name: String,
    /// The two ends: `switch`, `host` or `host:port`.
    pub ends: [String; 2],
    /// Settings that differ from the defaults.
    #[serde(default)]
    pub set: LinkSettings,
}

/// Settings of a link, the same in both directions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkSettings {
    /// Rate in Gb/s.
    pub rate_gbps: Option<f64>,
    /// Propagation delay in ns.
    pub delay_ns: Option<f64>,
    /// Greatest random extra delay in ns; above 0, frames may overtake each other.
    pub jitter_ns: Option<f64>,
    /// Probability that a frame is lost.
    pub loss: Option<f64>,
    /// Probability that a byte of a frame changes while its FCS stays valid.
    pub corruption: Option<f64>,
    /// Capacity of a switch's data queue, in bytes.
    pub queue_bytes: Option<u64>,
    /// Capacity of a switch's control queue, in bytes.
    pub control_queue_bytes: Option<u64>,
    /// ECN marking of a switch's data queue; without it, no frame is marked.
    pub ecn: Option<EcnThresholds>,
    /// Trimming instead of dropping; without it, frames are dropped.
    pub trim: Option<Trimming>,
    /// Flow control of the sender, if the receiver is a switch; without it, there is none.
    pub pfc: Option<PfcThresholds>,
}

impl LinkSettings {
    /// These settings where they are present, otherwise those of `base`.
    pub fn over(&self, base: &Self) -> Self {
        Self {
            rate_gbps: self.rate_gbps.or(base.rate_gbps),
            delay_ns: self.delay_ns.or(base.delay_ns),
            jitter_ns: self.jitter_ns.or(base.jitter_ns),
            loss: self.loss.or(base.loss),
            corruption: self.corruption.or(base.corruption),
            queue_bytes: self.queue_bytes.or(base.queue_bytes),
            control_queue_bytes: self.control_queue_bytes.or(base.control_queue_bytes),
            ecn: self.ecn.or(base.ecn),
            trim: self.trim.or(base.trim),
            pfc: self.pfc.or(base.pfc),
        }
    }
}

/// Generator: hosts `h0` and `h1`, and a cable `p0`, `p1`, ... per plane between them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackToBack {
    /// Planes, 1 to 8.
    pub planes: usize,
}

/// Generator: per plane `p`, leaves `p0.leaf0`, ... each connected to every spine `p0.spine0`, ... Hosts `h0`, ... have a port in every plane; `h0`
/// to `h{hosts_per_leaf - 1}` are connected to leaf 0, the next on leaf 1. Links are named after their ends: `p0.h3-leaf0`, `p0.leaf0-spine2`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Planes, 1 to 8.
    pub planes: usize,
    /// Leaves per plane.
    pub leaves: usize,
    /// Spines per plane.
    pub spines: usize,
    /// Hosts on every leaf.
    pub hosts_per_leaf: usize,
    /// Settings of the links between hosts and leaves.
    #[serde(default)]
    pub host_link: LinkSettings,
    /// Settings of the links between leaves and spines.
    #[serde(default)]
    pub spine_link: LinkSettings,
}

/// Settings of particular links. Exactly one of `link`, `node` and `plane` is given.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OverrideSpec {
    /// The link of this name.
    pub link: Option<String>,
    /// Every link of this host or switch.
    pub node: Option<String>,
    /// Every link of this plane.
    pub plane: Option<usize>,
    /// Settings that differ.
    pub set: LinkSettings,
}

/// A change of links. Exactly one of `link`, `node` and `plane` is given, as in [`OverrideSpec`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventSpec {
    /// When, in microseconds.
    pub at_us: f64,
    /// The link of this name.
    pub link: Option<String>,
    /// Every link of this host or switch.
    pub node: Option<String>,
    /// Every link of this plane.
    pub plane: Option<usize>,
    /// The state from then on.
    pub up: bool,
}
