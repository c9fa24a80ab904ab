//! One bit per PSN of the transmit window.

use std::collections::VecDeque;

use crate::rx::Psn;

/// Numbers of words wrap with the PSNs: 2^24 of them are 2^18 words.
const NUMBER_MASK: u32 = (1 << 18) - 1;

/// A set of PSNs of the transmit window. Its memory follows what the window spans, not what it may span.
#[derive(Clone, Debug, Default)]
pub(super) struct PsnBits {
    /// Number of the first word: the PSN of its bit 0, divided by 64.
    first: u32,
    /// Bit i of word w: PSN 64 w + i.
    words: VecDeque<u64>,
}

impl PsnBits {
    /// Words added when there is no room: doubling would leave half of them unused in thousands of queue pairs.
    const GROWTH: usize = 2;

    const fn number(psn: Psn) -> u32 {
        psn.value() / 64
    }

    /// Asks for the memory of a PSN's bit ([`stellar_fetch`]).
    pub fn fetch(&self, psn: Psn) {
        if let Some(word) = self.words.get(self.position(Self::number(psn))) {
            stellar_fetch::fetch(word);
        }
    }

    /// Position of a word, beyond the end if there is no such word.
    const fn position(&self, number: u32) -> usize {
        (number.wrapping_sub(self.first) & NUMBER_MASK) as usize
    }

    pub fn contains(&self, psn: Psn) -> bool {
        let word = self.words.get(self.position(Self::number(psn)));
        word.is_some_and(|word| word >> (psn.value() % 64) & 1 == 1)
    }

    /// Adds a PSN, which must not be before the word to which [`Self::forget_before`] moved the set.
    pub fn insert(&mut self, psn: Psn) {
        if self.words.is_empty() {
            self.first = Self::number(psn);
        }
        let position = self.position(Self::number(psn));
        while self.words.len() <= position {
            if self.words.len() == self.words.capacity() {
                self.words.reserve_exact(Self::GROWTH);
            }
            self.words.push_back(0);
        }
        self.words[position] |= 1 << (psn.value() % 64);
    }

    /// Removes a PSN. Returns whether it was in the set.
    pub fn remove(&mut self, psn: Psn) -> bool {
        let bit = 1 << (psn.value() % 64);
        let position = self.position(Self::number(psn));
        let word = self
            .words
            .get_mut(position)
            .filter(|word| **word & bit != 0);
        word.map(|word| *word &= !bit).is_some()
    }

    /// Drops the words before that of a PSN. No PSN of theirs is in the set.
    pub fn forget_before(&mut self, psn: Psn) {
        while self.first != Self::number(psn) && self.words.pop_front().is_some() {
            self.first = (self.first + 1) & NUMBER_MASK;
        }
    }

    /// Returns the 64 PSNs from `base` on: bit i is PSN `base + i`.
    pub fn word(&self, base: Psn) -> u64 {
        let (number, bit) = (Self::number(base), base.value() % 64);
        let word = |number| {
            let position = self.position(number);
            self.words.get(position).copied().unwrap_or(0)
        };
        let low = word(number) >> bit;
        if bit == 0 {
            return low;
        }
        low | word(number + 1) << (64 - bit)
    }

    /// Returns the first PSN of the set that is not before `from`, if there is one. `from` must not be before the first word.
    pub fn next(&self, from: Psn) -> Option<Psn> {
        let start = self.position(Self::number(from));
        let mut mask = u64::MAX << (from.value() % 64);
        for (position, word) in self.words.iter().enumerate().skip(start) {
            let rest = word & mask;
            mask = u64::MAX;
            if rest != 0 {
                let number = (self.first + position as u32) & NUMBER_MASK;
                return Some(Psn::new(number * 64).plus(rest.trailing_zeros()));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_next_psn_is_the_one_a_walk_finds(
            ahead in prop::collection::btree_set(0..4096_u32, 0..20), una in 0..=0xff_ffff_u32, from in 0..4096_u32,
        ) {
            let una = Psn::new(una);
            let mut bits = PsnBits::default();
            // The window starts at `una`.
            bits.insert(una);
            bits.remove(una);
            for &step in &ahead {
                bits.insert(una.plus(step));
            }
            let from_psn = una.plus(from);
            let walked = (from..4096).find(|step| ahead.contains(step));
            prop_assert_eq!(bits.next(from_psn), walked.map(|step| una.plus(step)));
            let word = (0..64).fold(0, |word, bit| {
                word | u64::from(ahead.contains(&(from + bit))) << bit
            });
            prop_assert_eq!(bits.word(from_psn), word);
            // The window moves to `from`.
            for &step in ahead.range(..from) {
                bits.remove(una.plus(step));
            }
            bits.forget_before(from_psn);
            prop_assert_eq!(bits.next(from_psn), walked.map(|step| una.plus(step)));
            bits.insert(from_psn.plus(4095));
            prop_assert!(bits.contains(from_psn.plus(4095)));
            prop_assert!(bits.words.len() <= 65);
        }
    }
}
