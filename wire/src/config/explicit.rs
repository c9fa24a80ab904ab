//! Explicit entropy values as a card has them: by number, and by bucket for the way back from a value to its number.

use super::ProfileError;
use crate::mrc::Entropy;
use crate::rows::{bucket_of, BucketRow, ExplicitRow, NO_NUMBER, NUMBER_BITS};

/// Rows of a profile, and buckets.
const ROWS: usize = 1 << NUMBER_BITS;
/// Values of a bucket.
const PLACES: u8 = 2;
/// Keys that are tried. For 144 values, all that a profile can have, 3 to 1,694 were in 24 random profiles, 296 on average (2026-11-27).
const KEYS: u32 = 1 << 16;

/// Returns a key with which no bucket has more values than places.
pub(super) fn key_for(values: &[Entropy]) -> Result<u32, ProfileError> {
    first_key(values, KEYS)
}

fn first_key(values: &[Entropy], keys: u32) -> Result<u32, ProfileError> {
    // Odd multiples of 2^32 divided by the golden ratio: all differ, and their bits look random.
    let mut tried = (0..keys).map(|n| (2 * n + 1).wrapping_mul(0x9e37_79b9));
    let key = tried.find(|&key| fits(values, key));
    key.ok_or(ProfileError::NoKey(keys))
}

fn fits(values: &[Entropy], key: u32) -> bool {
    let mut counts = [0; ROWS];
    values.iter().all(|value| {
        let count = &mut counts[usize::from(bucket_of(value.0, key))];
        *count += 1;
        *count <= PLACES
    })
}

/// Returns the rows of a profile with these values and a key that fits them.
pub(super) fn explicit_rows(values: &[Entropy], key: u32) -> Vec<ExplicitRow> {
    let empty = ExplicitRow {
        value: 0,
        bucket: BucketRow {
            first: 0,
            first_number: NO_NUMBER,
            second: 0,
            second_number: NO_NUMBER,
        },
    };
    let mut rows = vec![empty; ROWS];
    for (number, value) in (0..).zip(values) {
        rows[usize::from(number)].value = value.0;
        let bucket = &mut rows[usize::from(bucket_of(value.0, key))].bucket;
        if bucket.first_number == NO_NUMBER {
            (bucket.first, bucket.first_number) = (value.0, number);
        } else {
            (bucket.second, bucket.second_number) = (value.0, number);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The number of a value as the card finds it.
    fn number_of(rows: &[ExplicitRow], key: u32, value: u32) -> Option<u8> {
        let bucket = rows[usize::from(bucket_of(value, key))].bucket;
        let places = [
            (bucket.first, bucket.first_number),
            (bucket.second, bucket.second_number),
        ];
        let mut found = places
            .into_iter()
            .filter(|&(each, number)| each == value && number != NO_NUMBER);
        found.next().map(|(_, number)| number)
    }

    fn check(values: &[u32], others: &[u32]) {
        let entropy: Vec<Entropy> = values.iter().copied().map(Entropy).collect();
        let key = key_for(&entropy).expect("a key");
        let rows = explicit_rows(&entropy, key);
        assert_eq!(rows.len(), ROWS);
        for (number, &value) in (0..).zip(values) {
            assert_eq!(rows[usize::from(number)].value, value);
            assert_eq!(number_of(&rows, key, value), Some(number), "{value:#x}");
        }
        for other in others.iter().filter(|other| !values.contains(other)) {
            assert_eq!(number_of(&rows, key, *other), None, "{other:#x}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        /// All that a profile can have: 144 values, of both widths.
        #[test]
        fn every_value_leads_back_to_its_number(
            wide in prop::collection::btree_set(any::<u32>(), 144),
            narrow in prop::collection::btree_set(any::<u16>(), 144),
        ) {
            let wide: Vec<u32> = wide.into_iter().collect();
            let narrow: Vec<u32> = narrow.into_iter().map(u32::from).collect();
            check(&wide, &narrow);
            check(&narrow, &wide);
        }
    }

    #[test]
    fn regular_values_have_a_key_too() {
        let at = |distance: u32| (0..144).map(|n| n * distance).collect::<Vec<u32>>();
        for distance in [1, 2, 3, 0x10, 0x101, 0x1001, 0x1_0000, 0x1_0001, 0x101_0101] {
            check(&at(distance), &[0xdead_beef, u32::MAX]);
        }
    }

    #[test]
    fn values_without_a_key_are_refused() {
        // Key 0x9e3779b9 has three of these in one bucket; another key has not.
        let values: Vec<u32> = (0..1 << 16)
            .filter(|&value| bucket_of(value, 0x9e37_79b9) == 5)
            .take(3)
            .collect();
        let entropy: Vec<Entropy> = values.iter().copied().map(Entropy).collect();
        let refused = first_key(&entropy, 1);
        assert_eq!(refused, Err(ProfileError::NoKey(1)));
        check(&values, &[]);
    }
}
