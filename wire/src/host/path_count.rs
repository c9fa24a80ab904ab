//! What the card counts on each path of an MRC queue pair, for software that watches paths.

use crate::header::fit;
use crate::host::QpCounterSelect;
use crate::rows::QPN_BITS;

/// Something that happens to a data packet on its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEvent {
    /// It is sent, or sent again.
    Sent,
    /// A SACK reflects the path with a congestion mark (ECN CE).
    Marked,
    /// It is taken for lost: trimmed before the last hop, found lost early, or late.
    Lost,
}

/// The counts of one path, read and cleared together.
///
/// All three stop when one of them has reached [`PathCount::MOST`]: then they still tell which part of the packets suffered, of the first ones since the last
/// read. Nothing but a read clears them, neither a reset nor a new configuration of the queue pair, so the first read of a connection is of no use.
///
/// A card keeps the counts of 1,024 queue pairs. In a card with more, those whose numbers are equal modulo 1,024 share counts, and only the one counts that was read last. The first read of another one gets what was counted for that one,
/// which [`Self::is_of_another`] says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCount {
    /// Data packets sent on the path, retransmissions included. 12 bits, as all counts.
    pub sent: u16,
    /// SACKs that reflect it with a congestion mark.
    pub marked: u16,
    /// Packets on it that were taken for lost.
    pub lost: u16,
}

impl PathCount {
    /// Bits of a count.
    pub const BITS: usize = 12;
    /// Its largest value.
    pub const MOST: u16 = (1 << Self::BITS) - 1;
    /// Lowest bits of the counts in the register.
    pub const SENT_BIT: usize = 0;
    pub const MARKED_BIT: usize = Self::BITS;
    pub const LOST_BIT: usize = 2 * Self::BITS;
    /// Bits of all counts.
    pub const ALL_BITS: usize = 3 * Self::BITS;
    /// Bit of the register that is set if they are the counts of another queue pair.
    pub const OF_ANOTHER_BIT: usize = Self::ALL_BITS;

    /// Whether the counts have stopped.
    pub const fn is_full(self) -> bool {
        self.sent == Self::MOST || self.marked == Self::MOST || self.lost == Self::MOST
    }

    /// Counts an event, unless the counts have stopped.
    pub fn count(&mut self, event: PathEvent) {
        if self.is_full() {
            return;
        }
        match event {
            PathEvent::Sent => self.sent += 1,
            PathEvent::Marked => self.marked += 1,
            PathEvent::Lost => self.lost += 1,
        }
    }

    /// Decodes [`super::registers::QP_COUNTER_VALUE`].
    pub const fn from_word(word: u64) -> Self {
        let most = Self::MOST as u64;
        Self {
            sent: (word >> Self::SENT_BIT & most) as u16,
            marked: (word >> Self::MARKED_BIT & most) as u16,
            lost: (word >> Self::LOST_BIT & most) as u16,
        }
    }

    /// Whether the counts in [`super::registers::QP_COUNTER_VALUE`] are those of another queue pair.
    pub const fn is_of_another(word: u64) -> bool {
        word >> Self::OF_ANOTHER_BIT & 1 == 1
    }

    /// The register's value.
    ///
    /// # Panics
    /// If a count does not fit [`Self::BITS`] bits.
    pub fn to_word(self) -> u64 {
        let field = |count: u16| u64::from(fit("path count", u32::from(count), Self::BITS as u32));
        field(self.sent) << Self::SENT_BIT
            | field(self.marked) << Self::MARKED_BIT
            | field(self.lost) << Self::LOST_BIT
    }
}

/// What is written to [`super::registers::QP_COUNTER_SELECT`] to read and clear the counts of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathCountSelect {
    /// Queue pair, [`QPN_BITS`] bits.
    pub qp: u32,
    /// Index of the path's entropy value; backups are those from 128 on.
    pub index: u8,
}

impl PathCountSelect {
    /// The number of path 0, in the place of a `QpCounter`'s.
    pub const FIRST: u16 = 1 << 8;

    /// The register's value.
    ///
    /// # Panics
    /// If the queue pair does not fit [`QPN_BITS`] bits.
    pub fn to_word(self) -> u64 {
        let number = Self::FIRST + u16::from(self.index);
        u64::from(fit("path count.qp", self.qp, QPN_BITS as u32)) << QpCounterSelect::QP_BIT
            | u64::from(number) << QpCounterSelect::COUNTER_BIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_fields_at_the_documented_places() {
        let select = PathCountSelect {
            qp: 0x83ff,
            index: 143,
        };
        assert_eq!(select.to_word(), 0x18f_0000_83ff);
        let count = PathCount {
            sent: 0xabc,
            marked: 0x123,
            lost: 0xdef,
        };
        assert_eq!(count.to_word(), 0xd_ef12_3abc);
        assert_eq!(PathCount::from_word(!0 << 36 | count.to_word()), count);
    }

    #[test]
    fn all_counts_stop_with_the_first_that_is_full() {
        for event in [PathEvent::Sent, PathEvent::Marked, PathEvent::Lost] {
            let mut count = PathCount::default();
            count.count(PathEvent::Lost);
            (0..5000).for_each(|_| count.count(event));
            assert!(count.is_full());
            let full = count;
            for more in [PathEvent::Sent, PathEvent::Marked, PathEvent::Lost] {
                count.count(more);
            }
            assert_eq!(count, full);
            assert_eq!(
                count.sent.max(count.marked).max(count.lost),
                PathCount::MOST
            );
        }
    }
}
