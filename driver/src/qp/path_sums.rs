//! Sums of what the card counts on the paths of a queue pair.

use std::collections::{BTreeMap, BTreeSet};

use stellar_wire::host::PathCount;

use crate::paths::PathCounts;

/// What was counted on each path, by its index. The card has counts of earlier times, maybe of another owner of the queue pair's number, so the first read of a path
/// counts nothing. In a card whose queue pairs share counts, this is so again when another one has counted since.
#[derive(Debug, Default)]
pub struct PathSums {
    sums: BTreeMap<u8, PathCounts>,
    /// The paths of which the next read is what was counted for the queue pair.
    own: BTreeSet<u8>,
}

impl PathSums {
    /// Adds what was read, unless it was counted for another queue pair (`None`). Returns the sum of the path.
    pub fn add(&mut self, index: u8, read: Option<PathCount>) -> PathCounts {
        let sum = self.sums.entry(index).or_default();
        if read.is_none() {
            self.own.clear();
        }
        let is_first = self.own.insert(index);
        if let (Some(new), false) = (read, is_first) {
            sum.add(new);
        }
        *sum
    }
}
