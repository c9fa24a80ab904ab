//! Byte lanes of a double word that byte enables select (PCIe base specification, section 2.2.5).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// Highest lane of a byte enable with at least one bit.
#[hdl_fn]
pub fn highest_lane(enables: Bits<4>) -> Bits<2> {
    if enables.get_bit(3) {
        bits::<2>(3)
    } else if enables.get_bit(2) {
        bits::<2>(2)
    } else if enables.get_bit(1) {
        bits::<2>(1)
    } else {
        bits::<2>(0)
    }
}

/// Lowest lane of a byte enable with at least one bit.
#[hdl_fn]
pub fn lowest_lane(enables: Bits<4>) -> Bits<2> {
    if enables.get_bit(0) {
        bits::<2>(0)
    } else if enables.get_bit(1) {
        bits::<2>(1)
    } else if enables.get_bit(2) {
        bits::<2>(2)
    } else {
        bits::<2>(3)
    }
}
