//! PVDMA (STELLAR, section 5): guest memory is pinned and mapped for DMA when it is first used, not when the guest starts.
//!
//! The unit is a block of 2 MiB. Blocks in use are counted; blocks nobody uses any more stay mapped for the next user (the map cache) until
//! [`Limits`] or [`Pvdma::evict`] take them. What is behind the service are three small traits, of the hypervisor, the IOMMU and the
//! devices: [`Pinning`], [`IoMap`] and [`Fence`].
//!
//! A block is taken back in this order only, and only while nobody holds a [`Lease`] of it: the devices say that nothing which used it is
//! under way (fence), the IOMMU forgets it, the hypervisor may move it again. What fails on the way stays pinned.

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

/// How much the service keeps pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Blocks of all guests together.
    pub most_blocks: usize,
    /// Of these, blocks nobody uses. Beyond it the one unused longest goes; 0: a block goes with its last user.
    pub most_idle: usize,
}

impl Default for Limits {
    /// 1.6 TB, of which 2 GiB idle.
    fn default() -> Self {
        Self {
            most_blocks: 800_000,
            most_idle: 1024,
        }
    }
}

/// What has happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Blocks that were found mapped.
    pub hits: u64,
    /// Blocks that had to be pinned and mapped.
    pub misses: u64,
    /// Blocks that were unmapped and unpinned.
    pub evicted: u64,
    /// Fences the devices were asked for.
    pub fences: u64,
    /// Times the IOMMU or a fence failed while blocks were taken back; they stayed pinned.
    pub failures: u64,
}

/// How many blocks are pinned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All of them.
    pub blocks: usize,
    /// Those nobody uses.
    pub idle: usize,
}

/// The service. Clones are the same.
#[derive(Clone)]
pub struct Pvdma(Arc<Mutex<Cache>>);

/// The cache, also after a thread died with it: it is whole between two statements that can panic.
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

    /// A guest, whose address `a` devices will reach at `window.base + a`.
    ///
    /// # Errors
    /// [`PvdmaError::GuestExists`], [`PvdmaError::Window`].
    pub fn add_guest(&self, guest: GuestId, window: Window) -> Result<(), PvdmaError> {
        lock(&self.0).add_guest(guest, window)
    }

    /// Pins and maps what of `length` bytes at guest address `address` is not, and keeps it so while the lease lives.
    ///
    /// # Errors
    /// [`PvdmaError`]; then nothing more is in use than before.
    pub fn acquire(&self, guest: GuestId, address: u64, length: u64) -> Result<Lease, PvdmaError> {
        let (blocks, iova) = lock(&self.0).acquire(guest, address, length)?;
        Ok(Lease::new(Arc::clone(&self.0), guest, blocks, iova, length))
    }

    /// Takes back up to `blocks` blocks nobody uses, those unused longest first; returns how many.
    ///
    /// # Errors
    /// [`PvdmaError::Fence`], [`PvdmaError::Unmap`]: what could not be taken back stays pinned.
    pub fn evict(&self, blocks: usize) -> Result<usize, PvdmaError> {
        lock(&self.0).evict(blocks)
    }

    /// The guest is gone: nothing can be acquired for it any more. What nobody uses is taken back now, the rest with its last lease.
    /// Returns the blocks that are left.
    ///
    /// # Errors
    /// [`PvdmaError::UnknownGuest`]; [`PvdmaError::Fence`] and [`PvdmaError::Unmap`]: to be called again.
    pub fn remove_guest(&self, guest: GuestId) -> Result<usize, PvdmaError> {
        lock(&self.0).remove_guest(guest)
    }

    /// What has happened so far.
    pub fn counters(&self) -> Counters {
        lock(&self.0).counters()
    }

    /// Blocks that are pinned.
    pub fn usage(&self) -> Usage {
        lock(&self.0).usage()
    }
}
