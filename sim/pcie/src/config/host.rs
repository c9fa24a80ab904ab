//! Root complex, IOMMU and the completers of memory.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::DelayConfig;
use crate::bdf::Bdf;
use crate::Picoseconds;

/// Completion of reads by a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompleterConfig {
    /// Read completion boundary: 64 or 128. Default 64.
    pub rcb: usize,
    /// Largest completion payload, a power of two and at least the RCB; the link's maximum payload size caps it.
    /// Default 256.
    pub max_completion: usize,
    /// Time from a request's arrival to its effect in memory, and to its first completion if it is a read.
    /// Default 150 ns.
    pub latency_ps: Picoseconds,
    /// Extra time until a posted write is visible to the memory's own processor and to reads. Writes that came by one port become visible in their
    /// order, and a read that came behind them waits for them. Default none.
    pub posted_delay: DelayConfig,
    /// Extra time of each read. A read of one tag overtakes one of another tag by it. Default none.
    pub read_delay: DelayConfig,
    /// Whether the completions of reads that are being answered alternate at random. Those of one tag stay in order. Default false.
    pub interleave: bool,
    /// Reads that it answers at the same time for one port; further ones wait in the port's buffer. Default 256.
    pub outstanding_reads: usize,
}

impl Default for CompleterConfig {
    fn default() -> Self {
        Self {
            rcb: 64,
            max_completion: 256,
            latency_ps: 150_000,
            posted_delay: DelayConfig::default(),
            read_delay: DelayConfig::default(),
            interleave: false,
            outstanding_reads: 256,
        }
    }
}

/// How a root complex forwards writes from one device to another. Its path between root ports is built for the few accesses of processors to devices: it
/// has few places for writes, and each is taken until the write has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerWrites {
    /// Writes on their way between root ports at the same time.
    pub in_flight: NonZeroUsize,
    /// Time of each, instead of the root complex's latency.
    pub latency_ps: Picoseconds,
}

/// Root complex and host memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RootComplexConfig {
    /// Function that completes reads of host memory. Default 00:00.0.
    pub bdf: Bdf,
    /// Time to route a TLP between root ports, on top of translation. Default 100 ns.
    pub latency_ps: Picoseconds,
    /// Whether requests may be sent back down to a BAR. Default true; some root complexes refuse.
    pub peer_to_peer: bool,
    /// Limit of the writes that are sent back down to a BAR. Default none: they are forwarded as fast as the links carry them.
    pub peer_writes: Option<PeerWrites>,
    /// Completion of reads by host memory.
    pub completer: CompleterConfig,
}

impl Default for RootComplexConfig {
    fn default() -> Self {
        Self {
            bdf: Bdf::from_id(0),
            latency_ps: 100_000,
            peer_to_peer: true,
            peer_writes: None,
            completer: CompleterConfig::default(),
        }
    }
}

/// Whether the IOMMU translates at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IommuMode {
    /// Untranslated addresses are host physical addresses. Translated requests still need permission.
    Bypass,
    /// Every function needs a domain (or its own bypass).
    Translate,
}

/// IOMMU and IOTLB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IommuConfig {
    /// Default translate.
    pub mode: IommuMode,
    /// IOTLB sets. Default 64.
    pub iotlb_sets: usize,
    /// IOTLB lines per set. Default 8.
    pub iotlb_ways: usize,
    /// Duration of a page walk after an IOTLB miss. Default 400 ns.
    pub walk_latency_ps: Picoseconds,
    /// Page walks that run at the same time. Default 8.
    pub walkers: usize,
    /// Fault reports that may wait; further ones are counted and lost. Default 256.
    pub fault_queue: usize,
}

impl Default for IommuConfig {
    fn default() -> Self {
        Self {
            mode: IommuMode::Translate,
            iotlb_sets: 64,
            iotlb_ways: 8,
            walk_latency_ps: 400_000,
            walkers: 8,
            fault_queue: 256,
        }
    }
}
