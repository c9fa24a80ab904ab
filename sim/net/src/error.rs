//! Why a call is refused.

use thiserror::Error;

use crate::{ChannelId, HostId, LinkId, Time};

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
