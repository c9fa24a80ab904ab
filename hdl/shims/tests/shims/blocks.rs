//! The tools accept the shim.
use hdl_shims::rx_admit::MOST_BEATS;
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
    const { assert!(MOST_BEATS * 64 >= 9_216 + 14 + 40 + 40 + 8 + 12 + 4 + 16 + 4) };
}

#[test]
#[should_panic(expected = "use 9 to 16")]
fn a_fifo_that_is_too_small_is_refused() {
    RxAdmit::<8>::default();
}
