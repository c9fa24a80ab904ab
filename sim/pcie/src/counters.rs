//! Traffic counters, refusals and the log of writes.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::bdf::Bdf;
use crate::config::RequestKind;
use crate::iommu::FaultReason;
use crate::tlp_check::Malformed;
use crate::Picoseconds;
use stellar_wire::host::config_space::aer::HeaderLog;
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

/// Why a TLP was dropped, or what else went wrong with it. A refused read is answered with an Unsupported Request completion, unless it is
/// malformed: then its header cannot be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum Refusal {
    /// ACS violation: Source Validation.
    #[error("ACS source validation")]
    AcsSourceValidation,
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
    /// A message of ATS whose receiver is not in this fabric, or is no NIC.
    #[error("message without a receiver")]
    UnexpectedMessage,
    /// The link that it has to take is down, or went down while it was on it or waited for it.
    #[error("link is down")]
    LinkDown,
    /// A function-level reset discarded it before it left the function.
    #[error("discarded by a function-level reset")]
    FunctionReset,
    /// A read did not get all of its completions in time.
    #[error("completion timeout")]
    CompletionTimeout,
    /// An injected fault: Unsupported Request.
    #[error("injected: unsupported request")]
    UnsupportedRequest,
    /// An injected fault: Completer Abort.
    #[error("injected: completer abort")]
    CompleterAbort,
    /// An injected fault: a poisoned write, which memory drops, or a read with poisoned completions.
    #[error("injected: poisoned")]
    Poisoned,
    /// An injected fault: a read of which a completion is never sent.
    #[error("injected: lost completion")]
    LostCompletion,
    /// An injected fault: a read whose data the requester's PCIe block damages.
    #[error("injected: corruption in the requester's PCIe block")]
    Corrupted,
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
    /// Read or write; `None` for a completion.
    pub kind: Option<RequestKind>,
    /// Address that the requester wrote; `None` for a completion.
    pub address: Option<u64>,
    /// AT that the requester wrote; `None` for a completion.
    pub at: Option<AddressType>,
    /// Bytes it addressed.
    pub bytes: u64,
    /// Its header; of a completion that did not come there is none.
    pub header: HeaderLog,
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

/// Requests that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow {
    /// The function that sent them.
    pub requester: Bdf,
    /// Their route.
    pub route: Route,
    /// Whether they had AT = 10 when they were sent.
    pub is_translated: bool,
}

/// Traffic of the whole fabric, by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    writes: BTreeMap<Flow, Traffic>,
    reads: BTreeMap<Flow, Traffic>,
    refused: BTreeMap<Refusal, Traffic>,
}

impl Counters {
    /// Writes that reached memory by `route`.
    pub fn writes(&self, route: Route) -> Traffic {
        total(&self.writes, route)
    }

    /// Read requests that reached memory by `route`.
    pub fn reads(&self, route: Route) -> Traffic {
        total(&self.reads, route)
    }

    /// All writes that reached memory, by requester, route and address type.
    pub fn write_flows(&self) -> impl Iterator<Item = (Flow, Traffic)> + '_ {
        self.writes.iter().map(|(&flow, &traffic)| (flow, traffic))
    }

    /// All reads that reached memory, by requester, route and address type.
    pub fn read_flows(&self) -> impl Iterator<Item = (Flow, Traffic)> + '_ {
        self.reads.iter().map(|(&flow, &traffic)| (flow, traffic))
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

    pub(crate) fn count_write(&mut self, flow: Flow, bytes: u64) {
        self.writes.entry(flow).or_default().add(bytes);
    }

    pub(crate) fn count_read(&mut self, flow: Flow, bytes: u64) {
        self.reads.entry(flow).or_default().add(bytes);
    }

    pub(crate) fn count_refused(&mut self, reason: Refusal, bytes: u64) {
        self.refused.entry(reason).or_default().add(bytes);
    }
}

fn total(flows: &BTreeMap<Flow, Traffic>, route: Route) -> Traffic {
    let same = flows.iter().filter(|(flow, _)| flow.route == route);
    same.fold(Traffic::default(), |sum, (_, traffic)| Traffic {
        tlps: sum.tlps + traffic.tlps,
        bytes: sum.bytes + traffic.bytes,
    })
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
