//! Computes how far the expected PSN advances when its word is full: over the full words that follow on the ring.

use hdl_macros::hdl_fn;
use hdl_primitives::trailing_ones::trailing_ones;
use rust_hdl::prelude::*;

/// The bits of a word's number by which the ring is turned after the others, in the stage behind: the lower four.
pub const FINE_BITS: usize = 4;

/// The ring of 2^`RING_BITS` = `RING` words turned so that word `first` comes to bit 0, if this is done for all bits of its number; it is done for those from `low` to
/// `high` - 1. Levels: one for two bits.
#[hdl_fn]
pub fn turn_down<const RING_BITS: usize, const RING: usize>(
    ring: Bits<RING>,
    first: Bits<RING_BITS>,
    low: usize,
    high: usize,
) -> Bits<RING> {
    let mut turned = ring;
    for step in low..high {
        let by = 1 << step as u64;
        turned = if first.get_bit(step) {
            (turned >> by) | (turned << (RING as u64 - by))
        } else {
            turned
        };
    }
    turned
}

/// Number of full words from the word of the expected PSN on without a break; `full` starts at that word. It is at most 64, the words of the largest
/// window: a window reaches into one more word only if the expected PSN is not the first of its word, and then not to the end. Levels: 6.
#[hdl_fn]
pub fn full_words<const RING: usize>(full: Bits<RING>) -> Bits<7> {
    trailing_ones(bit_cast::<64, RING>(full))
}
