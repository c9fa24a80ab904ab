//! The tools accept the shim.
use hdl_shims::rx_admit::MOST_BYTES;
use hdl_shims::RxAdmit;
use hdl_testkit::tools;

use crate::model::design;

#[test]
fn the_tools_accept_the_shim() {
    tools::check(&design()).unwrap_or_else(|error| panic!("{error}"));
}

/// The longest frame of the tests, and of a card with a path MTU of 9,216 bytes.
#[test]
fn a_frame_of_9_216_bytes_is_not_too_long() {
    const { assert!(MOST_BYTES >= 9_216 + 14 + 40 + 40 + 8 + 12 + 4 + 16 + 4) };
}

#[test]
#[should_panic(expected = "a FIFO of twice the longest frame, which has 150 beats")]
fn a_fifo_that_is_too_small_is_refused() {
    RxAdmit::<512, 522, 8>::default();
}

#[test]
#[should_panic(expected = "a word needs P = W + 10 = 522")]
fn words_of_another_width_are_refused() {
    RxAdmit::<512, 520, 10>::default();
}
