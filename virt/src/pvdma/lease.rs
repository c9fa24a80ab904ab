//! What keeps guest memory mapped.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::cache::Cache;
use super::lock;
use super::range::GuestId;

/// Guest memory that is pinned and mapped as long as this lives. Whoever lets a device use it drops this only when the device has let go.
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

    /// Where devices reach the first byte that was asked for; the rest follows.
    pub const fn iova(&self) -> u64 {
        self.iova
    }

    /// Bytes that were asked for.
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
    /// Failures while idle blocks are taken back are counted; those blocks stay pinned.
    fn drop(&mut self) {
        lock(&self.cache).release(self.guest, self.blocks.clone());
    }
}
