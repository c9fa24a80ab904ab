//! Sets of numbers that arrive in any order.

use std::collections::BTreeSet;

/// A set of numbers from 0 on.
#[derive(Debug, Default)]
pub struct Sequence {
    /// Every number below this is in the set.
    floor: u64,
    /// Members above that.
    ahead: BTreeSet<u64>,
}

impl Sequence {
    /// The first number that is not in the set.
    pub const fn floor(&self) -> u64 {
        self.floor
    }

    /// Whether a number is in the set.
    pub fn contains(&self, number: u64) -> bool {
        number < self.floor || self.ahead.contains(&number)
    }

    /// Adds a number; `false` if it was in the set already.
    pub fn insert(&mut self, number: u64) -> bool {
        if self.contains(number) {
            return false;
        }
        self.ahead.insert(number);
        while self.ahead.remove(&self.floor) {
            self.floor += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares the set with a list of flags.
        #[test]
        fn the_floor_is_the_first_that_is_missing(numbers in prop::collection::vec(0u64..20, 0..60)) {
            let mut sequence = Sequence::default();
            let mut been = [false; 21];
            for number in numbers {
                let before = std::mem::replace(&mut been[number as usize], true);
                prop_assert_eq!(sequence.insert(number), !before);
                let floor = been.iter().position(|been| !been).unwrap();
                prop_assert_eq!(sequence.floor(), floor as u64);
                for other in 0..20 {
                    prop_assert_eq!(sequence.contains(other), been[other as usize]);
                }
            }
        }
    }
}
