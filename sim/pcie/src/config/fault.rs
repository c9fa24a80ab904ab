//! Faults to inject.

use serde::{Deserialize, Serialize};

use super::Window;
use crate::bdf::Bdf;
use crate::Picoseconds;

/// What goes wrong with a request. It is decided where the request leaves the switches: at the root complex, or at a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A read is completed with status Unsupported Request, a write is dropped.
    UnsupportedRequest,
    /// A read is completed with status Completer Abort, a write is dropped.
    CompleterAbort,
    /// The completions of a read are poisoned (EP bit); a write arrives poisoned, and the memory drops it.
    Poison,
    /// One of a read's completions, chosen by the seed, is never sent. Only for reads.
    LostCompletion,
    /// The data of a read's completions are damaged behind the link, in a buffer of the requester's PCIe block, which marks them so (discontinue, PG346). No LCRC
    /// covers this place, and the card has no ECRC. Only for reads.
    Corruption,
    /// A read is answered so many picoseconds later; reads behind it are not. Only for reads.
    LateCompletion(Picoseconds),
    /// The IOMMU treats the address as not mapped. Only for requests that reach the root complex.
    IommuFault,
}

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestKind {
    /// Memory reads.
    Read,
    /// Memory writes.
    Write,
}

/// Which requests have a fault. What is left out matches everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// The fault.
    pub fault: FaultKind,
    /// Requester of the requests.
    #[serde(default)]
    pub requester: Option<Bdf>,
    /// Addresses that hold the first byte of the requests, as the requester writes them.
    #[serde(default)]
    pub window: Option<Window>,
    /// Reads or writes.
    #[serde(default)]
    pub only: Option<RequestKind>,
    /// How many of a million matching requests have the fault, chosen by the seed. Default all.
    #[serde(default = "all")]
    pub per_million: u32,
    /// Matching requests that pass before the first fault. Default 0.
    #[serde(default)]
    pub skip: u64,
    /// Most faults of this rule. Default no limit.
    #[serde(default)]
    pub count: Option<u64>,
}

/// A million of a million.
const fn all() -> u32 {
    1_000_000
}

impl FaultRule {
    /// A rule for every request.
    pub const fn new(fault: FaultKind) -> Self {
        Self {
            fault,
            requester: None,
            window: None,
            only: None,
            per_million: all(),
            skip: 0,
            count: None,
        }
    }
}
