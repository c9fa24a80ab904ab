//! Fields of words.

/// `bits` bits from bit `at` on, at most 32.
pub fn field(words: &[u32], at: usize, bits: usize) -> u64 {
    let low = u64::from(words[at / 32]);
    let high = words.get(at / 32 + 1).map_or(0, |&word| u64::from(word));
    (high << 32 | low) >> (at % 32) & ((1 << bits) - 1)
}

/// Sets `bits` bits from bit `at` on, which are zero, at most 32.
pub fn set_field(words: &mut [u32], at: usize, bits: usize, value: u64) {
    debug_assert!(value >> bits == 0, "{value:#x} in {bits} bits");
    let placed = value << (at % 32);
    words[at / 32] |= placed as u32;
    if let Some(next) = words.get_mut(at / 32 + 1) {
        *next |= (placed >> 32) as u32;
    }
}
