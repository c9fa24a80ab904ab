//! Memory that is mapped both into this process and for the card.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use vm_memory::{Bytes, MmapRegion, VolatileMemory};

use crate::addresses::{mapped_length, BusAddresses};
use crate::card::lock;
use crate::device::{DeviceError, DmaMemory};

const INSIDE: &str = "the caller has checked the bounds";

/// How memory of this process is mapped for the card and unmapped.
pub trait Reach: Send + Sync {
    /// Bus addresses that are free.
    fn addresses(&self) -> &Mutex<BusAddresses>;

    /// Allocates `bytes` bytes of zeroed memory in whole pages, and maps them for the card from `address` on. If they are whole pages of [`LARGE_PAGE`](crate::addresses::LARGE_PAGE), the
    /// memory has such pages where the system can give them.
    ///
    /// # Errors
    /// The reason why that failed. In that case the card has no access to these addresses.
    fn map(&self, address: u64, bytes: usize) -> Result<MmapRegion, DeviceError>;

    /// Unmaps it for the card; `false` if the card may still reach it.
    fn unmap(&self, address: u64, bytes: usize) -> bool;
}

/// Memory of a back end that runs in another process or on a real card. The card writes its bytes at any time, so they are copied in and
/// out by volatile and atomic accesses.
pub struct MappedMemory<R: Reach> {
    reach: Arc<R>,
    region: Arc<MmapRegion>,
    address: u64,
    /// Number of bytes that were requested.
    length: usize,
}

impl<R: Reach> MappedMemory<R> {
    /// Zeroed memory of at least `bytes` bytes.
    ///
    /// # Errors
    /// [`DeviceError::NoMemory`], and the back end's.
    pub fn new(reach: Arc<R>, bytes: usize) -> Result<Self, DeviceError> {
        let none = |reason: &str| DeviceError::NoMemory {
            bytes,
            reason: reason.to_owned(),
        };
        let mapped = mapped_length(bytes).ok_or_else(|| none("no such length"))?;
        let address = lock(reach.addresses()).take(mapped);
        let address =
            address.ok_or_else(|| none("no bus addresses are left; open the card anew"))?;
        let region = Arc::new(reach.map(address, mapped)?);
        Ok(Self {
            reach,
            region,
            address,
            length: bytes,
        })
    }
}

impl<R: Reach> DmaMemory for MappedMemory<R> {
    fn address(&self) -> u64 {
        self.address
    }

    fn length(&self) -> usize {
        self.length
    }

    fn load(&self, offset: usize, into: &mut [u8]) {
        let memory = self.region.as_volatile_slice();
        memory.read_slice(into, offset).expect(INSIDE);
    }

    fn store(&self, offset: usize, bytes: &[u8]) {
        // A later register write orders this: by a fence (VFIO), or by the message that carries it (vfio-user).
        let memory = self.region.as_volatile_slice();
        memory.write_slice(bytes, offset).expect(INSIDE);
    }

    fn load_word(&self, offset: usize) -> u64 {
        let memory = self.region.as_volatile_slice();
        let word = memory.load::<u64>(offset, Ordering::Acquire);
        u64::from_le(word.expect(INSIDE))
    }
}

impl<R: Reach> Drop for MappedMemory<R> {
    /// Memory that the card may still reach stays mapped in this process for good.
    fn drop(&mut self) {
        if !self.reach.unmap(self.address, self.region.size()) {
            std::mem::forget(Arc::clone(&self.region));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A card that reaches everything, and releases it or not.
    struct Everything {
        addresses: Mutex<BusAddresses>,
        mapped: Mutex<Vec<(u64, usize)>>,
        lets_go: bool,
    }

    impl Reach for Everything {
        fn addresses(&self) -> &Mutex<BusAddresses> {
            &self.addresses
        }

        fn map(&self, address: u64, bytes: usize) -> Result<MmapRegion, DeviceError> {
            lock(&self.mapped).push((address, bytes));
            Ok(MmapRegion::new(bytes).unwrap())
        }

        fn unmap(&self, address: u64, bytes: usize) -> bool {
            lock(&self.mapped).retain(|other| *other != (address, bytes));
            self.lets_go
        }
    }

    fn card(lets_go: bool) -> Arc<Everything> {
        Arc::new(Everything {
            addresses: Mutex::new(BusAddresses::below(1 << 39)),
            mapped: Mutex::default(),
            lets_go,
        })
    }

    #[test]
    fn bytes_go_in_and_out_up_to_the_last() {
        let card = card(true);
        let memory = MappedMemory::new(Arc::clone(&card), 5000).unwrap();
        assert_eq!(
            (memory.address(), memory.length()),
            (BusAddresses::FIRST, 5000)
        );
        assert_eq!(*lock(&card.mapped), [(BusAddresses::FIRST, 8192)]);
        memory.store(4992, &0x1122_3344_5566_7788_u64.to_le_bytes());
        assert_eq!(memory.load_word(4992), 0x1122_3344_5566_7788);
        let mut last = [0; 2];
        memory.load(4998, &mut last);
        assert_eq!(last, [0x22, 0x11]);
        drop(memory);
        assert!(lock(&card.mapped).is_empty());
    }

    #[test]
    fn memory_goes_only_when_the_card_has_let_go() {
        for lets_go in [true, false] {
            let memory = MappedMemory::new(card(lets_go), 1).unwrap();
            let region = Arc::downgrade(&memory.region);
            drop(memory);
            assert_eq!(region.upgrade().is_none(), lets_go);
        }
    }

    #[test]
    fn what_cannot_be_is_said() {
        let said = |bytes| {
            MappedMemory::new(card(true), bytes)
                .err()
                .unwrap()
                .to_string()
        };
        assert!(said(usize::MAX).contains("no such length"));
        assert!(said(1 << 40).contains("no bus addresses are left"));
    }
}
