//! Computes how far the expected PSN advances when its word is full: over the full words that follow on the ring.

use hdl_macros::hdl_fn;
use hdl_primitives::trailing_ones::trailing_ones;
use rust_hdl::prelude::*;

/// The ring of 2^`RING_BITS` = `RING` words turned by half if word `first` is in its upper half, with all words below `first` set: they lie before the window. Levels: 1, behind the
/// mask.
#[hdl_fn]
pub fn from_half<const RING_BITS: usize, const RING: usize>(
    ring: Bits<RING>,
    first: Bits<RING_BITS>,
) -> Bits<RING> {
    let half = (RING / 2) as u64;
    let turned = if first.get_bit(RING_BITS - 1) {
        (ring >> half) | (ring << half)
    } else {
        ring
    };
    turned | !(Bits::<RING>::mask() << place_in_half::<RING_BITS>(first))
}

/// Place of a word in its half of the ring.
#[hdl_fn]
pub fn place_in_half<const RING_BITS: usize>(word: Bits<RING_BITS>) -> Bits<RING_BITS> {
    word & ((1 << (RING_BITS - 1)) - 1)
}

/// Place of the first word that is not full, from the beginning of the half with the first one on, in what [`from_half`] gives. A window has at most half of the ring's words and
/// one more, so there is one. Levels: 7.
#[hdl_fn]
pub fn first_open<const RING: usize>(full: Bits<RING>) -> Bits<7> {
    let lower = bit_cast::<64, RING>(full);
    let upper = bit_cast::<64, RING>(full >> 64);
    if lower.all() {
        trailing_ones(upper) | bits::<7>(64)
    } else {
        trailing_ones(lower)
    }
}
