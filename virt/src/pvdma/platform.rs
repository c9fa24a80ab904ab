//! What PVDMA needs of the machine it runs on.

use thiserror::Error;

use super::range::GuestId;

/// Why the machine did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PlatformError(pub String);

/// A part of a block that is contiguous for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes from the start of the block, a multiple of 4,096.
    pub offset: u64,
    /// Bytes, a multiple of 4,096.
    pub length: u64,
    /// Host physical address.
    pub host: u64,
}

/// The hypervisor: what is behind guest memory.
pub trait Pinning: Send {
    /// Keeps the block of guest memory that starts at `address` where it is, and says where that is. Parts of it may be missing.
    ///
    /// # Errors
    /// [`PlatformError`]: it is not pinned.
    fn pin(&mut self, guest: GuestId, address: u64) -> Result<Vec<Piece>, PlatformError>;

    /// The block may move again.
    fn unpin(&mut self, guest: GuestId, address: u64);
}

/// The domain of an IOMMU.
pub trait IoMap: Send {
    /// Maps the pieces of the block that starts at IO virtual address `iova`, for reading and writing.
    ///
    /// # Errors
    /// [`PlatformError`]: none of it is mapped.
    fn map(&mut self, iova: u64, pieces: &[Piece]) -> Result<(), PlatformError>;

    /// Removes them, and every cached copy of them, before it returns.
    ///
    /// # Errors
    /// [`PlatformError`]: nobody knows what is mapped. It will be asked again.
    fn unmap(&mut self, iova: u64, pieces: &[Piece]) -> Result<(), PlatformError>;
}

/// The devices behind the IOMMU.
pub trait Fence: Send {
    /// Returns when no access that a device began before is under way.
    ///
    /// # Errors
    /// [`PlatformError`]: some may be.
    fn fence(&mut self) -> Result<(), PlatformError>;
}
