//! Traffic counters, refusals and the log of writes.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::bdf::Bdf;
use crate::iommu::FaultReason;
use crate::tlp_check::Malformed;
use crate::Picoseconds;
use stellar_wire::pcie::AddressType;

/// The route of a request to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Route {
    /// Through one switch to a peer's BAR, never above it.
    PeerDirect,
    /// Up to the root complex and into host memory.
    Host,
    /// Up to the root complex and back down to a BAR.
    Hairpin,
}

/// The memory that a request reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Host memory.
    Host,
    /// BAR memory of the GPU with this index.
    Gpu(usize),
}

/// Why a TLP was dropped. A refused read is answered with an Unsupported Request completion, unless it is malformed: then its header cannot be
/// trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum Refusal {
    /// ACS violation: Translation Blocking.
    #[error("ACS translation blocking")]
    AcsTranslationBlocking,
    /// ACS violation: P2P Egress Control.
    #[error("ACS egress control")]
    AcsEgressControl,
    /// The IOMMU refused it.
    #[error("IOMMU: {0}")]
    Iommu(FaultReason),
    /// No memory and no BAR at the address.
    #[error("no memory or BAR at the address")]
    Unmapped,
    /// A translation request, or a reserved address type, at a device that supports neither.
    #[error("device serves no requests of this address type")]
    UnsupportedAddressType,
    /// The root complex sends no requests back down.
    #[error("root complex does not route between peers")]
    PeerToPeerUnsupported,
    /// A completion whose requester is not in this fabric, or has no such request outstanding.
    #[error("completion without a requester")]
    UnexpectedCompletion,
    /// The receiver of a link found it malformed.
    #[error("malformed: {0}")]
    Malformed(Malformed),
}

/// Where a TLP was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// Switch with this index.
    Switch(usize),
    /// The root complex.
    RootComplex,
    /// The NIC or GPU with this function.
    Device(Bdf),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(index) => write!(f, "switch {index}"),
            Self::RootComplex => write!(f, "root complex"),
            Self::Device(bdf) => write!(f, "device {bdf}"),
        }
    }
}

/// One refused TLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// When.
    pub time: Picoseconds,
    /// Where it was refused.
    pub location: Location,
    /// Requester ID in the TLP.
    pub requester: Bdf,
    /// Address in the TLP; `None` for a completion.
    pub address: Option<u64>,
    /// AT field; `None` for a completion.
    pub at: Option<AddressType>,
    /// Bytes it addressed.
    pub bytes: u64,
    /// The reason.
    pub refusal: Refusal,
}

/// A number of TLPs and of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// TLPs.
    pub tlps: u64,
    /// Bytes written or requested (enabled bytes only).
    pub bytes: u64,
}

impl Traffic {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.tlps += 1;
        self.bytes += bytes;
    }
}

/// Traffic of the whole fabric, by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    writes: BTreeMap<Route, Traffic>,
    reads: BTreeMap<Route, Traffic>,
    refused: BTreeMap<Refusal, Traffic>,
}

impl Counters {
    /// Writes that reached memory by `route`.
    pub fn writes(&self, route: Route) -> Traffic {
        self.writes.get(&route).copied().unwrap_or_default()
    }

    /// Read requests that reached memory by `route`.
    pub fn reads(&self, route: Route) -> Traffic {
        self.reads.get(&route).copied().unwrap_or_default()
    }

    /// TLPs refused for `reason`.
    pub fn refused(&self, reason: Refusal) -> Traffic {
        self.refused.get(&reason).copied().unwrap_or_default()
    }

    /// All refusals that happened, by reason.
    pub fn refusals(&self) -> impl Iterator<Item = (Refusal, Traffic)> + '_ {
        self.refused
            .iter()
            .map(|(reason, traffic)| (*reason, *traffic))
    }

    pub(crate) fn count_write(&mut self, route: Route, bytes: u64) {
        self.writes.entry(route).or_default().add(bytes);
    }

    pub(crate) fn count_read(&mut self, route: Route, bytes: u64) {
        self.reads.entry(route).or_default().add(bytes);
    }

    pub(crate) fn count_refused(&mut self, reason: Refusal, bytes: u64) {
        self.refused.entry(reason).or_default().add(bytes);
    }
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// TLPs sent.
    pub tlps: u64,
    /// Payload bytes sent.
    pub payload_bytes: u64,
    /// Bytes sent with headers, framing and LCRC.
    pub wire_bytes: u64,
    /// Time spent sending.
    pub busy_ps: Picoseconds,
}

/// A contiguous range written to memory by one TLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedWrite {
    /// When it took effect.
    pub time: Picoseconds,
    /// The function that wrote.
    pub requester: Bdf,
    /// The route it took.
    pub route: Route,
    /// The memory.
    pub target: Target,
    /// First address: physical for host memory, the offset into the BAR for a GPU.
    pub address: u64,
    /// Length in bytes.
    pub len: u64,
}
