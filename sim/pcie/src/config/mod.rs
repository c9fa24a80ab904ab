//! Configuration of a fabric. All times are picoseconds, all sizes bytes unless a name says otherwise.
//!
//! Latency defaults are plausible for Gen5 server platforms, not measured on one; set your own when they matter.

mod link;

use serde::{Deserialize, Serialize};

pub use link::{Generation, LinkConfig};

use crate::bdf::Bdf;
use crate::Picoseconds;

/// An address range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// First address.
    pub base: u64,
    /// Length in bytes.
    pub size: u64,
}

impl Window {
    /// Whether all `len` bytes at `address` are inside.
    pub fn contains(&self, address: u64, len: u64) -> bool {
        address >= self.base && len <= self.size && address - self.base <= self.size - len
    }

    /// Whether any address is in both ranges.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.base < other.base.saturating_add(other.size)
            && other.base < self.base.saturating_add(self.size)
    }
}

/// ACS controls of a switch downstream port (PCIe base specification, section 6.12). All off by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AcsConfig {
    /// Translation Blocking: refuse every request whose AT is not 00.
    pub translation_blocking: bool,
    /// P2P Request Redirect: peer requests go up to the root complex.
    pub request_redirect: bool,
    /// P2P Egress Control: peer requests to the functions in `egress_denied` are refused.
    pub egress_control: bool,
    /// Direct Translated P2P: AT = 10 goes straight to the peer whatever redirect and egress control say.
    pub direct_translated: bool,
    /// The egress control vector, as a list of peer functions.
    pub egress_denied: Vec<Bdf>,
}

/// A NIC endpoint behind a switch downstream port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NicConfig {
    /// Its function.
    pub bdf: Bdf,
    /// Index of the switch it is under. Default 0.
    #[serde(default)]
    pub switch: usize,
    /// Its link. Default Gen5 x8.
    #[serde(default)]
    pub link: LinkConfig,
    /// ACS controls of the switch port above it.
    #[serde(default)]
    pub acs: AcsConfig,
    /// Whether the IOMMU allows it translated requests (AT = 10); can be changed later. Default false.
    #[serde(default)]
    pub ats: bool,
}

impl NicConfig {
    /// A NIC under switch 0 with everything else default.
    pub fn new(bdf: Bdf) -> Self {
        Self {
            bdf,
            switch: 0,
            link: LinkConfig::default(),
            acs: AcsConfig::default(),
            ats: false,
        }
    }
}

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
}

impl Default for CompleterConfig {
    fn default() -> Self {
        Self {
            rcb: 64,
            max_completion: 256,
            latency_ps: 150_000,
        }
    }
}

/// A GPU behind a switch downstream port, whose memory is a BAR.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// Its function.
    pub bdf: Bdf,
    /// Its BAR: a power of two of at least 4 KiB, naturally aligned.
    pub bar: Window,
    /// Index of the switch it is under. Default 0.
    #[serde(default)]
    pub switch: usize,
    /// Its link. Default Gen5 x16.
    #[serde(default = "LinkConfig::gen5_x16")]
    pub link: LinkConfig,
    /// ACS controls of the switch port above it; they apply to requests of the GPU itself.
    #[serde(default)]
    pub acs: AcsConfig,
    /// How this device completes reads.
    #[serde(default)]
    pub completer: CompleterConfig,
}

impl GpuConfig {
    /// A GPU under switch 0 with everything else default.
    pub fn new(bdf: Bdf, bar: Window) -> Self {
        Self {
            bdf,
            bar,
            switch: 0,
            link: LinkConfig::gen5_x16(),
            acs: AcsConfig::default(),
            completer: CompleterConfig::default(),
        }
    }
}

/// A switch with one upstream port, which is connected to a root port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchConfig {
    /// Function of the upstream port; it is the completer of requests the switch refuses.
    pub bdf: Bdf,
    /// Link to the root port. Default Gen5 x16.
    #[serde(default = "LinkConfig::gen5_x16")]
    pub uplink: LinkConfig,
    /// Store-and-forward latency of the switch, on top of the links'. Default 100 ns.
    #[serde(default = "default_forward_latency")]
    pub latency_ps: Picoseconds,
}

fn default_forward_latency() -> Picoseconds {
    100_000
}

impl SwitchConfig {
    /// A switch with everything else default.
    pub fn new(bdf: Bdf) -> Self {
        Self {
            bdf,
            uplink: LinkConfig::gen5_x16(),
            latency_ps: default_forward_latency(),
        }
    }
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
    /// Completion of reads by host memory.
    pub completer: CompleterConfig,
}

impl Default for RootComplexConfig {
    fn default() -> Self {
        Self {
            bdf: Bdf::from_id(0),
            latency_ps: 100_000,
            peer_to_peer: true,
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

/// A whole fabric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FabricConfig {
    /// Switches; at least one.
    pub switches: Vec<SwitchConfig>,
    /// NIC endpoints; `PortId(n)` is the n-th.
    pub nics: Vec<NicConfig>,
    /// GPUs; `gpu(n)` is the n-th.
    pub gpus: Vec<GpuConfig>,
    /// Root complex.
    pub root_complex: RootComplexConfig,
    /// Host memory windows, multiples of 4 KiB.
    pub host_memory: Vec<Window>,
    /// IOMMU.
    pub iommu: IommuConfig,
    /// Keep a record of every range written to memory. Default false: it grows with the traffic.
    pub log_writes: bool,
    /// Refusal reports that may wait; further ones are counted and lost. Default 4,096.
    pub report_queue: usize,
}

impl Default for FabricConfig {
    fn default() -> Self {
        Self {
            switches: Vec::new(),
            nics: Vec::new(),
            gpus: Vec::new(),
            root_complex: RootComplexConfig::default(),
            host_memory: Vec::new(),
            iommu: IommuConfig::default(),
            log_writes: false,
            report_queue: 4096,
        }
    }
}
