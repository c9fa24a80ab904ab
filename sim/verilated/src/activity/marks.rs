//! Marks of functions: bits of words of the state.

use std::collections::{BTreeMap, BTreeSet};

/// Bits of a word of marks.
pub(super) const WORD: usize = 64;

/// Condition: one of `functions` is not marked.
pub(super) fn unmarked(functions: &BTreeSet<usize>) -> String {
    let missing = |(word, bits)| format!("(~vlSelf->stellar_marked[{word}] & {bits:#x}ULL)");
    let words = words(functions.iter().copied());
    words
        .into_iter()
        .map(missing)
        .collect::<Vec<_>>()
        .join(" | ")
}

/// Statements that mark functions.
pub(super) fn marks(functions: BTreeSet<usize>) -> String {
    let mark = |(word, bits)| format!("vlSelf->stellar_marked[{word}] |= {bits:#x}ULL;");
    let words = words(functions.into_iter());
    words.into_iter().map(mark).collect::<Vec<_>>().join(" ")
}

/// The marks of functions, as bits of words.
pub(super) fn words(functions: impl Iterator<Item = usize>) -> BTreeMap<usize, u64> {
    let mut words: BTreeMap<usize, u64> = BTreeMap::new();
    for function in functions {
        *words.entry(function / WORD).or_default() |= 1 << (function % WORD);
    }
    words
}
