//! Guests, their windows of IO virtual addresses, and blocks.

use std::ops::Range;

use super::error::PvdmaError;

/// Bytes of a block: PVDMA's page (STELLAR, section 5).
pub const BLOCK: u64 = 2 << 20;

/// Identifier of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GuestId(pub u32);

/// The addresses at which devices reach a guest's memory. All virtual devices have the card's one requester number, so their guests share one IOMMU
/// domain, and their windows must not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// IO virtual address of guest address 0, a multiple of [`BLOCK`].
    pub base: u64,
    /// Length in bytes, a multiple of [`BLOCK`]: guest addresses below it can be acquired.
    pub length: u64,
}

impl Window {
    /// Checks the alignment, and that the window does not wrap.
    pub(super) fn check(self) -> Result<(), PvdmaError> {
        let fits = self.base.checked_add(self.length).is_some();
        if fits
            && self.length > 0
            && self.base.is_multiple_of(BLOCK)
            && self.length.is_multiple_of(BLOCK)
        {
            return Ok(());
        }
        Err(PvdmaError::Window {
            window: self,
            why: "is not made of whole blocks of 2 MiB",
        })
    }

    pub(super) const fn overlaps(self, other: Self) -> bool {
        self.base < other.base + other.length && other.base < self.base + self.length
    }

    /// Numbers of the blocks that contain these bytes.
    pub(super) fn blocks(self, address: u64, length: u64) -> Result<Range<u64>, PvdmaError> {
        match address.checked_add(length) {
            Some(end) if length > 0 && end <= self.length => {
                Ok(address / BLOCK..end.div_ceil(BLOCK))
            }
            _ => Err(PvdmaError::Range {
                address,
                length,
                most: self.length,
            }),
        }
    }
}
