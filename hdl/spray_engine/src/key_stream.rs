//! Pseudo-random words, for the first path and for the keys of rotations (`docs/multipath.md`, "Order of a rotation").

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// Returns the register bits whose XOR is bit `bit` after 32 shifts of the Galois register x^32 + x^22 + x^2 + x + 1.
fn word_taps(bit: usize) -> u64 {
    let shifted = |seed: u64| {
        (0..32).fold(seed, |x, _| {
            x >> 1 ^ if x & 1 == 1 { 0x8020_0003 } else { 0 }
        })
    };
    (0..32).fold(0, |taps, from| {
        taps | (shifted(1 << from) >> bit & 1) << from
    })
}

/// Returns the register after 32 shifts. 3 levels (up to 32 inputs).
#[hdl_fn]
pub fn next_word(state: Bits<32>) -> Bits<32> {
    let mut word = bits::<32>(0);
    for bit in 0..32 {
        word = word.replace_bit(bit, (state & bits::<32>(word_taps(bit))).xor());
    }
    word
}

/// Returns `word * factor`. 2 levels and two carry chains.
#[hdl_fn]
pub fn times_nibble(word: Bits<32>, factor: Bits<4>) -> Bits<40> {
    let wide = bit_cast::<40, 32>(word);
    let none = bits::<40>(0);
    let ones = if factor.get_bit(0) { wide } else { none };
    let twos = if factor.get_bit(1) { wide << 1 } else { none };
    let fours = if factor.get_bit(2) { wide << 2 } else { none };
    let eights = if factor.get_bit(3) { wide << 3 } else { none };
    (ones + twos) + (fours + eights)
}
