//! Arrivals by immediate, and the expectations for them.

use std::collections::BTreeMap;

use crate::ids::PeerId;

/// Peers whose loss ends an expectation early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Senders {
    /// Every connected peer, because any of them may have been the one to send.
    Anyone,
    /// Only these peers.
    These(Vec<PeerId>),
}

impl Senders {
    fn include(&self, peer: PeerId) -> bool {
        match self {
            Self::Anyone => true,
            Self::These(peers) => peers.contains(&peer),
        }
    }
}

struct Expectation<W> {
    count: u64,
    senders: Senders,
    who: W,
}

/// Counters of all immediates. `W` identifies a waiting expectation.
pub struct Counters<W> {
    /// Arrivals that no expectation has used; never zero.
    arrived: BTreeMap<u32, u64>,
    expected: BTreeMap<u32, Expectation<W>>,
    /// Maximum number of immediates that are counted without an expectation.
    most: usize,
}

impl<W> Counters<W> {
    /// Counters without arrivals. At most `most` immediates are counted without an expectation.
    pub const fn new(most: usize) -> Self {
        Self {
            arrived: BTreeMap::new(),
            expected: BTreeMap::new(),
            most,
        }
    }

    /// Arrivals that no expectation has used.
    pub fn count(&self, immediate: u32) -> u64 {
        self.arrived.get(&immediate).copied().unwrap_or(0)
    }

    /// Whether there is an expectation for an immediate.
    pub fn is_expected(&self, immediate: u32) -> bool {
        self.expected.contains_key(&immediate)
    }

    /// Counts an arrival; returns the expectation that it completes. `Err`: there are too many immediates without an expectation.
    pub fn arrive(&mut self, immediate: u32) -> Result<Option<W>, usize> {
        let is_new = !self.arrived.contains_key(&immediate);
        if is_new && !self.is_expected(immediate) && self.arrived.len() >= self.most {
            return Err(self.most);
        }
        *self.arrived.entry(immediate).or_default() += 1;
        Ok(self.reach(immediate))
    }

    /// Adds an expectation of `count` arrivals, which may have happened already. There must be no other expectation for the immediate.
    pub fn expect(&mut self, immediate: u32, count: u64, senders: Senders, who: W) -> Option<W> {
        let expectation = Expectation {
            count,
            senders,
            who,
        };
        self.expected.insert(immediate, expectation);
        self.reach(immediate)
    }

    fn reach(&mut self, immediate: u32) -> Option<W> {
        let count = self.expected.get(&immediate)?.count;
        let left = self.count(immediate).checked_sub(count)?;
        if left == 0 {
            self.arrived.remove(&immediate);
        } else {
            self.arrived.insert(immediate, left);
        }
        self.cancel(immediate)
    }

    /// Removes an expectation; arrivals stay counted.
    pub fn cancel(&mut self, immediate: u32) -> Option<W> {
        let expectation = self.expected.remove(&immediate)?;
        Some(expectation.who)
    }

    /// Records that a peer is lost. Returns the expectations that end with it.
    pub fn lose(&mut self, peer: PeerId) -> Vec<(u32, W)> {
        let depends = |expectation: &Expectation<W>| expectation.senders.include(peer);
        let lost: Vec<u32> = self
            .expected
            .iter()
            .filter_map(|(immediate, expectation)| depends(expectation).then_some(*immediate))
            .collect();
        lost.into_iter()
            .filter_map(|immediate| Some((immediate, self.cancel(immediate)?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_count_before_and_after_they_are_expected_and_the_rest_stays() {
        let mut counters = Counters::new(2);
        assert_eq!(counters.arrive(7), Ok(None));
        assert_eq!(counters.expect(7, 3, Senders::Anyone, 'a'), None);
        assert_eq!(counters.arrive(7), Ok(None));
        assert_eq!(counters.arrive(7), Ok(Some('a')));
        for _ in 0..4 {
            assert_eq!(counters.arrive(7), Ok(None));
        }
        assert_eq!(counters.expect(7, 3, Senders::Anyone, 'b'), Some('b'));
        assert_eq!(counters.count(7), 1);
        assert_eq!(counters.expect(7, 2, Senders::Anyone, 'c'), None);
        assert_eq!(counters.cancel(7), Some('c'));
        assert_eq!(counters.count(7), 1);
    }

    #[test]
    fn only_so_many_that_nobody_expects_are_kept() {
        let mut counters = Counters::new(2);
        assert_eq!(counters.arrive(1), Ok(None));
        assert_eq!(counters.arrive(2), Ok(None));
        assert_eq!(counters.arrive(3), Err(2));
        assert_eq!(counters.arrive(2), Ok(None));
        assert_eq!(counters.expect(3, 1, Senders::Anyone, 'a'), None);
        assert_eq!(counters.arrive(3), Ok(Some('a')));
    }

    #[test]
    fn a_lost_peer_ends_what_depends_on_it() {
        let mut counters = Counters::new(0);
        let these = |peers: &[u32]| Senders::These(peers.iter().copied().map(PeerId).collect());
        counters.expect(1, 1, Senders::Anyone, 'a');
        counters.expect(2, 1, these(&[4, 5]), 'b');
        counters.expect(3, 1, these(&[4]), 'c');
        assert_eq!(counters.lose(PeerId(5)), [(1, 'a'), (2, 'b')]);
        assert!(counters.is_expected(3) && !counters.is_expected(2));
    }
}
