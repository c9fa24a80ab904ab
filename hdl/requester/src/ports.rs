//! Pairs of bits, one for each port: bit p is port p's.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// The pair. Wires only.
#[hdl_fn]
pub fn pair(port0: Bit, port1: Bit) -> Bits<2> {
    (bit_cast::<2, 1>(port1.into()) << 1) | bit_cast::<2, 1>(port0.into())
}

/// A port's own bit. Levels: 1.
#[hdl_fn]
pub fn of_port(bits: Bits<2>, port: Bit) -> Bit {
    if port {
        bits.get_bit(1)
    } else {
        bits.get_bit(0)
    }
}
