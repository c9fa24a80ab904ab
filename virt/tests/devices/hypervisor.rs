//! The hypervisor and the IOMMU of a test host.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stellar_virt::pvdma::{GuestId, IoMap, Piece, Pinning, PlatformError, BLOCK};
use vm_memory::GuestMemoryMmap;

/// The operations of a host's IOMMU on a block.
pub trait Iommu: Send {
    fn map(&mut self, iova: u64, memory: &Arc<GuestMemoryMmap>, guest_address: u64);
    fn unmap(&mut self, iova: u64);
}

/// An IOMMU without a device.
pub struct NoIommu;

impl Iommu for NoIommu {
    fn map(&mut self, _iova: u64, _memory: &Arc<GuestMemoryMmap>, _guest_address: u64) {}
    fn unmap(&mut self, _iova: u64) {}
}

/// The pinned and mapped blocks.
#[derive(Default)]
pub struct Held {
    pub pinned: BTreeMap<(GuestId, u64), u32>,
    pub mapped: BTreeMap<u64, u64>,
    pub memories: BTreeMap<GuestId, Arc<GuestMemoryMmap>>,
}

/// The hypervisor of a host. The host physical address of a guest's byte has the guest's number in its high half.
#[derive(Clone)]
pub struct Hypervisor(pub Arc<Mutex<(Held, Box<dyn Iommu>)>>);

impl Hypervisor {
    pub fn lock(&self) -> MutexGuard<'_, (Held, Box<dyn Iommu>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn blocks_pinned(&self) -> usize {
        self.lock().0.pinned.len()
    }

    pub fn blocks_mapped(&self) -> usize {
        self.lock().0.mapped.len()
    }
}

impl Pinning for Hypervisor {
    fn pin(&mut self, guest: GuestId, address: u64) -> Result<Vec<Piece>, PlatformError> {
        let pins = &mut self.lock().0.pinned;
        assert_eq!(pins.insert((guest, address), 1), None, "pinned twice");
        let host = u64::from(guest.0) << 32 | address;
        Ok(vec![Piece {
            offset: 0,
            length: BLOCK,
            host,
        }])
    }

    fn unpin(&mut self, guest: GuestId, address: u64) {
        let pins = &mut self.lock().0.pinned;
        assert!(pins.remove(&(guest, address)).is_some(), "unpinned twice");
    }
}

impl IoMap for Hypervisor {
    fn map(&mut self, iova: u64, pieces: &[Piece]) -> Result<(), PlatformError> {
        let host = pieces[0].host;
        let (held, iommu) = &mut *self.lock();
        assert_eq!(held.mapped.insert(iova, host), None, "mapped twice");
        let guest = GuestId((host >> 32) as u32);
        let memory = &held.memories[&guest];
        iommu.map(iova, memory, host & u64::from(u32::MAX));
        Ok(())
    }

    fn unmap(&mut self, iova: u64, _pieces: &[Piece]) -> Result<(), PlatformError> {
        let (held, iommu) = &mut *self.lock();
        assert!(held.mapped.remove(&iova).is_some(), "unmapped twice");
        iommu.unmap(iova);
        Ok(())
    }
}
