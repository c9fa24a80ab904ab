//! Lowest bit of a map, and its removal.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

#[hdl_fn]
fn first_of_eight(octet: Bits<8>) -> Bits<3> {
    let mut first = bits::<3>(7);
    for i in (0..7).rev() {
        first = if octet.get_bit(i) {
            bits::<3>(i as u64)
        } else {
            first
        };
    }
    first
}

/// Returns the position of the lowest bit that is set. The result is undefined for an empty map. 6 levels (within eight bits 2, the first eight with a bit 2,
/// choice 2).
#[hdl_fn]
pub fn first_place(map: Bits<72>) -> Bits<7> {
    let mut first = bits::<7>(64) | bit_cast::<7, 3>(first_of_eight(map.get_bits::<8>(64)));
    for i in (0..8).rev() {
        let octet = map.get_bits::<8>(8 * i);
        let within = bits::<7>(8 * i as u64) | bit_cast::<7, 3>(first_of_eight(octet));
        first = if octet.any() { within } else { first };
    }
    first
}

/// Returns the lowest bit that is set, one-hot. 2 levels.
#[hdl_fn]
pub fn lowest_of_eight(octet: Bits<8>) -> Bits<8> {
    octet & (bits::<8>(0) - octet)
}

/// Clears the lowest bit that is set. 2 levels and a carry chain.
#[hdl_fn]
pub fn without_first(map: Bits<64>) -> Bits<64> {
    map & (map - 1)
}
