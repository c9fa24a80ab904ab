//! Bus addresses for memory of the card.

/// A large page of an IOMMU and of the processor, in bytes. Buffers begin at multiples of it.
pub const LARGE_PAGE: usize = 1 << 21;
const ALIGN: u64 = LARGE_PAGE as u64;
/// The smallest page.
const PAGE: usize = 4096;
/// Buffers of at least this many bytes, such as long rings, get large pages. So a buffer takes at most four times its memory.
const LARGE_FROM: usize = LARGE_PAGE / 4;

/// Returns how many bytes to map for a buffer of `bytes`: whole pages, and whole large pages if it is long. The card walks through a ring from end to end, so with
/// pages of 4 KiB the IOMMU walks its tables once for every 64 entries, and the reads behind wait. Returns `None` if there is no such length.
pub const fn mapped_length(bytes: usize) -> Option<usize> {
    let page = if bytes < LARGE_FROM { PAGE } else { LARGE_PAGE };
    bytes.checked_next_multiple_of(page)
}

/// Allocates bus addresses, never one twice: a late access to freed memory cannot reach other memory.
pub struct BusAddresses {
    next: u64,
    end: u64,
}

impl BusAddresses {
    /// The first of all addresses.
    pub const FIRST: u64 = 0x10_0000_0000;

    /// The addresses below `end`.
    pub const fn below(end: u64) -> Self {
        Self {
            next: Self::FIRST,
            end,
        }
    }

    /// Takes a range of `bytes` bytes. Returns `None` if no space is left.
    pub fn take(&mut self, bytes: usize) -> Option<u64> {
        let at = self.next;
        self.next = (bytes as u64)
            .checked_next_multiple_of(ALIGN)
            .and_then(|bytes| at.checked_add(bytes))
            .filter(|end| *end <= self.end)?;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_buffers_have_large_pages() {
        assert_eq!(mapped_length(1), Some(PAGE));
        assert_eq!(mapped_length(LARGE_FROM - 1), Some(LARGE_FROM));
        assert_eq!(mapped_length(LARGE_FROM), Some(LARGE_PAGE));
        assert_eq!(mapped_length(LARGE_PAGE + 1), Some(2 * LARGE_PAGE));
        assert_eq!(mapped_length(usize::MAX), None);
    }

    #[test]
    fn buffers_lie_apart_and_end_where_they_must() {
        let mut addresses = BusAddresses::below(BusAddresses::FIRST + 3 * ALIGN);
        assert_eq!(addresses.take(1), Some(BusAddresses::FIRST));
        assert_eq!(addresses.take(usize::MAX), None);
        assert_eq!(
            addresses.take(ALIGN as usize + 1),
            Some(BusAddresses::FIRST + ALIGN)
        );
        assert_eq!(addresses.take(1), None);
    }
}
