//! Ranges of addresses in a map by their first address.

use std::collections::BTreeMap;

/// A value that covers a range from its key on.
pub trait Ranged {
    /// Bytes.
    fn length(&self) -> u64;
}

impl Ranged for u64 {
    fn length(&self) -> u64 {
        *self
    }
}

/// Whether a range of the map overlaps the one from `address` to `end`. Those of the map do not overlap each other.
pub fn overlaps<T: Ranged>(map: &BTreeMap<u64, T>, address: u64, end: u64) -> bool {
    let before = map.range(..end).next_back();
    before.is_some_and(|(at, range)| at + range.length() > address)
}

/// The first addresses of the ranges that lie inside the one of `length` bytes from `address` on.
pub fn inside<T: Ranged>(map: &BTreeMap<u64, T>, address: u64, length: u64) -> Vec<u64> {
    let end = address.saturating_add(length);
    let inside = map.range(address..end);
    let inside = inside.filter(|(at, range)| at.saturating_add(range.length()) <= end);
    inside.map(|(at, _)| *at).collect()
}
