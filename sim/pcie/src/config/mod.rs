//! Configuration of a fabric. All times are picoseconds, all sizes bytes unless a name says otherwise.
//!
//! Latency defaults are plausible for Gen5 server platforms, not measured on one; set your own when they matter.

mod delay;
mod device;
mod error;
mod fault;
mod file;
mod host;
mod link;

use serde::{Deserialize, Serialize};

pub use delay::DelayConfig;
pub use device::{AcsConfig, GpuConfig, NicConfig, SwitchConfig};
pub use error::ConfigError;
pub use fault::{FaultKind, FaultRule, RequestKind};
pub use file::ConfigFileError;
pub use host::{CompleterConfig, IommuConfig, IommuMode, PeerWrites, RootComplexConfig};
pub use link::{CreditConfig, Generation, LinkConfig};

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
    /// Host memory windows, multiples of 4 KiB. A caller that brings its own memory ([`crate::Memories`]) leaves them empty.
    pub host_memory: Vec<Window>,
    /// IOMMU.
    pub iommu: IommuConfig,
    /// Faults to inject. The rules are tried in order until one gives a request its fault.
    pub faults: Vec<FaultRule>,
    /// Seed of every random choice: delays, order of completions, faults. Default 0.
    pub seed: u64,
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
            faults: Vec::new(),
            seed: 0,
            log_writes: false,
            report_queue: 4096,
        }
    }
}
