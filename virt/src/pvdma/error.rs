//! Why memory was not mapped or not evicted.

use thiserror::Error;

use super::platform::PlatformError;
use super::range::{GuestId, Window};

/// Errors of PVDMA.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PvdmaError {
    /// The guest was added before.
    #[error("guest {} exists; remove it first, and drop what is acquired for it", .0 .0)]
    GuestExists(GuestId),
    /// The guest was never added, or has been removed.
    #[error("guest {} is not known, or was removed; add it", .0 .0)]
    UnknownGuest(GuestId),
    /// An invalid window.
    #[error("the window of {:#x} bytes at IO virtual address {:#x} {why}", .window.length, .window.base)]
    Window {
        /// The window.
        window: Window,
        /// The reason.
        why: &'static str,
    },
    /// A range outside of the guest's memory.
    #[error("{length:#x} bytes at guest address {address:#x} are none, or do not lie below {most:#x}, where the guest's memory ends")]
    Range {
        /// First guest address.
        address: u64,
        /// Length in bytes.
        length: u64,
        /// Length of the guest's window in bytes.
        most: u64,
    },
    /// The limit of pinned blocks is reached, and all of them are in use.
    #[error("{wanted} more blocks of 2 MiB are needed, and {most} may be pinned; release some, or raise `most_blocks`")]
    Limit {
        /// Number of missing blocks.
        wanted: usize,
        /// Largest number of pinned blocks.
        most: usize,
    },
    /// A block was requested whose earlier eviction failed.
    #[error("the IOMMU failed to forget the block at guest address {0:#x}; evict it before it is used again")]
    Broken(u64),
    /// The hypervisor did not pin a block.
    #[error("the hypervisor did not pin the block at guest address {address:#x}: {reason}")]
    Pin {
        /// The block.
        address: u64,
        /// The reason.
        reason: PlatformError,
    },
    /// The IOMMU did not map a block.
    #[error("the IOMMU did not map the block at guest address {address:#x}: {reason}")]
    Map {
        /// The block.
        address: u64,
        /// The reason.
        reason: PlatformError,
    },
    /// The IOMMU did not unmap a block.
    #[error("the IOMMU did not unmap the block at guest address {address:#x}, which stays pinned: {reason}")]
    Unmap {
        /// The block.
        address: u64,
        /// The reason.
        reason: PlatformError,
    },
    /// A device did not fence.
    #[error("a device did not finish what it had begun, so nothing is unmapped: {0}")]
    Fence(PlatformError),
}
