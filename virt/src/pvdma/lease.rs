//! Leases, which keep guest memory mapped.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::cache::Cache;
use super::lock;
use super::range::GuestId;

/// Guest memory that is pinned and mapped while this object lives. Code that lets a device use the memory must drop the lease only after the device
/// has stopped using it.
pub struct Lease {
    cache: Arc<Mutex<Cache>>,
    guest: GuestId,
    blocks: Range<u64>,
    iova: u64,
    length: u64,
}

impl Lease {
    pub(super) fn new(
        cache: Arc<Mutex<Cache>>,
        guest: GuestId,
        blocks: Range<u64>,
        iova: u64,
        length: u64,
    ) -> Self {
        Self {
            cache,
            guest,
            blocks,
            iova,
            length,
        }
    }

    /// The address at which devices reach the first byte of the lease; the rest follows.
    pub const fn iova(&self) -> u64 {
        self.iova
    }

    /// Length of the lease in bytes.
    pub const fn length(&self) -> u64 {
        self.length
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { iova, length, .. } = self;
        write!(f, "Lease({length:#x} bytes at {iova:#x})")
    }
}

impl Drop for Lease {
    /// Failures of evicting idle blocks are counted; those blocks stay pinned.
    fn drop(&mut self) {
        lock(&self.cache).release(self.guest, self.blocks.clone());
    }
}
