//! Memory mapped here and for the card.

use std::sync::atomic::Ordering;
use std::sync::Arc;

use vm_memory::{Bytes, MmapRegion, VolatileMemory};

/// Bytes of a mapping, whole pages of it. The card writes them at any time, so they are copied in and out by volatile and atomic
/// accesses. The callers check bounds.
pub struct Mapped {
    region: Arc<MmapRegion>,
    length: usize,
}

const INSIDE: &str = "the caller has checked the bounds";

impl Mapped {
    /// The first `length` bytes of a mapping.
    pub fn new(region: MmapRegion, length: usize) -> Self {
        let region = Arc::new(region);
        Self { region, length }
    }

    /// Bytes that count.
    pub const fn length(&self) -> usize {
        self.length
    }

    /// Bytes of the whole mapping.
    pub fn mapped(&self) -> usize {
        self.region.size()
    }

    /// Keeps the mapping for good: a card may still reach it.
    pub fn leak(&self) {
        std::mem::forget(Arc::clone(&self.region));
    }

    /// Copies out.
    pub fn load(&self, offset: usize, into: &mut [u8]) {
        let memory = self.region.as_volatile_slice();
        memory.read_slice(into, offset).expect(INSIDE);
    }

    /// Copies in.
    pub fn store(&self, offset: usize, bytes: &[u8]) {
        let memory = self.region.as_volatile_slice();
        memory.write_slice(bytes, offset).expect(INSIDE);
    }

    /// Eight bytes at a multiple of 8, in one piece and before what is read later.
    pub fn load_word(&self, offset: usize) -> u64 {
        let memory = self.region.as_volatile_slice();
        let word = memory.load::<u64>(offset, Ordering::Acquire);
        u64::from_le(word.expect(INSIDE))
    }
}
