//! A speed limit for simulated time.

use std::time::{Duration, Instant};

use sim_net::Time;

/// Shortest time worth a sleep.
const LEAST: Duration = Duration::from_micros(500);

/// Limits the speed of simulated time: a simulated second takes at least this many seconds of wall time. A simulation that was slower for a while does not
/// catch up afterwards.
#[derive(Debug)]
pub struct Pace {
    slower: u32,
    /// Reference point: simulated time and wall time.
    from: Option<(Time, Instant)>,
}

impl Pace {
    /// `slower` is the least number of wall seconds per simulated second.
    pub const fn new(slower: u32) -> Self {
        Self { slower, from: None }
    }

    /// How long the simulation must wait at simulated time `now` (picoseconds) and wall time `wall`. Zero if it need not wait.
    pub fn ahead(&mut self, now: Time, wall: Instant) -> Duration {
        let (began, at) = *self.from.get_or_insert((now, wall));
        let due = Duration::from_nanos((now - began) * u64::from(self.slower) / 1000);
        let passed = wall.duration_since(at);
        if due <= passed {
            self.from = Some((now, wall));
            return Duration::ZERO;
        }
        let ahead = due - passed;
        if ahead < LEAST {
            Duration::ZERO
        } else {
            ahead
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROSECOND: Time = 1_000_000;

    #[test]
    fn a_fast_simulation_has_to_wait() {
        let wall = Instant::now();
        let mut pace = Pace::new(1000);
        assert_eq!(pace.ahead(5 * MICROSECOND, wall), Duration::ZERO);
        let ahead = pace.ahead(15 * MICROSECOND, wall + Duration::from_millis(4));
        assert_eq!(ahead, Duration::from_millis(6));
    }

    #[test]
    fn a_slow_simulation_earns_nothing() {
        let wall = Instant::now();
        let mut pace = Pace::new(1000);
        pace.ahead(0, wall);
        let later = wall + Duration::from_secs(1);
        assert_eq!(pace.ahead(MICROSECOND, later), Duration::ZERO);
        let ahead = pace.ahead(11 * MICROSECOND, later);
        assert_eq!(ahead, Duration::from_millis(10));
    }
}
