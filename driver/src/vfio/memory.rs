//! Memory that the kernel pins and the IOMMU translates.

#![allow(unsafe_code)]

use std::sync::Arc;

use pci_driver::device::PciDevice;
use pci_driver::regions::Permissions;
use vm_memory::MmapRegion;

use super::function::Opened;
use crate::card::lock;
use crate::device::{DeviceError, DmaMemory};
use crate::mapped::Mapped;

/// Bytes that are mapped for the card at least.
const PAGE: usize = 4096;

/// Anonymous memory, mapped for the card.
pub struct PinnedMemory {
    opened: Arc<Opened>,
    memory: Mapped,
    address: u64,
}

impl PinnedMemory {
    /// Zeroed memory of at least `bytes` bytes.
    pub fn new(opened: &Arc<Opened>, bytes: usize) -> Result<Self, DeviceError> {
        let none = |reason: String| DeviceError::NoMemory { bytes, reason };
        let mapped = bytes
            .checked_next_multiple_of(PAGE)
            .ok_or_else(|| none("no such length".to_owned()))?;
        let address = lock(&opened.addresses)
            .take(mapped)
            .ok_or_else(|| none("no bus addresses are left; open the card anew".to_owned()))?;
        let region = MmapRegion::new(mapped).map_err(|error| none(error.to_string()))?;
        let permissions = Permissions::ReadWrite;
        // SAFETY: the card reaches these pages and no others. They are mapped here until after the IOMMU has let go of them (`drop`), and are
        // only accessed by volatile and atomic copies, so what the card writes meanwhile breaks no reference.
        let pinned = unsafe {
            let iommu = opened.device.iommu();
            iommu.map(address, mapped, region.as_ptr(), permissions)
        };
        pinned.map_err(|error| none(error.to_string()))?;
        Ok(Self {
            opened: Arc::clone(opened),
            memory: Mapped::new(region, bytes),
            address,
        })
    }
}

impl DmaMemory for PinnedMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn length(&self) -> usize {
        self.memory.length()
    }

    fn load(&self, offset: usize, into: &mut [u8]) {
        self.memory.load(offset, into);
    }

    fn store(&self, offset: usize, bytes: &[u8]) {
        self.memory.store(offset, bytes);
    }

    fn load_word(&self, offset: usize) -> u64 {
        self.memory.load_word(offset)
    }
}

impl Drop for PinnedMemory {
    /// The card's next access fails at the IOMMU.
    fn drop(&mut self) {
        let (address, bytes) = (self.address, self.memory.mapped());
        if self.opened.device.iommu().unmap(address, bytes).is_err() {
            // The card may still reach the pages, so they stay.
            self.memory.leak();
        }
    }
}
