//! Divides work among sharers, such as the NICs of an engine.

use std::ops::Range;

/// Shares are multiples of this number of bytes: the default path MTU of queue pairs, and the size of a page.
const UNIT: u64 = 4096;

/// Returns the part of `length` bytes for sharer `index` of `sharers`. The last sharers get less, or nothing.
pub fn bytes(length: u64, sharers: usize, index: usize) -> Range<u64> {
    let share = length.div_ceil(sharers as u64).next_multiple_of(UNIT);
    let begin = (share * index as u64).min(length);
    begin..(begin + share).min(length)
}

/// Returns the part of `count` items for sharer `index` of `sharers`, as even as possible.
pub const fn items(count: usize, sharers: usize, index: usize) -> Range<usize> {
    count * index / sharers..count * (index + 1) / sharers
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_are_cut_without_gap_or_overlap(length in 0u64..1 << 34, sharers in 1usize..17) {
            let mut end = 0;
            for index in 0..sharers {
                let part = bytes(length, sharers, index);
                prop_assert_eq!(part.start, end);
                prop_assert!(part.end >= part.start);
                prop_assert!(part.start.is_multiple_of(UNIT) || part.start == length);
                prop_assert!(part.end - part.start <= length / sharers as u64 + 1 + UNIT);
                end = part.end;
            }
            prop_assert_eq!(end, length);
        }

        #[test]
        fn items_are_dealt_evenly(count in 0usize..1 << 20, sharers in 1usize..17) {
            let mut end = 0;
            for index in 0..sharers {
                let part = items(count, sharers, index);
                prop_assert_eq!(part.start, end);
                prop_assert!((count / sharers..=count.div_ceil(sharers)).contains(&part.len()));
                end = part.end;
            }
            prop_assert_eq!(end, count);
        }
    }
}
