//! Errors of a topology.

use thiserror::Error;

use crate::balance::BadBalancer;

/// A topology that cannot be built: which file, which key, what is wrong.
#[derive(Debug, Error)]
#[error("{file}: {key}: {problem}")]
pub struct TopologyError {
    /// The file, or a name if the topology is not from a file.
    pub file: String,
    /// The table and key, like `links "a-b": set.rate_gbps`.
    pub key: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a key.
#[derive(Debug, Error)]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// The text is not TOML, or has an unknown key or a value of the wrong type. The message shows the line.
    #[error("{0}")]
    Syntax(Box<toml::de::Error>),
    /// There are no hosts.
    #[error("there is no host; add [[hosts]], [leaf_spine] or [back_to_back]")]
    NoHosts,
    /// Two hosts or switches, or two links, have the same name.
    #[error("the name is taken by another one; rename one of them")]
    DuplicateName,
    /// A name is empty, or has a colon, which separates ports.
    #[error("{0:?} is no name; use at least one character, and no colon")]
    BadName(String),
    /// An address or uSID belongs to another port or switch already.
    #[error("{value} belongs to {owner} already; give every port its own")]
    DuplicateAddress {
        /// The address.
        value: String,
        /// The port or switch that has it.
        owner: String,
    },
    /// A MAC address that is not valid.
    #[error("{0:?} is no MAC address; write it like 02:00:00:00:00:01")]
    BadMac(String),
    /// A uSID outside the range of nodes.
    #[error("uSID {0:#06x} is outside 0x0001 to 0xdfff, the uSIDs of nodes (0 ends a container, 0xe000 and up name ports)")]
    BadUsid(u16),
    /// A uSID block that is not 32 bits in the form of an IPv6 prefix.
    #[error("{0:?} is no uSID block; write its 32 bits as two groups, like fcbb:bb00")]
    BadBlock(String),
    /// A link, override or event names a node that does not exist.
    #[error("there is no host or switch {0:?}")]
    UnknownNode(String),
    /// An override or event names a link that does not exist.
    #[error("there is no link {0:?}")]
    UnknownLink(String),
    /// An override or event names a plane that does not exist.
    #[error("there is no link in plane {0}")]
    UnknownPlane(usize),
    /// An override or event does not name its target, or names two.
    #[error("name exactly one of link, node and plane")]
    NotOneTarget,
    /// A host has no port of this number.
    #[error("host {host:?} has no port {port}; it has {ports}, numbered from 0, one per plane")]
    NoSuchPort {
        /// The host.
        host: String,
        /// The port.
        port: usize,
        /// How many it has.
        ports: usize,
    },
    /// The end of a link is not `name` or `host:port`.
    #[error("{0:?} is no end of a link; write switch, host or host:port")]
    BadEnd(String),
    /// A host with several ports is named without a port.
    #[error("host {0:?} has several ports; say which, like {0}:0")]
    PortNeeded(String),
    /// Two links end in one host port.
    #[error("port {port} of host {host:?} is taken by link {link:?}; a port has one link")]
    PortTaken {
        /// The host.
        host: String,
        /// Its port.
        port: usize,
        /// The link that has it.
        link: String,
    },
    /// Both ends of a link are one node.
    #[error("both ends are {0:?}; a link connects two nodes")]
    SelfLink(String),
    /// A link connects two planes.
    #[error("connects plane {0} with plane {1}; planes are separate fabrics (host port n is in plane n)")]
    CrossPlane(usize, usize),
    /// A host port has no link.
    #[error("port {0} is not connected; add a link to it or remove it")]
    Unconnected(usize),
    /// Two host ports of one plane cannot reach each other.
    #[error("in plane {plane} there is no route from host {from:?} to host {to:?}; add links between their switches")]
    NoRoute {
        /// The plane.
        plane: usize,
        /// A host.
        from: String,
        /// A host it cannot reach.
        to: String,
    },
    /// No rate was given.
    #[error("is missing; set it here or in [defaults]")]
    MissingRate,
    /// A rate that no line has.
    #[error("{0} Gb/s is no rate; give 0.001 or more, in steps of 0.001")]
    BadRate(f64),
    /// Not a probability.
    #[error("{0} is no probability; give 0 to 1")]
    BadProbability(f64),
    /// Not a duration.
    #[error("{0} is no duration; give 0 or more, and less than 10^15 ns")]
    BadDuration(f64),
    /// ECN thresholds in the wrong order.
    #[error("min_bytes {min} is above max_bytes {max}; swap them")]
    BadThresholds {
        /// Lower threshold.
        min: u64,
        /// Upper threshold.
        max: u64,
    },
    /// A parameter of a balancer.
    #[error("{value} is outside its range: give {range}")]
    BadParameter {
        /// The value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// PFC thresholds in the wrong order.
    #[error("xon_bytes {xon} is above xoff_bytes {xoff}; swap them")]
    BadPause {
        /// Where the sender goes on.
        xon: u64,
        /// Where it is paused.
        xoff: u64,
    },
    /// A code point of more than six bits.
    #[error("DSCP {0} is above 63")]
    BadDscp(u8),
    /// A count that a generator cannot make.
    #[error("{value} is outside {min} to {max}")]
    BadCount {
        /// The count.
        value: usize,
        /// Least.
        min: usize,
        /// Most.
        max: usize,
    },
}

impl From<BadBalancer> for Problem {
    fn from(bad: BadBalancer) -> Self {
        let BadBalancer { value, range, .. } = bad;
        Self::BadParameter { value, range }
    }
}
