//! Multi-byte header fields in network byte order: the first byte on the wire is the most significant one, and is in the lowest bits of the lane.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// The byte `at` bytes into `lane`.
#[hdl_fn]
pub fn byte<const N: usize>(lane: Bits<N>, at: usize) -> Bits<8> {
    lane.get_bits::<8>(8 * at)
}

/// The 16-bit field that starts `at` bytes into `lane`.
#[hdl_fn]
pub fn be16<const N: usize>(lane: Bits<N>, at: usize) -> Bits<16> {
    (bit_cast::<16, 8>(lane.get_bits::<8>(8 * at)) << 8)
        | bit_cast::<16, 8>(lane.get_bits::<8>(8 * at + 8))
}

/// The 24-bit field that starts `at` bytes into `lane`.
#[hdl_fn]
pub fn be24<const N: usize>(lane: Bits<N>, at: usize) -> Bits<24> {
    let field = lane.get_bits::<24>(8 * at);
    (bit_cast::<24, 8>(field.get_bits::<8>(0)) << 16)
        | (bit_cast::<24, 8>(field.get_bits::<8>(8)) << 8)
        | bit_cast::<24, 8>(field.get_bits::<8>(16))
}

/// The 32-bit field that starts `at` bytes into `lane`.
#[hdl_fn]
pub fn be32<const N: usize>(lane: Bits<N>, at: usize) -> Bits<32> {
    let field = lane.get_bits::<32>(8 * at);
    let mut value = bits::<32>(0);
    for i in 0..4 {
        value = (value << 8) | bit_cast::<32, 8>(field.get_bits::<8>(8 * i));
    }
    value
}

/// The 48-bit field that starts `at` bytes into `lane`.
#[hdl_fn]
pub fn be48<const N: usize>(lane: Bits<N>, at: usize) -> Bits<48> {
    let field = lane.get_bits::<48>(8 * at);
    let mut value = bits::<48>(0);
    for i in 0..6 {
        value = (value << 8) | bit_cast::<48, 8>(field.get_bits::<8>(8 * i));
    }
    value
}

/// The 64-bit field that starts `at` bytes into `lane`.
#[hdl_fn]
pub fn be64<const N: usize>(lane: Bits<N>, at: usize) -> Bits<64> {
    let field = lane.get_bits::<64>(8 * at);
    let mut value = bits::<64>(0);
    for i in 0..8 {
        value = (value << 8) | bit_cast::<64, 8>(field.get_bits::<8>(8 * i));
    }
    value
}

/// The 128-bit field that starts `at` bytes into `lane`.
#[hdl_fn]
pub fn be128<const N: usize>(lane: Bits<N>, at: usize) -> Bits<128> {
    let field = lane.get_bits::<128>(8 * at);
    let high = be64(field, 0);
    let low = be64(field, 8);
    (bit_cast::<128, 64>(high) << 64) | bit_cast::<128, 64>(low)
}
