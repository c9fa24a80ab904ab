//! Ones from bit 0 up to the first zero of a 64-bit word.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// Does the same as [`trailing_ones`] for one byte that contains a zero.
#[hdl_fn]
fn trailing_ones_of_byte(octet: Bits<8>) -> Bits<3> {
    let mut count = bits::<3>(7);
    for i in (0..7).rev() {
        count = if octet.get_bit(i) {
            count
        } else {
            bits::<3>(i as u64)
        };
    }
    count
}

/// Number of ones below the lowest zero, 64 if there is none. Planned levels: 6 (a byte 2, the first byte with a zero 2, choice 2).
#[hdl_fn]
pub fn trailing_ones(word: Bits<64>) -> Bits<7> {
    let mut count = bits::<7>(64);
    for i in (0..8).rev() {
        let octet = word.get_bits::<8>(8 * i);
        let in_byte = bit_cast::<7, 3>(trailing_ones_of_byte(octet));
        count = if octet.all() {
            count
        } else {
            bits::<7>(8 * i as u64) | in_byte
        };
    }
    count
}
