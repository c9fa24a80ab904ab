//! Memory that the kernel pins and the IOMMU translates.

#![allow(unsafe_code)]

use std::sync::Mutex;

use pci_driver::device::PciDevice;
use pci_driver::regions::Permissions;
use rustix::mm::{MapFlags, ProtFlags};
use vm_memory::mmap::MmapRegionError;
use vm_memory::MmapRegion;

use super::function::Opened;
use crate::addresses::{BusAddresses, LARGE_PAGE};
use crate::device::DeviceError;
use crate::mapped::Reach;

/// Memory without a file (`asm-generic/mman-common.h`).
const MAP_ANONYMOUS: i32 = 0x20;

/// Anonymous memory. The kernel maps what is contiguous as large pages of the IOMMU, so memory of whole large pages is taken from the pool of huge pages
/// (`vm.nr_hugepages`). If that has too few, it has pages of 4 KiB, which is slower and nothing else.
fn anonymous(bytes: usize) -> Result<MmapRegion, MmapRegionError> {
    if bytes.is_multiple_of(LARGE_PAGE) {
        let access = (ProtFlags::READ | ProtFlags::WRITE).bits() as i32;
        let huge = MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_2MB;
        let flags = huge.bits() as i32 | MAP_ANONYMOUS;
        if let Ok(region) = MmapRegion::build(None, bytes, access, flags) {
            return Ok(region);
        }
    }
    MmapRegion::new(bytes)
}

impl Reach for Opened {
    fn addresses(&self) -> &Mutex<BusAddresses> {
        &self.addresses
    }

    /// Anonymous memory, in huge pages if it can be.
    fn map(&self, address: u64, bytes: usize) -> Result<MmapRegion, DeviceError> {
        let none = |reason: String| DeviceError::NoMemory { bytes, reason };
        let region = anonymous(bytes).map_err(|error| none(error.to_string()))?;
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

#[cfg(test)]
mod tests {
    use vm_memory::{Bytes, VolatileMemory};

    use super::*;

    /// Whether this system has huge pages or not.
    #[test]
    fn memory_of_any_length_is_zeroed_and_can_be_written() {
        for bytes in [4096, LARGE_PAGE, 2 * LARGE_PAGE, LARGE_PAGE + 4096] {
            let region = anonymous(bytes).unwrap();
            assert_eq!(region.size(), bytes);
            let memory = region.as_volatile_slice();
            let last = bytes - 8;
            assert_eq!(memory.read_obj::<u64>(last).unwrap(), 0);
            memory.write_obj(7_u64, last).unwrap();
            assert_eq!(memory.read_obj::<u64>(last).unwrap(), 7);
        }
    }
}
