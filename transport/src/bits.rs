//! Maps of bits.

/// The `count` lowest bits, 0 to 64.
pub(crate) const fn low_bits(count: u32) -> u64 {
    match count {
        0 => 0,
        count => u64::MAX >> (64 - count),
    }
}
