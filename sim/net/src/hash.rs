//! The hash of ECMP.

/// Finalizer of SplitMix64 (Steele, Lea and Flood 2014): every input bit changes every output bit with probability near
/// one half. Unlike a CRC it is not linear, so switches with different seeds choose independently.
pub(crate) const fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Mixes `bytes`, a multiple of four of them, into `hash`.
pub(crate) fn mix_bytes(hash: u64, bytes: &[u8]) -> u64 {
    bytes.chunks_exact(4).fold(hash, |hash, word| {
        let word = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
        mix(hash ^ u64::from(word))
    })
}

/// One of `choices` indices, chosen by the high bits of `hash`.
pub(crate) fn choose(hash: u64, choices: usize) -> usize {
    ((u128::from(hash) * choices as u128) >> 64) as usize
}
