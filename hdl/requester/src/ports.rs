//! Pairs of bits, one per port: bit p belongs to port p.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// Returns the pair. No logic.
#[hdl_fn]
pub fn pair(port0: Bit, port1: Bit) -> Bits<2> {
    (bit_cast::<2, 1>(port1.into()) << 1) | bit_cast::<2, 1>(port0.into())
}

/// Returns the bit of `port`. Levels: 1.
#[hdl_fn]
pub fn of_port(bits: Bits<2>, port: Bit) -> Bit {
    if port {
        bits.get_bit(1)
    } else {
        bits.get_bit(0)
    }
}
