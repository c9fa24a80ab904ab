//! What happens in a fabric.

use crate::flight::PacketId;
use crate::{ChannelId, HostId, LinkId};

/// Something that happens at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A host hands a packet to its channel.
    Send(ChannelId, PacketId),
    /// A host has put the last bit of a packet on its channel.
    Serialized(ChannelId, PacketId),
    /// The channel's line is free and packets wait.
    Wake(ChannelId),
    /// A packet has passed the channel and the latency of the switch behind it, or begins to arrive at a host that takes frames from their first bit
    /// on.
    Arrive {
        channel: ChannelId,
        packet: PacketId,
        /// How often the link had failed when the packet started, modulo 2^16.
        failures: u16,
    },
    /// A time of the balancer.
    Balancer(u32),
    /// The sender of the channel is paused, or goes on.
    Pause { channel: ChannelId, paused: bool },
    /// The line of a host's port is free again, which the host wants to know.
    PortFree(HostId, u32),
    /// A time that the user of the fabric set, with the halves of the token, the high one first.
    Alarm(u32, u32),
    /// A link changes state.
    Link { link: LinkId, up: bool },
    /// The routing protocol has converged on the links that are up.
    Reroute,
}

// With the time in a bucket of the calendar, a quarter of a cache line.
const _: () = assert!(size_of::<Event>() <= 12);

impl Event {
    /// A time that the user of the fabric set.
    pub(crate) const fn alarm(token: u64) -> Self {
        Self::Alarm((token >> 32) as u32, token as u32)
    }
}
