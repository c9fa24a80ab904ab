//! Consumer index word of a completion queue or of an event queue.

use super::Doorbell;
use crate::header::fit;

/// The word that the reader of a ring writes as one 64-bit store: the entries that it has consumed, and whether it requests an interrupt.
///
/// For completion queues it is written at [`Self::OFFSET`] or in a slot ([`Self::slot`]) of the doorbell page that owns the queue pair. For an event
/// queue it is written at [`super::registers::EVENT_CONSUMER`], and `qp` is the number of the event queue.
///
/// | bits | field |
/// |---|---|
/// | 23:0 | queue pair |
/// | 24 | arm |
/// | 31:25 | reserved |
/// | 55:32 | consumer index |
/// | 63:56 | reserved |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsumerIndex {
    /// Queue pair, 24 bits.
    pub qp: u32,
    /// Entries before this index have been consumed. It is a count of entries modulo 2^24, not a place in the ring. An index that is behind the
    /// previous one, or ahead of the written entries, is refused.
    pub index: u32,
    /// Requests one interrupt when an entry at or behind `index` is written, or at once if there is one already. The interrupt disarms the ring.
    pub arm: bool,
}

impl ConsumerIndex {
    /// Bytes of the word.
    pub const LEN: usize = 8;
    /// Offset in a doorbell page at which it is written.
    pub const OFFSET: u16 = 8;
    /// Offset in a doorbell page of the slots of consumer indices, which follow the slots of doorbells ([`super::Doorbell::SLOTS`]).
    pub const SLOTS: u16 = Doorbell::SLOTS + Doorbell::SLOT_COUNT * Doorbell::LEN as u16;
    /// Lowest bit of the queue pair.
    pub const QP_BIT: usize = 0;
    /// Bit that arms.
    pub const ARM_BIT: usize = 24;
    /// Lowest bit of the index.
    pub const INDEX_BIT: usize = 32;

    /// Returns the offset of slot `number` in a doorbell page.
    ///
    /// # Panics
    /// If there is no such slot.
    pub const fn slot(number: u16) -> u16 {
        Doorbell::slot(number) - Doorbell::SLOTS + Self::SLOTS
    }

    /// The word's bytes.
    ///
    /// # Panics
    /// If queue pair or index do not fit 24 bits.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let word = u64::from(fit("consumer.qp", self.qp, 24)) << Self::QP_BIT
            | u64::from(self.arm) << Self::ARM_BIT
            | u64::from(fit("consumer.index", self.index, 24)) << Self::INDEX_BIT;
        word.to_le_bytes()
    }

    /// The word these bytes hold.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Self {
        let word = u64::from_le_bytes(*bytes);
        Self {
            qp: (word >> Self::QP_BIT & 0xff_ffff) as u32,
            index: (word >> Self::INDEX_BIT & 0xff_ffff) as u32,
            arm: word >> Self::ARM_BIT & 1 != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_word_comes_back(qp in 0u32..1 << 24, index in 0u32..1 << 24, arm: bool) {
            let word = ConsumerIndex { qp, index, arm };
            prop_assert_eq!(ConsumerIndex::from_bytes(&word.to_bytes()), word);
        }
    }

    #[test]
    fn fields_are_at_their_documented_places() {
        let word = ConsumerIndex {
            qp: 0x03_0201,
            index: 0x07_0605,
            arm: true,
        };
        assert_eq!(word.to_bytes(), [1, 2, 3, 1, 5, 6, 7, 0]);
    }

    #[test]
    #[should_panic(expected = "consumer.index")]
    fn an_index_that_does_not_fit_is_refused() {
        let index = 1 << 24;
        let _ = ConsumerIndex {
            index,
            ..Default::default()
        }
        .to_bytes();
    }
}
