//! Doorbell word.

use super::Wqe;
use crate::header::fit;

/// What a driver writes to its doorbell page as one 64-bit store: queue pair in bits 23:0, producer index in bits 47:32,
/// the rest zero. The page it is written to is the writer's identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doorbell {
    /// Queue pair, 24 bits.
    pub qp: u32,
    /// Send queue entries before this index (modulo 2^16) are valid.
    pub producer: u16,
}

impl Doorbell {
    /// Bytes of the word.
    pub const LEN: usize = 8;
    /// Offset in a doorbell page at which it is written.
    pub const OFFSET: u16 = 0;
    /// Offset in a doorbell page at which its slots begin. A write to a slot has the effect of a write at [`Self::OFFSET`], and [`Self::slot`]
    /// returns the offset of each slot. An owner of several queue pairs gives each of them its own slot. Then only the last word that was written to
    /// a slot matters, so the page may also be memory that is polled.
    pub const SLOTS: u16 = 0x800;
    /// Number of doorbell slots in a page. The number of slots for consumer indices is the same.
    pub const SLOT_COUNT: u16 = 128;
    /// Where in a doorbell page a send queue entry may be pushed: its 64 bytes as 8 stores of 64 bits in ascending order. The doorbell that makes it valid
    /// follows at [`Self::PUSHED_OFFSET`], before anything else is pushed in this page; the card then need not read the entry. It has to lie in the ring
    /// all the same, as a pushed entry may go unused: when other entries are before it, or the page has no space for it ([`Self::PUSH_PAGES_LOG2`]).
    pub const PUSH_OFFSET: u16 = 0x40;
    /// log2 of the number of pages with space for a pushed entry in the card: those below it. That is four times the queue pairs of a card.
    pub const PUSH_PAGES_LOG2: usize = 12;
    /// Offset at which a doorbell is written if its last entry was pushed.
    pub const PUSHED_OFFSET: u16 = 0x80;
    /// Lowest bit of the queue pair.
    pub const QP_BIT: usize = 0;
    /// Lowest bit of the producer index.
    pub const PRODUCER_BIT: usize = 32;

    /// Returns the offset of slot `number` in a doorbell page.
    ///
    /// # Panics
    /// If there is no such slot.
    pub const fn slot(number: u16) -> u16 {
        assert!(number < Self::SLOT_COUNT, "a page has 128 slots");
        Self::SLOTS + number * Self::LEN as u16
    }

    /// The word's bytes.
    ///
    /// # Panics
    /// If the queue pair does not fit 24 bits.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let word = u64::from(fit("doorbell.qp", self.qp, 24)) << Self::QP_BIT
            | u64::from(self.producer) << Self::PRODUCER_BIT;
        word.to_le_bytes()
    }

    /// What a driver writes to its page to push `entry` and ring for it: offsets and 64-bit words, in this order.
    ///
    /// # Panics
    /// If the queue pair does not fit 24 bits.
    pub fn pushing(self, entry: &[u8; Wqe::LEN]) -> impl Iterator<Item = (u16, u64)> + '_ {
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
        let words = entry.chunks_exact(Self::LEN).map(word);
        let places = (Self::PUSH_OFFSET..).step_by(Self::LEN);
        let doorbell = u64::from_le_bytes(self.to_bytes());
        places.zip(words).chain([(Self::PUSHED_OFFSET, doorbell)])
    }

    /// The word these bytes hold.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Self {
        let word = u64::from_le_bytes(*bytes);
        Self {
            qp: (word >> Self::QP_BIT & 0xff_ffff) as u32,
            producer: (word >> Self::PRODUCER_BIT) as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::config_space::PAGE_BYTES;
    use crate::host::ConsumerIndex;

    #[test]
    fn slots_fill_the_second_half_of_a_page() {
        let last = Doorbell::SLOT_COUNT - 1;
        let slots = (0..=last).map(Doorbell::slot);
        let consumers = (0..=last).map(ConsumerIndex::slot);
        let all: Vec<u16> = slots.chain(consumers).collect();
        let half: Vec<u16> = (PAGE_BYTES as u16 / 2..PAGE_BYTES as u16)
            .step_by(Doorbell::LEN)
            .collect();
        assert_eq!(all, half);
    }

    #[test]
    #[should_panic(expected = "a page has 128 slots")]
    fn a_slot_that_is_not_there_has_no_place() {
        Doorbell::slot(Doorbell::SLOT_COUNT);
    }
}
