//! Allocation of numbers: queue pairs, regions, translations, vectors, pages.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use stellar_wire::host::Doorbell;

use crate::error::Error;

/// Allocates single numbers. The number that has been free longest is allocated next, so that a stale user of an old number is detected.
pub struct Numbers {
    what: &'static str,
    have: u32,
    /// Numbers that were never allocated.
    fresh: Range<u32>,
    /// Numbers that were released, in this order.
    free: VecDeque<u32>,
}

impl Numbers {
    /// The numbers from `first` to below `end`.
    pub const fn new(what: &'static str, first: u32, end: u32) -> Self {
        Self {
            what,
            have: end - first,
            fresh: first..end,
            free: VecDeque::new(),
        }
    }

    /// Allocates one.
    pub fn take(&mut self) -> Result<u32, Error> {
        let number = self.fresh.next().or_else(|| self.free.pop_front());
        number.ok_or(Error::Exhausted {
            what: self.what,
            have: self.have,
        })
    }

    /// Returns how many there are.
    pub const fn all(&self) -> u32 {
        self.have
    }

    /// Returns how many are free.
    pub fn left(&self) -> u32 {
        self.fresh.len() as u32 + self.free.len() as u32
    }

    /// Releases one.
    pub fn give_back(&mut self, number: u32) {
        self.free.push_back(number);
    }
}

/// Numbers of queue pairs. The card has a requester engine for even and one for odd numbers.
pub struct QueuePairNumbers {
    /// Even and odd ones.
    halves: [Numbers; 2],
}

/// Queue pairs of a context: how many each engine has.
pub type PerEngine = [u32; 2];

/// The engine of a queue pair: 0 for even numbers, 1 for odd ones.
pub const fn engine_of(number: u32) -> usize {
    number as usize % 2
}

impl QueuePairNumbers {
    /// The numbers from `first` to below `end`.
    pub fn new(first: u32, end: u32) -> Self {
        let half = |odd| Numbers {
            what: "queue pairs",
            have: end - first,
            fresh: 0..0,
            free: (first..end).filter(|number| number % 2 == odd).collect(),
        };
        Self {
            halves: [half(0), half(1)],
        }
    }

    /// Allocates one, of the engine that has fewer of the queue pairs `own` of a context, or else of the engine that has more numbers left. So a context with two queue
    /// pairs or more sends by both engines, and contexts with one are spread evenly.
    pub fn take(&mut self, own: PerEngine) -> Result<u32, Error> {
        let left = self.halves.each_ref().map(Numbers::left);
        let odd = (own[1], left[0]) < (own[0], left[1]);
        let [even_half, odd_half] = &mut self.halves;
        let (first, second) = if odd {
            (odd_half, even_half)
        } else {
            (even_half, odd_half)
        };
        first.take().or_else(|_| second.take())
    }

    /// Releases one.
    pub fn give_back(&mut self, number: u32) {
        self.halves[engine_of(number)].give_back(number);
    }
}

/// Doorbell pages. Those for which the card has space for a pushed entry come first, as long as one is free.
pub struct DoorbellPages {
    push: Numbers,
    others: Numbers,
}

impl DoorbellPages {
    /// The pages below `end`.
    pub fn new(end: u32) -> Self {
        let pushing = end.min(1 << Doorbell::PUSH_PAGES_LOG2);
        let mut others = Numbers::new("doorbell pages", pushing, end);
        others.have = end;
        Self {
            push: Numbers::new("doorbell pages", 0, pushing),
            others,
        }
    }

    /// Allocates one.
    pub fn take(&mut self) -> Result<u32, Error> {
        self.push.take().or_else(|_| self.others.take())
    }

    /// Releases one.
    pub fn give_back(&mut self, page: u32) {
        if page < self.push.have {
            self.push.give_back(page);
        } else {
            self.others.give_back(page);
        }
    }
}

/// Runs of consecutive numbers, first fit.
pub struct Runs {
    what: &'static str,
    have: u32,
    /// Free runs of numbers: length by first number. Runs are not adjacent and do not overlap.
    free: BTreeMap<u32, u32>,
}

impl Runs {
    /// The numbers below `end`.
    pub fn new(what: &'static str, end: u32) -> Self {
        Self {
            what,
            have: end,
            free: BTreeMap::from([(0, end)]),
        }
    }

    /// Allocates `count` consecutive numbers; returns the first.
    pub fn take(&mut self, count: u32) -> Result<u32, Error> {
        let fits = |(_, length): &(&u32, &u32)| **length >= count;
        let Some((&first, &length)) = self.free.iter().find(fits) else {
            let (what, have) = (self.what, self.have);
            return Err(Error::Exhausted { what, have });
        };
        self.free.remove(&first);
        if length > count {
            self.free.insert(first + count, length - count);
        }
        Ok(first)
    }

    /// Releases a run.
    pub fn give_back(&mut self, first: u32, count: u32) {
        let (mut first, mut count) = (first, count);
        if let Some((&before, &length)) = self.free.range(..first).next_back() {
            if before + length == first {
                self.free.remove(&before);
                (first, count) = (before, length + count);
            }
        }
        if let Some(length) = self.free.remove(&(first + count)) {
            count += length;
        }
        self.free.insert(first, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const END: u32 = 64;

    proptest! {
        /// Compared with a list of the allocated runs: runs never overlap, and one is refused only if no gap is wide enough.
        #[test]
        fn runs_are_apart_and_refused_only_without_room(steps in prop::collection::vec((any::<bool>(), 1u32..20, any::<prop::sample::Index>()), 1..80)) {
            let mut runs = Runs::new("translations", END);
            let mut owned: Vec<(u32, u32)> = Vec::new();
            let mut used = [false; END as usize];
            for (takes, count, which) in steps {
                if takes {
                    let gap = used.split(|used| *used).map(<[bool]>::len).max().unwrap_or(0);
                    match runs.take(count) {
                        Ok(first) => {
                            for number in first..first + count {
                                prop_assert!(!std::mem::replace(&mut used[number as usize], true));
                            }
                            owned.push((first, count));
                        }
                        Err(_) => prop_assert!(gap < count as usize),
                    }
                } else if !owned.is_empty() {
                    let (first, count) = owned.swap_remove(which.index(owned.len()));
                    used[first as usize..(first + count) as usize].fill(false);
                    runs.give_back(first, count);
                }
            }
        }
    }

    #[test]
    fn pages_that_push_come_first_also_when_they_come_again() {
        let pushing = 1 << Doorbell::PUSH_PAGES_LOG2;
        let mut pages = DoorbellPages::new(pushing + 2);
        for page in 0..=pushing {
            assert_eq!(pages.take().unwrap(), page);
        }
        pages.give_back(pushing);
        pages.give_back(7);
        pages.give_back(3);
        let again = [7, 3, pushing + 1, pushing];
        assert_eq!(again.map(|_| pages.take().unwrap()), again);
        let none = pages.take().unwrap_err();
        assert!(matches!(none, Error::Exhausted { have, .. } if have == pushing + 2));
    }

    #[test]
    fn a_context_has_queue_pairs_of_both_engines() {
        let mut numbers = QueuePairNumbers::new(2, 12);
        let mut take = |own: &mut PerEngine| {
            let number = numbers.take(*own).unwrap();
            own[engine_of(number)] += 1;
            number
        };
        let (mut first, mut second, mut third) = ([0; 2], [0; 2], [0; 2]);
        assert_eq!([take(&mut first), take(&mut second)], [2, 3]);
        // Each gets the engine that it does not have yet.
        assert_eq!([take(&mut first), take(&mut second)], [5, 4]);
        assert_eq!([(); 4].map(|()| take(&mut third)), [6, 7, 8, 9]);
        assert_eq!((first, second, third), ([1, 1], [1, 1], [2, 2]));
        // When one engine has no number left, the other one gives.
        let mut last = [5, 0];
        assert_eq!([take(&mut last), take(&mut last)], [11, 10]);
        let none = numbers.take([0; 2]).unwrap_err().to_string();
        assert_eq!(none, "no queue pairs left; the card has 10: free some");
        numbers.give_back(5);
        assert_eq!(numbers.take([0; 2]).unwrap(), 5);
    }

    #[test]
    fn a_number_comes_again_last() {
        let mut numbers = Numbers::new("queue pairs", 2, 5);
        assert_eq!(numbers.take().unwrap(), 2);
        numbers.give_back(2);
        assert_eq!((numbers.left(), numbers.all()), (3, 3));
        let next = [(); 3].map(|()| numbers.take().unwrap());
        assert_eq!(next, [3, 4, 2]);
        assert_eq!((numbers.left(), numbers.all()), (0, 3));
        let error = numbers.take().unwrap_err().to_string();
        assert_eq!(error, "no queue pairs left; the card has 3: free some");
    }
}
