//! Names of the parts of a fabric: indices into its [`Topology`](crate::Topology).

use std::fmt;

use serde::Serialize;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub struct $name(pub u32);

        impl $name {
            #[inline]
            pub(crate) const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A host, in the order of the topology.
    HostId
}
id! {
    /// A switch, in the order of the topology.
    SwitchId
}
id! {
    /// A cable between two nodes, both directions of it.
    LinkId
}
id! {
    /// One direction of a link, with the sender's output queues.
    ChannelId
}

impl LinkId {
    /// The direction from the first of the link's two ends to the second.
    pub const fn forward(self) -> ChannelId {
        ChannelId(self.0 * 2)
    }

    /// The direction from the second end to the first.
    pub const fn backward(self) -> ChannelId {
        ChannelId(self.0 * 2 + 1)
    }

    /// Both directions.
    pub const fn channels(self) -> [ChannelId; 2] {
        [self.forward(), self.backward()]
    }
}

impl ChannelId {
    /// The link this is a direction of.
    pub const fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    /// The other direction of the same link.
    #[inline]
    pub const fn opposite(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// Whether it runs from the link's second end to its first.
    pub const fn is_backward(self) -> bool {
        self.0 % 2 == 1
    }
}

/// The end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Node {
    /// Port `port` of a host, in plane `port`.
    Host {
        /// The host.
        host: HostId,
        /// Its port, which is also the plane.
        port: usize,
    },
    /// A switch.
    Switch(SwitchId),
}

/// The reason why a frame did not reach a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum DropReason {
    /// The output queue had no room.
    QueueFull,
    /// Random loss of the link.
    RandomLoss,
    /// A [`Filter`](crate::Filter) dropped it.
    Filter,
    /// The link was down, or went down while the frame was on it.
    LinkDown,
    /// The EtherType is neither IPv4 nor IPv6 (after at most one 802.1Q tag).
    NotIp,
    /// The IP header is cut off, has options, the wrong version, or (IPv4) a wrong checksum.
    Malformed,
    /// TTL or hop limit ran out.
    HopLimit,
    /// No node of this plane has the destination address, or none can be reached.
    NoRoute,
    /// The active uSID is neither a node of this plane nor a port of this switch.
    UnknownUsid,
    /// The container ended at a switch: switches do not decapsulate.
    UsidExhausted,
}

impl DropReason {
    /// Every reason, in the order of declaration.
    pub const ALL: [Self; 10] = [
        Self::QueueFull,
        Self::RandomLoss,
        Self::Filter,
        Self::LinkDown,
        Self::NotIp,
        Self::Malformed,
        Self::HopLimit,
        Self::NoRoute,
        Self::UnknownUsid,
        Self::UsidExhausted,
    ];
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::QueueFull => "queue full",
            Self::RandomLoss => "random loss",
            Self::Filter => "filter",
            Self::LinkDown => "link down",
            Self::NotIp => "not IP",
            Self::Malformed => "malformed IP header",
            Self::HopLimit => "hop limit",
            Self::NoRoute => "no route",
            Self::UnknownUsid => "unknown uSID",
            Self::UsidExhausted => "uSID container ended at a switch",
        })
    }
}
