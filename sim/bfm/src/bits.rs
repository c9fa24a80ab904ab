//! Runs of bits in words, bit 0 of word 0 first.

/// The value of `width` bits from bit `offset` on, at most 64.
pub fn field(words: &[u32], offset: usize, width: usize) -> u64 {
    if offset % 32 + width <= 32 {
        return u64::from(words[offset / 32] >> (offset % 32)) & ones(width);
    }
    parts(offset, width).fold(0, |value, (word, shift, count, at)| {
        let part = u64::from(words[word] >> shift) & ones(count);
        value | part << at
    })
}

/// Replaces `width` bits from bit `offset` on, at most 64; bits of `value` beyond them are dropped.
pub fn set_field(words: &mut [u32], offset: usize, width: usize, value: u64) {
    let shift = offset % 32;
    if shift + width <= 32 {
        let mask = (ones(width) as u32) << shift;
        let word = &mut words[offset / 32];
        *word = *word & !mask | (value as u32) << shift & mask;
        return;
    }
    for (word, shift, count, at) in parts(offset, width) {
        let mask = (ones(count) as u32) << shift;
        let part = ((value >> at) as u32) << shift;
        words[word] = words[word] & !mask | part & mask;
    }
}

/// The pieces of a run in each word: word, lowest bit there, bits, lowest bit of the value.
fn parts(offset: usize, width: usize) -> impl Iterator<Item = (usize, usize, usize, usize)> {
    let (first, end) = (offset, offset + width);
    (first / 32..end.div_ceil(32)).map(move |word| {
        let low = first.max(word * 32);
        let high = end.min(word * 32 + 32);
        (word, low % 32, high - low, low - first)
    })
}

/// A mask of this number of low bits, at most 32.
const fn ones(count: usize) -> u64 {
    (1 << count) - 1
}
