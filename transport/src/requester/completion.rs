//! Completion queue of one queue pair (hardware block `completion_queues`).

use std::collections::VecDeque;

use stellar_wire::host::Cqe;

/// A ring that a reader polls: the phase of an entry flips with every round, and is 1 in the first.
#[derive(Clone, Debug)]
pub struct PhaseRing<T> {
    waiting: VecDeque<T>,
    entries: u32,
    produced: u32,
}

impl<T> PhaseRing<T> {
    /// An empty ring of `entries`, a power of two.
    pub const fn new(entries: u32) -> Self {
        Self {
            waiting: VecDeque::new(),
            entries,
            produced: 0,
        }
    }

    /// Adds the entry that `make` builds for its phase. Returns whether it fitted.
    pub fn push(&mut self, make: impl FnOnce(bool) -> T) -> bool {
        if self.waiting.len() as u64 >= u64::from(self.entries) {
            return false;
        }
        let round = self.produced / self.entries;
        // The ring's size divides 2^32, so the phase continues to alternate when the count wraps.
        self.produced = self.produced.wrapping_add(1);
        self.waiting.push_back(make(round.is_multiple_of(2)));
        true
    }

    /// Removes and returns the oldest entry.
    pub fn pop(&mut self) -> Option<T> {
        self.waiting.pop_front()
    }
}

/// Completions in order, each once.
#[derive(Clone, Debug)]
pub struct CompletionQueue {
    ring: PhaseRing<Cqe>,
    lost: VecDeque<u64>,
}

impl CompletionQueue {
    /// An empty ring of `entries`, a power of two.
    pub const fn new(entries: u32) -> Self {
        Self {
            ring: PhaseRing::new(entries),
            lost: VecDeque::new(),
        }
    }

    /// Adds an entry; its phase is set here. An entry that finds the ring full is lost, and reported by
    /// [`Self::take_lost`].
    pub fn push(&mut self, cqe: Cqe) {
        if !self.ring.push(|phase| Cqe { phase, ..cqe }) {
            self.lost.push_back(cqe.wr_id);
        }
    }

    /// Removes and returns the oldest entry.
    pub fn pop(&mut self) -> Option<Cqe> {
        self.ring.pop()
    }

    /// Work request identifier of the oldest entry lost and not reported yet.
    pub fn take_lost(&mut self) -> Option<u64> {
        self.lost.pop_front()
    }
}
