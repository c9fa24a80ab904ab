//! IO virtual addresses for guests.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::pvdma::Window;

/// A range of addresses that contains the windows of guests. All are multiples of 2 MiB.
pub struct IovaSpace {
    range: Range<u64>,
    /// End by start.
    taken: BTreeMap<u64, u64>,
}

impl IovaSpace {
    pub const fn new(range: Range<u64>) -> Self {
        Self {
            range,
            taken: BTreeMap::new(),
        }
    }

    /// Allocates a window of `length` bytes in the first gap.
    pub fn take(&mut self, length: u64) -> Option<Window> {
        let mut base = self.range.start;
        for (&start, &end) in &self.taken {
            if start - base >= length {
                break;
            }
            base = end;
        }
        let end = base.checked_add(length)?;
        if end > self.range.end {
            return None;
        }
        self.taken.insert(base, end);
        Some(Window { base, length })
    }

    pub fn give_back(&mut self, window: Window) {
        self.taken.remove(&window.base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_apart_and_gaps_are_used() {
        let mut space = IovaSpace::new(100..200);
        let windows = [30, 20, 50].map(|length| space.take(length).unwrap());
        assert_eq!(windows.map(|window| window.base), [100, 130, 150]);
        assert_eq!(space.take(1), None);
        space.give_back(windows[1]);
        assert_eq!(space.take(21), None);
        assert_eq!(space.take(20), Some(windows[1]));
    }
}
