//! Bus addresses for memory of the card.

/// Buffers begin at multiples of this, the largest page but one.
const ALIGN: u64 = 1 << 21;

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
