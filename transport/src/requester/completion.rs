//! Completion queue of one queue pair (hardware block `completion_queues`).

use std::collections::VecDeque;

use stellar_wire::host::Cqe;

use crate::small_queue::begin_with_one;

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
        begin_with_one(&mut self.waiting);
        self.waiting.push_back(make(round.is_multiple_of(2)));
        true
    }

    /// Removes and returns the oldest entry.
    pub fn pop(&mut self) -> Option<T> {
        self.waiting.pop_front()
    }
}

/// Completions in order, each once. The queue takes none after the first that it loses, so what it holds has no gap.
#[derive(Clone, Debug)]
pub struct CompletionQueue {
    ring: PhaseRing<Cqe>,
    /// Number of entries lost since the last report, and the first of all if it was not reported.
    lost: u64,
    first_lost: Option<u64>,
    overrun: bool,
}

impl CompletionQueue {
    /// An empty ring of `entries`, a power of two.
    pub const fn new(entries: u32) -> Self {
        Self {
            ring: PhaseRing::new(entries),
            lost: 0,
            first_lost: None,
            overrun: false,
        }
    }

    /// Adds an entry; its phase is set here. An entry that finds the ring full, or that comes after such a one, is lost.
    pub fn push(&mut self, cqe: Cqe) {
        if self.overrun || !self.ring.push(|phase| Cqe { phase, ..cqe }) {
            self.first_lost = (!self.overrun).then_some(cqe.wr_id).or(self.first_lost);
            self.overrun = true;
            self.lost += 1;
        }
    }

    /// Removes and returns the oldest entry.
    pub fn pop(&mut self) -> Option<Cqe> {
        self.ring.pop()
    }

    /// Whether entries were lost that nobody has asked for yet.
    #[inline]
    pub const fn has_lost(&self) -> bool {
        self.lost > 0 || self.first_lost.is_some()
    }

    /// Number of entries lost since the last call.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Work request identifier of the first entry lost, once.
    pub fn take_overrun(&mut self) -> Option<u64> {
        self.first_lost.take()
    }
}
