//! The traits through which PVDMA uses the machine.

use thiserror::Error;

use super::range::GuestId;

/// Why a call of the machine failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PlatformError(pub String);

/// A part of a block that is contiguous in host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset in the block, a multiple of 4,096.
    pub offset: u64,
    /// Length in bytes, a multiple of 4,096.
    pub length: u64,
    /// Host physical address.
    pub host: u64,
}

/// The hypervisor, which owns the guest's memory.
pub trait Pinning: Send {
    /// Pins the block of guest memory that starts at `address`, and returns its host physical addresses. Parts of it may be missing.
    ///
    /// # Errors
    /// [`PlatformError`]; then the block is not pinned.
    fn pin(&mut self, guest: GuestId, address: u64) -> Result<Vec<Piece>, PlatformError>;

    /// Unpins the block: it may move again.
    fn unpin(&mut self, guest: GuestId, address: u64);
}

/// A domain of an IOMMU.
pub trait IoMap: Send {
    /// Maps the pieces of the block that starts at IO virtual address `iova`, for reading and writing.
    ///
    /// # Errors
    /// [`PlatformError`]; then none of it is mapped.
    fn map(&mut self, iova: u64, pieces: &[Piece]) -> Result<(), PlatformError>;

    /// Unmaps these pieces. When it returns, every cached copy of them has been removed.
    ///
    /// # Errors
    /// [`PlatformError`]; then it is unknown what is mapped, and PVDMA calls it again.
    fn unmap(&mut self, iova: u64, pieces: &[Piece]) -> Result<(), PlatformError>;
}

/// The devices behind the IOMMU.
pub trait Fence: Send {
    /// Returns when every access that a device began before has finished.
    ///
    /// # Errors
    /// [`PlatformError`]; then some accesses may still be in flight.
    fn fence(&mut self) -> Result<(), PlatformError>;
}
