//! Why memory was not mapped, or not taken back.

use thiserror::Error;

use super::platform::PlatformError;
use super::range::{GuestId, Window};

/// What PVDMA refuses or fails at.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PvdmaError {
    /// Added twice.
    #[error("guest {} exists; remove it first, and drop what is acquired for it", .0 .0)]
    GuestExists(GuestId),
    /// Never added, or gone.
    #[error("guest {} is not known, or was removed; add it", .0 .0)]
    UnknownGuest(GuestId),
    /// A window that cannot be.
    #[error("the window of {:#x} bytes at IO virtual address {:#x} {why}", .window.length, .window.base)]
    Window {
        /// The window.
        window: Window,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Not in the guest's memory.
    #[error("{length:#x} bytes at guest address {address:#x} are none, or do not lie below {most:#x}, where the guest's memory ends")]
    Range {
        /// First guest address.
        address: u64,
        /// Bytes.
        length: u64,
        /// Bytes of the guest's window.
        most: u64,
    },
    /// As much is in use as may be pinned.
    #[error("{wanted} more blocks of 2 MiB are needed, and {most} may be pinned; release some, or raise `most_blocks`")]
    Limit {
        /// Blocks that are missing.
        wanted: usize,
        /// Blocks that may be pinned.
        most: usize,
    },
    /// A block that could not be taken back is asked for again.
    #[error("the IOMMU failed to forget the block at guest address {0:#x}; evict it before it is used again")]
    Broken(u64),
    /// The hypervisor did not pin.
    #[error("the hypervisor did not pin the block at guest address {address:#x}: {reason}")]
    Pin {
        /// The block.
        address: u64,
        /// Why.
        reason: PlatformError,
    },
    /// The IOMMU did not map.
    #[error("the IOMMU did not map the block at guest address {address:#x}: {reason}")]
    Map {
        /// The block.
        address: u64,
        /// Why.
        reason: PlatformError,
    },
    /// The IOMMU did not unmap.
    #[error("the IOMMU did not unmap the block at guest address {address:#x}, which stays pinned: {reason}")]
    Unmap {
        /// The block.
        address: u64,
        /// Why.
        reason: PlatformError,
    },
    /// A device did not fence.
    #[error("a device did not finish what it had begun, so nothing is unmapped: {0}")]
    Fence(PlatformError),
}
