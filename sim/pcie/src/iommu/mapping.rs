//! Mappings: size, permission, and why one cannot be made.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Bits of IO virtual address that a table translates.
pub const IOVA_BITS: u32 = 48;

/// Bits of address that each level of a table resolves.
pub(super) const INDEX_BITS: u32 = 9;

/// Size of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PageSize {
    /// 4 KiB.
    #[serde(rename = "4KiB")]
    Size4KiB,
    /// 2 MiB.
    #[serde(rename = "2MiB")]
    Size2MiB,
    /// 1 GiB.
    #[serde(rename = "1GiB")]
    Size1GiB,
}

impl PageSize {
    /// All sizes, largest first.
    pub const ALL: [Self; 3] = [Self::Size1GiB, Self::Size2MiB, Self::Size4KiB];

    /// log2 of the size in bytes.
    pub const fn shift(self) -> u32 {
        12 + INDEX_BITS * self.level()
    }

    /// Size in bytes.
    pub const fn bytes(self) -> u64 {
        1 << self.shift()
    }

    /// Level of the table that holds pages of this size, counted from the leaves.
    pub(super) const fn level(self) -> u32 {
        match self {
            Self::Size4KiB => 0,
            Self::Size2MiB => 1,
            Self::Size1GiB => 2,
        }
    }
}

/// What a mapping permits a device to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permission {
    /// Memory reads.
    pub read: bool,
    /// Memory writes.
    pub write: bool,
}

impl Permission {
    /// Reads and writes.
    pub const READ_WRITE: Self = Self {
        read: true,
        write: true,
    };
    /// Reads only.
    pub const READ_ONLY: Self = Self {
        read: true,
        write: false,
    };
    /// Writes only.
    pub const WRITE_ONLY: Self = Self {
        read: false,
        write: true,
    };
}

/// A change to a page table that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MapError {
    /// An address or length is no multiple of the page size.
    #[error("{address:#x} is not a multiple of the page size {page:#x}; align it or map with smaller pages")]
    Misaligned {
        /// The wrong address or length.
        address: u64,
        /// Page size in bytes.
        page: u64,
    },
    /// The IO virtual address does not fit in the table.
    #[error("IO virtual address {0:#x} is beyond {IOVA_BITS} bits; use a lower address")]
    OutOfRange(u64),
    /// Something is mapped there already.
    #[error("a mapping at {0:#x} exists already; unmap it first")]
    Overlap(u64),
    /// No page of that size is mapped there.
    #[error("no page of this size is mapped at {0:#x}; unmap with the size it was mapped with")]
    NotMapped(u64),
    /// The domain does not exist.
    #[error("IOMMU domain {0} does not exist; create it with `create_domain`")]
    UnknownDomain(usize),
}
