//! Conversion of numbers to header vectors: byte `i` of a vector is in bits `8i + 7 : 8i`, and the most significant byte of a field comes first.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// The bytes of a number in network order.
#[hdl_fn]
pub fn network_order<const N: usize>(number: Bits<N>) -> Bits<N> {
    let mut bytes = bits::<N>(0);
    for i in 0..N / 8 {
        let byte = bit_cast::<N, 8>(number.get_bits::<8>(N - 8 - 8 * i));
        bytes = bytes | (byte << ((8 * i) as u64));
    }
    bytes
}

/// `vector` with a field from byte `at` on, which was zero before.
#[hdl_fn]
pub fn with_field<const V: usize, const N: usize>(
    vector: Bits<V>,
    at: usize,
    number: Bits<N>,
) -> Bits<V> {
    vector | (bit_cast::<V, N>(network_order(number)) << ((8 * at) as u64))
}

/// `vector` with an IPv6 address from byte `at` on, which was zero before. The address is inserted in words, because byte by byte it would be 16
/// shifts of 128 bits.
#[hdl_fn]
pub fn with_address<const V: usize>(vector: Bits<V>, at: usize, address: Bits<128>) -> Bits<V> {
    let mut whole = vector;
    for i in 0..4 {
        whole = with_field(whole, at + 4 * i, address.get_bits::<32>(96 - 32 * i));
    }
    whole
}

/// `vector` with one bit set, counted from the least significant bit of byte `at`.
#[hdl_fn]
pub fn with_flag<const V: usize>(vector: Bits<V>, at: usize, bit: usize, flag: Bit) -> Bits<V> {
    vector | (bit_cast::<V, 1>(flag.into()) << ((8 * at + bit) as u64))
}
