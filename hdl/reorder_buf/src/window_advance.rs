//! How far the expected PSN moves when its word has become full: over the full words that follow on the ring.

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

/// The ring turned so that bit 0 comes to word `first`: the inverse of [`turn_down`]. 3 levels.
#[hdl_fn]
pub fn turn_up(ring: Bits<32>, first: Bits<5>) -> Bits<32> {
    let mut turned = ring;
    for step in 0..5 {
        let by = 1 << step;
        turned = if first.get_bit(step) {
            (turned << by) | (turned >> (32 - by))
        } else {
            turned
        };
    }
    turned
}

/// Marks the full words that follow the word of the expected PSN without a break. `full` starts at that word, which
/// itself need not be full. A window of 1,024 packets ends in the 16th word after it, so no more can be full. 2 levels.
#[hdl_fn]
pub fn run_of_full(full: Bits<32>) -> Bits<16> {
    let mut run = bits::<16>(0);
    let mut unbroken = true;
    for i in 0..16 {
        let goes_on = unbroken & full.get_bit(i + 1);
        run = run.replace_bit(i, goes_on);
        unbroken = goes_on;
    }
    run
}

/// Length of a run made by [`run_of_full`], 0 to 16. 3 levels.
#[hdl_fn]
pub fn length_of_run(run: Bits<16>) -> Bits<5> {
    let mut length = bits::<5>(16);
    for i in (0..16).rev() {
        length = if run.get_bit(i) {
            length
        } else {
            bits::<5>(i as u64)
        };
    }
    length
}
