//! When something happens next, and where.

use crate::Picoseconds;

/// The next time of each place, by its index. A fabric has few places, so a scan is faster than a heap of events.
pub(crate) struct Calendar {
    times: Vec<Picoseconds>,
}

impl Calendar {
    pub fn new(places: usize) -> Self {
        Self {
            times: vec![Picoseconds::MAX; places],
        }
    }

    /// Nothing happens at a place before `time`; never, if it is the largest.
    pub fn set(&mut self, place: usize, time: Picoseconds) {
        self.times[place] = time;
    }

    /// Something happens at a place at `time`, or before.
    pub fn hasten(&mut self, place: usize, time: Picoseconds) {
        let next = &mut self.times[place];
        *next = time.min(*next);
    }

    /// The earliest time, and its first place.
    pub fn next(&self) -> Option<(Picoseconds, usize)> {
        let mut earliest = (Picoseconds::MAX, 0);
        for (place, &time) in self.times.iter().enumerate() {
            if time < earliest.0 {
                earliest = (time, place);
            }
        }
        (earliest.0 < Picoseconds::MAX).then_some(earliest)
    }
}
