//! Building a fabric step by step.

use crate::config::{
    ConfigError, FabricConfig, GpuConfig, IommuConfig, NicConfig, RootComplexConfig, SwitchConfig,
    Window,
};
use crate::fabric::Fabric;

/// Collects a [`FabricConfig`] and builds the fabric.
#[derive(Clone, Debug, Default)]
pub struct FabricBuilder {
    config: FabricConfig,
}

impl FabricBuilder {
    /// A fabric of only a root complex, without memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a switch; the first has index 0.
    pub fn switch(mut self, switch: SwitchConfig) -> Self {
        self.config.switches.push(switch);
        self
    }

    /// Adds a NIC endpoint; the first is `PortId(0)`.
    pub fn nic(mut self, nic: NicConfig) -> Self {
        self.config.nics.push(nic);
        self
    }

    /// Adds a GPU; the first has index 0.
    pub fn gpu(mut self, gpu: GpuConfig) -> Self {
        self.config.gpus.push(gpu);
        self
    }

    /// Adds `size` bytes of host memory at physical address `base`.
    pub fn host_memory(mut self, base: u64, size: u64) -> Self {
        self.config.host_memory.push(Window { base, size });
        self
    }

    /// Configures the root complex.
    pub fn root_complex(mut self, root_complex: RootComplexConfig) -> Self {
        self.config.root_complex = root_complex;
        self
    }

    /// Configures the IOMMU.
    pub fn iommu(mut self, iommu: IommuConfig) -> Self {
        self.config.iommu = iommu;
        self
    }

    /// Keeps a record of every range that is written to memory.
    pub fn log_writes(mut self) -> Self {
        self.config.log_writes = true;
        self
    }

    /// Checks everything and builds the fabric.
    pub fn build(self) -> Result<Fabric, ConfigError> {
        Fabric::new(self.config)
    }
}
