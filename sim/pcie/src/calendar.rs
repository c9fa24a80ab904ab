//! When something happens next, and where.

use crate::Picoseconds;

/// The next time of each place, by its index. A fabric has few places, so a scan is faster than a heap of events.
pub(crate) struct Calendar {
    times: Vec<Picoseconds>,
    /// The earliest time and its first place, unless that place has got a later time since the last scan.
    earliest: Option<(Picoseconds, usize)>,
}

impl Calendar {
    pub fn new(places: usize) -> Self {
        Self {
            times: vec![Picoseconds::MAX; places],
            earliest: None,
        }
    }

    /// Nothing happens at a place before `time`; never, if it is the largest.
    pub fn set(&mut self, place: usize, time: Picoseconds) {
        if std::mem::replace(&mut self.times[place], time) == time {
            return;
        }
        self.earliest = self.earliest.and_then(|earliest| {
            if (time, place) <= earliest {
                Some((time, place))
            } else {
                (place != earliest.1).then_some(earliest)
            }
        });
    }

    /// Something happens at a place at `time`, or before.
    pub fn hasten(&mut self, place: usize, time: Picoseconds) {
        if time < self.times[place] {
            self.set(place, time);
        }
    }

    /// Whether something may happen by `limit`; never false if something does.
    #[inline]
    pub fn may_be_due(&self, limit: Picoseconds) -> bool {
        self.earliest.is_none_or(|(time, _)| time <= limit)
    }

    /// The earliest time, and its first place.
    #[inline]
    pub fn next(&mut self) -> Option<(Picoseconds, usize)> {
        let earliest = self.earliest.unwrap_or_else(|| self.scan());
        self.earliest = Some(earliest);
        (earliest.0 < Picoseconds::MAX).then_some(earliest)
    }

    /// The earliest time.
    pub fn next_time(&self) -> Option<Picoseconds> {
        let (time, _) = self.earliest.unwrap_or_else(|| self.scan());
        (time < Picoseconds::MAX).then_some(time)
    }

    /// Finds the earliest time, and its first place.
    fn scan(&self) -> (Picoseconds, usize) {
        let mut earliest = (Picoseconds::MAX, 0);
        for (place, &time) in self.times.iter().enumerate() {
            if time < earliest.0 {
                earliest = (time, place);
            }
        }
        earliest
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn the_earliest_is_that_of_a_scan() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let mut calendar = Calendar::new(5);
        let mut times = [Picoseconds::MAX; 5];
        for _ in 0..10_000 {
            let place = rng.random_range(0..times.len());
            let time = [rng.random_range(0..9), Picoseconds::MAX][rng.random_range(0..2)];
            if rng.random() {
                calendar.set(place, time);
                times[place] = time;
            } else {
                calendar.hasten(place, time);
                times[place] = time.min(times[place]);
            }
            let entries = times.iter().zip(0..).map(|(time, place)| (*time, place));
            let first = entries.min().filter(|(time, _)| *time < Picoseconds::MAX);
            if rng.random() {
                assert_eq!(calendar.next_time(), first.map(|(time, _)| time));
                assert_eq!(calendar.next(), first);
            }
        }
    }
}
