//! Computes how far the expected PSN advances when its word is full: over the full words that follow on the ring.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// The ring turned so that word `first` comes to bit 0. 3 levels (five 2:1 steps).
#[hdl_fn]
pub fn turn_down(ring: Bits<32>, first: Bits<5>) -> Bits<32> {
    let mut turned = ring;
    for step in 0..5 {
        let by = 1 << step;
        turned = if first.get_bit(step) {
            (turned >> by) | (turned << (32 - by))
        } else {
            turned
        };
    }
    turned
}

/// Number of full words from the word of the expected PSN on without a break, 0 to 16; `full` starts at that word. A window of 1,024 packets reaches
/// into the 16th word after it only if the expected PSN is not the first of its word, and then not to the end. 3 levels.
#[hdl_fn]
pub fn full_words(full: Bits<32>) -> Bits<5> {
    let mut number = bits::<5>(16);
    for i in (0..16).rev() {
        number = if full.get_bit(i) {
            number
        } else {
            bits::<5>(i as u64)
        };
    }
    number
}
