//! The two ends of a stream, moving at random.

use std::collections::VecDeque;
use std::fmt::Debug;

use rand::Rng;

use crate::dut::Dut;

/// The sending end of a stream. It holds an item until it is accepted.
pub struct Source<T> {
    valid: &'static str,
    ready: &'static str,
    waiting: Option<T>,
}

impl<T: Clone> Source<T> {
    /// Makes a source for the ports with these names.
    pub fn new(valid: &'static str, ready: &'static str) -> Self {
        Self {
            valid,
            ready,
            waiting: None,
        }
    }

    /// Whether no item is waiting to be accepted.
    pub fn is_free(&self) -> bool {
        self.waiting.is_none()
    }

    /// Offers `item` from this cycle on.
    ///
    /// # Panics
    /// If another item waits.
    pub fn offer(&mut self, item: T) {
        assert!(self.waiting.is_none(), "{}: an item waits", self.valid);
        self.waiting = Some(item);
    }

    /// Drives the ports, with `set` for those of the item.
    pub fn drive(&self, dut: &mut Dut, set: impl FnOnce(&mut Dut, &T)) {
        dut.set(self.valid, self.waiting.is_some().into());
        if let Some(item) = &self.waiting {
            set(dut, item);
        }
    }

    /// Returns the item that is accepted at the end of this cycle.
    pub fn taken(&mut self, dut: &Dut) -> Option<T> {
        if dut.is(self.ready) {
            self.waiting.take()
        } else {
            None
        }
    }
}

/// Sets the ready input of a stream in `of` of 8 cycles.
pub fn stall(dut: &mut Dut, rng: &mut impl Rng, ready: &str, of: u32) {
    dut.set(ready, rng.random_ratio(of, 8).into());
}

/// Checks that the item that came is the next one that is due.
///
/// # Panics
/// If it is another item, or if none is due.
pub fn expect<T: PartialEq + Debug>(due: &mut VecDeque<T>, came: &T, what: &str) {
    match due.pop_front() {
        Some(expected) => assert_eq!(*came, expected, "{what}"),
        None => panic!("{what}: {came:?} came unexpectedly"),
    }
}
