//! One bit per slot of the transmit window.

use super::window::SLOTS;

const WORDS: usize = (SLOTS / 64) as usize;

/// A set of slots of the transmit window, as a ring of bits.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotBits {
    words: [u64; WORDS],
}

impl SlotBits {
    pub const fn contains(&self, slot: u32) -> bool {
        self.words[(slot / 64) as usize] >> (slot % 64) & 1 == 1
    }

    pub fn insert(&mut self, slot: u32) {
        self.words[(slot / 64) as usize] |= 1 << (slot % 64);
    }

    pub fn remove(&mut self, slot: u32) {
        self.words[(slot / 64) as usize] &= !(1 << (slot % 64));
    }

    /// Returns the 64 slots from `start` on, around the ring: bit i is slot `start + i`.
    pub const fn word(&self, start: u32) -> u64 {
        let (word, bit) = ((start / 64) as usize, start % 64);
        let low = self.words[word] >> bit;
        if bit == 0 {
            return low;
        }
        low | self.words[(word + 1) % WORDS] << (64 - bit)
    }

    /// Returns the number of steps from slot `start` around the ring to the first slot of the set that is at least `from` steps away, if there is one.
    pub fn next(&self, start: u32, from: u32) -> Option<u32> {
        let mut step = from;
        while step < SLOTS {
            let slot = (start + step) % SLOTS;
            let word = self.words[(slot / 64) as usize] >> (slot % 64);
            if word != 0 {
                let found = step + word.trailing_zeros();
                // The word of `start` is visited twice. In the second visit, slots from `start` on are a full turn away and do not count.
                return (found < SLOTS).then_some(found);
            }
            step += 64 - slot % 64;
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
        fn the_next_slot_is_the_one_a_walk_finds(
            slots in prop::collection::btree_set(0..SLOTS, 0..20), start in 0..SLOTS, from in 0..SLOTS,
        ) {
            let mut bits = SlotBits::default();
            for &slot in &slots {
                bits.insert(slot);
            }
            let walked = (from..SLOTS).find(|step| slots.contains(&((start + step) % SLOTS)));
            prop_assert_eq!(bits.next(start, from), walked);
            let word = (0..64).fold(0, |word, bit| {
                word | u64::from(slots.contains(&((start + bit) % SLOTS))) << bit
            });
            prop_assert_eq!(bits.word(start), word);
            for &slot in &slots {
                bits.remove(slot);
            }
            prop_assert_eq!(bits.next(start, 0), None);
        }
    }
}
