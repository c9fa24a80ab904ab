//! Memory that the kernel pins and the IOMMU translates.

#![allow(unsafe_code)]

use std::sync::Mutex;

use pci_driver::device::PciDevice;
use pci_driver::regions::Permissions;
use vm_memory::MmapRegion;

use super::function::Opened;
use crate::addresses::BusAddresses;
use crate::device::DeviceError;
use crate::mapped::Reach;

impl Reach for Opened {
    fn addresses(&self) -> &Mutex<BusAddresses> {
        &self.addresses
    }

    /// Anonymous memory.
    fn map(&self, address: u64, bytes: usize) -> Result<MmapRegion, DeviceError> {
        let none = |reason: String| DeviceError::NoMemory { bytes, reason };
        let region = MmapRegion::new(bytes).map_err(|error| none(error.to_string()))?;
        let (place, permissions) = (region.as_ptr(), Permissions::ReadWrite);
        // SAFETY: the card reaches only these pages. The caller keeps them mapped in this process until `unmap` has returned, and the IOMMU has then
        // released them (`MappedMemory`). The caller accesses them only by volatile and atomic copies, so writes of the card in the meantime
        // invalidate no reference.
        let pinned = unsafe { self.device.iommu().map(address, bytes, place, permissions) };
        pinned.map_err(|error| none(error.to_string()))?;
        Ok(region)
    }

    /// Unmaps the memory. A later access of the card to it fails at the IOMMU.
    fn unmap(&self, address: u64, bytes: usize) -> bool {
        self.device.iommu().unmap(address, bytes).is_ok()
    }
}
