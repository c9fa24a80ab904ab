//! Rows of one bit per word of a queue pair's ring. The received bits themselves are in the word memory: a ring of 2^`RING_BITS` = `RING` words of 64
//! bits. The bit of a PSN is `psn[5:0]`, its word the `RING_BITS` bits above, its lap the next bit.
//!
//! The row of **laps** has the lap of the packet last accepted into each word. A word is *live* if that is the lap that the window has there. Once the window
//! has left a word, its lap no longer matches, so no word has to be cleared.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::{Psn, Qpn, QPN_BITS};

/// Number of a PSN's word in the ring.
#[hdl_fn]
pub fn ring_word<const RING_BITS: usize>(psn: Psn) -> Bits<RING_BITS> {
    psn.get_bits::<RING_BITS>(6)
}

/// Address of a word of a queue pair's ring in a memory of 2^`WORD_BITS` words.
#[hdl_fn]
pub fn word_address<const RING_BITS: usize, const WORD_BITS: usize>(
    row: Qpn,
    word: Bits<RING_BITS>,
) -> Bits<WORD_BITS> {
    (bit_cast::<WORD_BITS, QPN_BITS>(row) << (RING_BITS as u64))
        | bit_cast::<WORD_BITS, RING_BITS>(word)
}

/// The lap of a PSN.
#[hdl_fn]
pub fn lap_of<const RING_BITS: usize>(psn: Psn) -> Bit {
    psn.get_bit(6 + RING_BITS)
}

/// Words of a ring among which [`laps_beside`] chooses.
const LAP_GROUP: usize = 16;

/// For each group of 16 words, or of all in a smaller ring, the lap of the word with the place of `word` in its group: the first half of the choice of the lap of `word`.
/// Levels: 2.
#[hdl_fn]
pub fn laps_beside<const RING_BITS: usize, const RING: usize>(
    laps: Bits<RING>,
    word: Bits<RING_BITS>,
) -> Bits<8> {
    let place = bit_cast::<4, RING_BITS>(word);
    let mut beside = bits::<8>(0);
    for group in 0..RING.div_ceil(LAP_GROUP) {
        let lap = bit_cast::<16, RING>(laps >> (LAP_GROUP * group) as u64);
        let here = if lap.get_bit(place.index()) {
            bits::<8>(1 << group as u64)
        } else {
            bits::<8>(0)
        };
        beside = beside | here;
    }
    beside
}

/// Whether the word of a PSN is live, from its [`laps_beside`]. Levels: 2, and a half.
#[hdl_fn]
pub fn is_live<const RING_BITS: usize>(beside: Bits<8>, psn: Psn) -> Bit {
    let group = ring_word::<RING_BITS>(psn) >> 4;
    beside.get_bit(group.index()) == lap_of::<RING_BITS>(psn)
}

/// The lap that each word has in the window that begins with the word of `epsn`. Levels: 2.
#[hdl_fn]
pub fn laps_of_window<const RING_BITS: usize, const RING: usize>(epsn: Psn) -> Bits<RING> {
    let from_epsn = Bits::<RING>::mask() << epsn.get_bits::<RING_BITS>(6);
    if epsn.get_bit(6 + RING_BITS) {
        from_epsn
    } else {
        !from_epsn
    }
}

/// A row with the bit of one word replaced; `word` is one-hot. Levels: 1.
#[hdl_fn]
pub fn with_bit<const RING: usize>(row: Bits<RING>, word: Bits<RING>, value: Bit) -> Bits<RING> {
    if value {
        row | word
    } else {
        row & !word
    }
}
