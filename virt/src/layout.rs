//! Guest addresses of a guest's memory and of its device's shared-memory region.

use std::ops::Range;

use stellar_wire::host::config_space::PAGE_BYTES;
use stellar_wire::vstellar::DOORBELL_REGION;
use thiserror::Error;

use crate::pvdma::BLOCK;

/// Guest physical addresses in use. PVDMA maps whole blocks of 2 MiB, so a block must not contain both memory and a doorbell (STELLAR, figure 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestLayout {
    memory: Vec<Range<u64>>,
    shared: Range<u64>,
}

/// An invalid layout.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// A range is empty or does not consist of whole pages.
    #[error("guest addresses {:#x} to {:#x} are not whole pages of 4 KiB, or none; align both ends", .0.start, .0.end)]
    Pages(Range<u64>),
    /// Two ranges overlap.
    #[error("memory at {:#x} to {:#x} overlaps other memory", .0.start, .0.end)]
    Overlap(Range<u64>),
    /// A doorbell would be in a block that PVDMA may map.
    #[error("the shared-memory region shares the block of 2 MiB at {0:#x} with memory: PVDMA would let every device reach the doorbell there; move it to blocks of its own")]
    SharedBlock(u64),
    /// There is no memory.
    #[error("the guest has no memory; give it some")]
    Empty,
}

const fn is_pages(range: &Range<u64>) -> bool {
    range.start.is_multiple_of(PAGE_BYTES)
        && range.end.is_multiple_of(PAGE_BYTES)
        && range.start < range.end
}

/// The blocks that contain any byte of a range, as a range of bytes.
fn blocks(range: &Range<u64>) -> Range<u64> {
    range.start / BLOCK * BLOCK..range.end.div_ceil(BLOCK).saturating_mul(BLOCK)
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

impl GuestLayout {
    /// Virtio shared-memory region identifier of the region.
    pub const REGION: u8 = DOORBELL_REGION;

    /// A layout of memory ranges and the region for the doorbell page.
    ///
    /// # Errors
    /// [`LayoutError`].
    pub fn new(
        memory: impl IntoIterator<Item = Range<u64>>,
        shared: Range<u64>,
    ) -> Result<Self, LayoutError> {
        let memory: Vec<_> = memory.into_iter().collect();
        if let Some(odd) = memory
            .iter()
            .chain([&shared])
            .find(|range| !is_pages(range))
        {
            return Err(LayoutError::Pages(odd.clone()));
        }
        if memory.is_empty() {
            return Err(LayoutError::Empty);
        }
        for (index, range) in memory.iter().enumerate() {
            if memory[..index].iter().any(|other| overlap(other, range)) {
                return Err(LayoutError::Overlap(range.clone()));
            }
            let (mine, its) = (blocks(range), blocks(&shared));
            if overlap(&mine, &its) {
                return Err(LayoutError::SharedBlock(mine.start.max(its.start)));
            }
        }
        Ok(Self { memory, shared })
    }

    /// The region for the doorbell page, at its start.
    pub const fn shared(&self) -> &Range<u64> {
        &self.shared
    }

    /// Whether all of these bytes are memory and lie in one range.
    pub fn is_memory(&self, address: u64, length: u64) -> bool {
        let end = address.checked_add(length);
        let holds = |range: &Range<u64>| {
            length > 0 && range.start <= address && end.is_some_and(|end| end <= range.end)
        };
        self.memory.iter().any(holds)
    }

    /// First address behind the memory, rounded up to whole blocks.
    pub fn memory_end(&self) -> u64 {
        let ends = self.memory.iter().map(|range| blocks(range).end);
        ends.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<const N: usize>(memory: [&Range<u64>; N], shared: &Range<u64>) -> LayoutError {
        GuestLayout::new(memory.map(Clone::clone), shared.clone()).unwrap_err()
    }

    #[test]
    fn a_doorbell_never_shares_a_block_with_memory() {
        let memory = 0..4 * BLOCK - 4096;
        // The region is behind the memory's last page, but in its last block.
        let behind = 4 * BLOCK - 4096..4 * BLOCK;
        assert_eq!(
            refused([&memory], &behind),
            LayoutError::SharedBlock(3 * BLOCK)
        );
        let inside = BLOCK..BLOCK + 4096;
        assert_eq!(refused([&memory], &inside), LayoutError::SharedBlock(BLOCK));
        let layout = GuestLayout::new([memory], 4 * BLOCK..4 * BLOCK + 4096).unwrap();
        assert_eq!(layout.memory_end(), 4 * BLOCK);
        assert!(layout.is_memory(4 * BLOCK - 8192, 4096));
        for (address, length) in [
            (4 * BLOCK - 8192, 4097),
            (0, 0),
            (u64::MAX, 2),
            (4 * BLOCK, 8),
        ] {
            assert!(!layout.is_memory(address, length), "{address:#x}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let shared = 8 * BLOCK..9 * BLOCK;
        assert_eq!(refused([], &shared), LayoutError::Empty);
        let odd = 0..100;
        assert_eq!(refused([&odd], &shared), LayoutError::Pages(odd));
        let first = 0..BLOCK;
        let empty = BLOCK..BLOCK;
        assert_eq!(refused([&first], &empty), LayoutError::Pages(empty));
        let twice = BLOCK - 4096..2 * BLOCK;
        assert_eq!(
            refused([&first, &twice], &shared),
            LayoutError::Overlap(twice)
        );
    }
}
