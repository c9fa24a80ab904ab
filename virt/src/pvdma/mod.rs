//! PVDMA (STELLAR, section 5): guest memory is pinned and mapped for DMA when it is first used, not when the guest starts.
//!
//! The unit is a block of 2 MiB. Users of a block are counted. An idle block stays mapped for the next user (the map cache) until [`Limits`] or
//! [`Pvdma::evict`] remove it. The service uses three small traits for the hypervisor, the IOMMU and the devices: [`Pinning`], [`IoMap`] and
//! [`Fence`].
//!
//! A block is evicted only while it has no [`Lease`], and only in this order: the devices confirm that no access to it is in flight (fence), the
//! IOMMU unmaps it, the hypervisor unpins it. If a step fails, the block stays pinned.

mod cache;
mod error;
mod lease;
mod platform;
mod range;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cache::Cache;
pub use error::PvdmaError;
pub use lease::Lease;
pub use platform::{Fence, IoMap, Piece, Pinning, PlatformError};
pub use range::{GuestId, Window, BLOCK};

/// Limits of pinned memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pinned blocks of all guests together.
    pub most_blocks: usize,
    /// Idle blocks among them. If there are more, the one that was unused longest is evicted. With 0, a block is evicted when its last user leaves.
    pub most_idle: usize,
}

impl Default for Limits {
    /// Returns default limits: 1.6 TB in total, of which 2 GiB may be idle.
    fn default() -> Self {
        Self {
            most_blocks: 800_000,
            most_idle: 1024,
        }
    }
}

/// Counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Blocks that were found mapped.
    pub hits: u64,
    /// Blocks that had to be pinned and mapped.
    pub misses: u64,
    /// Blocks that were unmapped and unpinned.
    pub evicted: u64,
    /// Fences requested from the devices.
    pub fences: u64,
    /// Times that the IOMMU or a fence failed during eviction; the blocks stayed pinned.
    pub failures: u64,
}

/// Number of pinned blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of blocks.
    pub blocks: usize,
    /// Idle blocks.
    pub idle: usize,
}

/// The service. Clones are handles of the same service.
#[derive(Clone)]
pub struct Pvdma(Arc<Mutex<Cache>>);

/// Locks the cache, even if a thread panicked with the lock: the cache is consistent at every statement that can panic.
fn lock(cache: &Mutex<Cache>) -> MutexGuard<'_, Cache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pvdma {
    /// A service without guests.
    pub fn new(
        limits: Limits,
        pinning: Box<dyn Pinning>,
        iommu: Box<dyn IoMap>,
        fence: Box<dyn Fence>,
    ) -> Self {
        let cache = Cache::new(limits, pinning, iommu, fence);
        Self(Arc::new(Mutex::new(cache)))
    }

    /// Adds a guest. Devices will reach its address `a` at `window.base + a`.
    ///
    /// # Errors
    /// [`PvdmaError::GuestExists`], [`PvdmaError::Window`].
    pub fn add_guest(&self, guest: GuestId, window: Window) -> Result<(), PvdmaError> {
        lock(&self.0).add_guest(guest, window)
    }

    /// Pins and maps `length` bytes at guest address `address`, as far as they are not, and keeps them mapped while the lease lives.
    ///
    /// # Errors
    /// [`PvdmaError`]; then the blocks in use are the same as before.
    pub fn acquire(&self, guest: GuestId, address: u64, length: u64) -> Result<Lease, PvdmaError> {
        let (blocks, iova) = lock(&self.0).acquire(guest, address, length)?;
        Ok(Lease::new(Arc::clone(&self.0), guest, blocks, iova, length))
    }

    /// Evicts up to `blocks` idle blocks, those that were unused longest first; returns their number.
    ///
    /// # Errors
    /// [`PvdmaError::Fence`], [`PvdmaError::Unmap`]: blocks that could not be evicted stay pinned.
    pub fn evict(&self, blocks: usize) -> Result<usize, PvdmaError> {
        lock(&self.0).evict(blocks)
    }

    /// Removes a guest: nothing can be acquired for it any more. Its idle blocks are evicted now, the others with their last lease. Returns the
    /// number of blocks that are left.
    ///
    /// # Errors
    /// [`PvdmaError::UnknownGuest`]; [`PvdmaError::Fence`] and [`PvdmaError::Unmap`]: call it again then.
    pub fn remove_guest(&self, guest: GuestId) -> Result<usize, PvdmaError> {
        lock(&self.0).remove_guest(guest)
    }

    /// Counters since the start.
    pub fn counters(&self) -> Counters {
        lock(&self.0).counters()
    }

    /// Blocks that are pinned.
    pub fn usage(&self) -> Usage {
        lock(&self.0).usage()
    }
}
