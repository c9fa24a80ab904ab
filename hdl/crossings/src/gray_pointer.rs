//! Gray code: numbers that follow each other differ in one bit. Whatever of a step has arrived on another clock, the result is the number before
//! or after it.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// The gray code of a number. 1 LUT level.
#[hdl_fn]
pub fn gray_of<const N: usize>(binary: Bits<N>) -> Bits<N> {
    binary ^ (binary >> 1)
}

/// The number of a gray code: each bit is the parity of the code from that bit up. 2 LUT levels up to 36 bits.
#[hdl_fn]
pub fn binary_of<const N: usize>(gray: Bits<N>) -> Bits<N> {
    let mut binary = gray;
    for i in 1..N as u64 {
        binary = binary ^ (gray >> i);
    }
    binary
}
