//! Sizes of the tables of the card, which the registers report.

use stellar_wire::config::{stash_entries, MOST_IMMEDIATES};
use stellar_wire::hw::tables::EMTT_INDEX_BITS;

/// log2 of the queue pairs, 1,024, where a shape does not say otherwise ([`Shape::queue_pair_bits`](crate::Shape::queue_pair_bits)).
pub const QP_BITS: usize = 10;
/// log2 of the sets of counts by path in each engine: one for each of 1,024 queue pairs of the card.
pub const PATH_SET_BITS: usize = QP_BITS - 1;
/// log2 of the immediates that a queue pair can stash: 256.
pub const STASHES: usize = MOST_IMMEDIATES.ilog2() as usize;
/// log2 of the stashed immediates of all queue pairs: 16,384, where a shape does not say otherwise.
pub const STASH_BITS: usize = stash_bits(QP_BITS);
/// log2 of the memory regions: 4,096.
pub const MR_BITS: usize = 12;
/// log2 of the translations: 524,288, which is 1 TiB in pages of 2 MiB, where a shape does not say otherwise.
pub const EMTT_BITS: usize = emtt_bits(QP_BITS);
/// log2 of the translations in each of the four banks: 131,072.
pub const EMTT_BANK_BITS: usize = EMTT_BITS - 2;

/// log2 of the stashed immediates of all queue pairs of a card with 2^`queue_pair_bits`.
pub const fn stash_bits(queue_pair_bits: usize) -> usize {
    stash_entries(queue_pair_bits).ilog2() as usize
}

/// log2 of the translations of a card with 2^`queue_pair_bits` queue pairs: half as many with more than 32,768, which need the memory.
pub const fn emtt_bits(queue_pair_bits: usize) -> usize {
    match queue_pair_bits {
        0..=15 => 19,
        _ => 18,
    }
}

const _: () = assert!(EMTT_BITS <= EMTT_INDEX_BITS && MR_BITS <= EMTT_INDEX_BITS);
