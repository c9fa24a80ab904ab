//! Configuration of a card and its queue pairs.

use std::net::IpAddr;

use crate::mtu::{MAX_LOG2, MAX_PAYLOAD, MIN_LOG2};
use crate::{MacAddr, Psn};
use thiserror::Error;

use super::{
    EvIndex, MrcConfig, RcConfig, RequesterConfigError, RxConfig, SprayConfig, SprayError, SqRing,
    Srv6Template, MAX_SACK_EVERY, STASH_ENTRIES,
};
use crate::rows::{QpMode, TableError};

/// Ports of a card; port p is plane p of the fabric.
pub const PORTS: usize = 2;
/// Doorbell pages of a card.
pub const PAGES: u32 = 65_536;

/// Address of a card in one plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneAddress {
    pub mac: MacAddr,
    pub ip: IpAddr,
}

/// Configuration of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointConfig {
    /// The host's address in each plane, all of one IP version.
    pub planes: [PlaneAddress; PORTS],
    /// UDP port and PCIe maximum payload size.
    pub rx: RxConfig,
    /// Code point of data packets and probes, 6 bits. They are ECN-capable.
    pub data_dscp: u8,
    /// Code point of ACK, SACK and NACK, 6 bits. They are not ECN-capable.
    pub control_dscp: u8,
    /// Entries of the event queue, a power of two.
    pub event_entries: u32,
}

/// The other end of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The peer's queue pair, 24 bits.
    pub qp: u32,
    /// The peer's address in each plane; the MAC is that of the next hop.
    pub planes: [PlaneAddress; PORTS],
}

/// WRITEs with immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImmConfig {
    /// Maximum number of WRITEs with immediate in flight in each direction of an MRC queue pair (MAX_WIMM), 1 to 1,024. Both ends agree on it; a card may have a smaller limit
    /// ([`Immediates`](crate::host::registers::Immediates)).
    pub max_wimm: u16,
    /// Arrivals make completions, in order. They are always counted.
    pub completions: bool,
}

impl ImmConfig {
    /// log2 of [`Self::stash_entries`].
    pub const fn log2_stash(&self) -> u8 {
        self.max_wimm.next_power_of_two().ilog2() as u8
    }

    /// Entries of the card's stash that an MRC queue pair needs. The card finds one by the low bits of the RQMSN, so they are a power of two.
    pub const fn stash_entries(&self) -> u32 {
        1 << self.log2_stash()
    }
}

/// Transport of a queue pair.
#[derive(Clone, Debug)]
pub enum TransportConfig {
    Mrc(MrcConfig),
    Rc(RcConfig),
}

impl TransportConfig {
    /// The transport's mode.
    pub const fn mode(&self) -> QpMode {
        match self {
            Self::Mrc(_) => QpMode::Mrc,
            Self::Rc(_) => QpMode::Rc,
        }
    }

    /// The path choice, if there is a choice.
    pub const fn spray(&self) -> Option<&SprayConfig> {
        match self {
            Self::Mrc(mrc) => Some(&mrc.spray),
            Self::Rc(rc) => rc.paths.as_ref(),
        }
    }
}

/// Configuration of a queue pair, which is ready to receive and send (verbs: RTS) once created.
#[derive(Clone, Debug)]
pub struct QpConfig {
    /// From 2 up to below the number of queue pairs of the card: 1,024, or more by its shape.
    pub number: u32,
    /// The doorbell page, and so the virtual device, that owns it.
    pub page: u32,
    pub peer: Peer,
    /// Protection domain, 20 bits.
    pub pd: u32,
    pub pkey: u16,
    /// log2 of the path MTU in bytes: 8 (256) to 13 (8,192).
    pub mtu_log2: u8,
    /// First PSN sent.
    pub sq_psn: Psn,
    /// First PSN expected: the peer's `sq_psn`.
    pub rq_psn: Psn,
    /// Accepts remote writes.
    pub remote_write: bool,
    /// Send queue in host memory; without one, the reference takes work requests one by one.
    pub sq: Option<SqRing>,
    /// Entries of the completion queue, a power of two.
    pub cq_entries: u32,
    pub imm: ImmConfig,
    /// Number of packets per SACK, for packets that do not request one, 1 to [`MAX_SACK_EVERY`] (MRC).
    pub sack_every: u8,
    /// Encapsulates its frames (H.Encaps.Red) in an outer header whose destination is the path. IPv6 only.
    pub srv6: Option<Srv6Template>,
    pub transport: TransportConfig,
}

/// A configuration that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    #[error("queue pair {0} exists already")]
    QpExists(u32),
    #[error("doorbell page {0} does not exist; a card has pages 0 to 65535")]
    Page(u32),
    #[error(
        "path MTU of 2^{0} bytes; use {MIN_LOG2} (256 B) to {MAX_LOG2} ({MAX_PAYLOAD} B), the receive lane's largest payload"
    )]
    Mtu(u8),
    #[error("{queue} queue of {entries} entries; use a power of two from 1 to 2^20")]
    QueueSize { queue: &'static str, entries: u32 },
    #[error("MAX_WIMM is {0}; use 1 to 1024")]
    MaxWimm(u16),
    #[error("{0} WRITEs with immediate in flight do not fit the rest of the card's stash; all its queue pairs together have {STASH_ENTRIES} entries, and each has a power of two of them")]
    NoStash(u16),
    #[error("a SACK for every {0} packets; use 1 to {MAX_SACK_EVERY}")]
    SackEvery(u8),
    #[error("{field} is {value:#x}; it must fit {width} bits")]
    Width {
        field: &'static str,
        value: u32,
        width: u32,
    },
    #[error("addresses of both IP versions: {0} and {1}; a card and its peers use one")]
    IpVersions(IpAddr, IpAddr),
    #[error("SRv6 encapsulation around IPv4 is not supported; give the planes IPv6 addresses")]
    Srv6OverIpv4,
    #[error("entropy value {0:#x} does not fit the UDP source port, all there is in IPv4; use a profile for IPv4")]
    EntropyWidth(u32),
    #[error(transparent)]
    Requester(#[from] RequesterConfigError),
    #[error(transparent)]
    Spray(#[from] SprayError),
    #[error(transparent)]
    Table(#[from] TableError),
}

fn check_width(field: &'static str, value: u32, width: u32) -> Result<(), ConfigError> {
    if value >> width == 0 {
        Ok(())
    } else {
        Err(ConfigError::Width {
            field,
            value,
            width,
        })
    }
}

fn check_ring(queue: &'static str, entries: u32) -> Result<(), ConfigError> {
    if entries.is_power_of_two() && entries <= 1 << 20 {
        Ok(())
    } else {
        Err(ConfigError::QueueSize { queue, entries })
    }
}

/// Checks that all addresses have the IP version of the first.
fn check_versions(first: IpAddr, planes: &[PlaneAddress]) -> Result<(), ConfigError> {
    match planes
        .iter()
        .find(|plane| plane.ip.is_ipv4() != first.is_ipv4())
    {
        Some(plane) => Err(ConfigError::IpVersions(first, plane.ip)),
        None => Ok(()),
    }
}

impl EndpointConfig {
    /// Checks the values that a type does not.
    ///
    /// # Errors
    /// [`ConfigError`], the first that is found.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_width("data_dscp", self.data_dscp.into(), 6)?;
        check_width("control_dscp", self.control_dscp.into(), 6)?;
        check_ring("event", self.event_entries)?;
        check_versions(self.planes[0].ip, &self.planes)
    }
}

impl QpConfig {
    /// Checks the values that a type does not, for a card with `local` addresses.
    ///
    /// # Errors
    /// [`ConfigError`], the first that is found. Number and protection domain are the tables' to check.
    pub fn check(&self, local: IpAddr) -> Result<(), ConfigError> {
        if self.page >= PAGES {
            return Err(ConfigError::Page(self.page));
        }
        if !(MIN_LOG2..=MAX_LOG2).contains(&self.mtu_log2) {
            return Err(ConfigError::Mtu(self.mtu_log2));
        }
        if !(1..=1024).contains(&self.imm.max_wimm) {
            return Err(ConfigError::MaxWimm(self.imm.max_wimm));
        }
        if !(1..=MAX_SACK_EVERY).contains(&self.sack_every) {
            return Err(ConfigError::SackEvery(self.sack_every));
        }
        check_width("peer.qp", self.peer.qp, 24)?;
        check_ring("completion", self.cq_entries)?;
        check_versions(local, &self.peer.planes)?;
        if self.srv6.is_some() && local.is_ipv4() {
            return Err(ConfigError::Srv6OverIpv4);
        }
        match &self.transport {
            TransportConfig::Rc(rc) => rc.check()?,
            TransportConfig::Mrc(mrc) => mrc.check()?,
        }
        if let Some(spray) = self.transport.spray() {
            spray.check()?;
            if local.is_ipv4() {
                check_entropy(spray)?;
            }
        }
        Ok(())
    }
}

/// Checks that IPv4 can carry every entropy value of a profile.
fn check_entropy(spray: &SprayConfig) -> Result<(), ConfigError> {
    let values = EvIndex::all().filter_map(|index| spray.profile.entropy(index, 0));
    match values
        .map(|entropy| entropy.0)
        .find(|&value| value > 0xffff)
    {
        Some(value) => Err(ConfigError::EntropyWidth(value)),
        None => Ok(()),
    }
}
