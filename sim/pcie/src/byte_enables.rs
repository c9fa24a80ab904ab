//! First/last DW byte enables of memory requests (PCIe base specification, section 2.2.5).

use std::ops::Range;

/// The enabled byte ranges, relative to the request's DW-aligned address, in ascending order and merged.
pub fn enabled_ranges(dwords: usize, first_be: u8, last_be: u8) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(1);
    let mut enable = |range: Range<usize>| match ranges.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    };
    for byte in (0..4).filter(|bit| first_be >> bit & 1 == 1) {
        enable(byte..byte + 1);
    }
    if dwords > 1 {
        let last_dw = (dwords - 1) * 4;
        enable(4..last_dw);
        for byte in (0..4).filter(|bit| last_be >> bit & 1 == 1) {
            enable(last_dw + byte..last_dw + byte + 1);
        }
    }
    ranges
}

/// How many bytes are enabled.
pub(crate) const fn enabled_count(dwords: usize, first_be: u8, last_be: u8) -> u64 {
    let first = (first_be & 0xf).count_ones() as u64;
    match dwords {
        0 => 0,
        1 => first,
        _ => first + 4 * (dwords as u64 - 2) + (last_be & 0xf).count_ones() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stellar_wire::pcie::DwSpan;

    proptest! {
        #[test]
        fn ranges_give_back_the_bytes_asked_for(offset in 0usize..4, len in 1usize..4096) {
            let span = DwSpan::new(offset as u64, len.min(4096 - offset)).unwrap();
            let ranges = enabled_ranges(span.length_dw.into(), span.first_be, span.last_be);
            prop_assert_eq!(ranges, vec![offset..offset + len.min(4096 - offset)]);
        }
    }

    proptest! {
        #[test]
        fn the_count_is_that_of_the_ranges(dwords in 1usize..64, first in 0u8..16, last in 0u8..16) {
            let ranges = enabled_ranges(dwords, first, last);
            let count = ranges.iter().map(|range| range.len() as u64).sum::<u64>();
            prop_assert_eq!(enabled_count(dwords, first, last), count);
        }
    }

    #[test]
    fn a_flush_enables_nothing() {
        assert!(enabled_ranges(1, 0, 0).is_empty());
    }

    #[test]
    fn holes_in_two_dwords_stay_holes() {
        assert_eq!(enabled_ranges(2, 0b1001, 0b0011), vec![0..1, 3..6]);
    }
}
