//! Times at which messages were posted and completed, and the rates that follow.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Times of the messages of all queue pairs of a test, in order.
#[derive(Default)]
pub struct Times {
    posted: Vec<Duration>,
    /// Numbers of completed messages, with their times.
    completed: Vec<(usize, Duration)>,
}

/// Messages per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// From the first post to the last completion.
    pub average: f64,
    /// The highest rate of any interval from a post to a completion.
    pub peak: f64,
}

impl Times {
    /// Records that a message was posted at `now`.
    pub fn post(&mut self, now: Duration) {
        self.posted.push(now);
    }

    /// Records that `count` messages completed at `now`.
    pub fn complete(&mut self, count: usize, now: Duration) {
        let before = self.completed.last().map_or(0, |(count, _)| *count);
        self.completed.push((before + count, now));
    }

    /// The rates; `None` if nothing completed, or if everything completed in zero time.
    pub fn rates(&self) -> Option<Rates> {
        let rate = |first: usize, (count, end): (usize, Duration)| {
            let span = end.checked_sub(*self.posted.get(first)?)?.as_secs_f64();
            (count > first && span > 0.0).then(|| (count - first) as f64 / span)
        };
        let average = rate(0, *self.completed.last()?)?;
        let stretches = (0..self.posted.len())
            .flat_map(|first| self.completed.iter().map(move |end| (first, *end)));
        let peak = stretches
            .filter_map(|(first, end)| rate(first, end))
            .fold(average, f64::max);
        Some(Rates { average, peak })
    }
}

/// Half round trips in microseconds, with the columns of perftest's table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    pub min: f64,
    pub max: f64,
    pub typical: f64,
    pub average: f64,
    pub deviation: f64,
    pub percent_99: f64,
    pub percent_99_9: f64,
}

impl Latencies {
    /// Computes them from the start of each round, and the end of the last; `None` without a complete round.
    pub fn of(rounds: &[Duration]) -> Option<Self> {
        let mut halves: Vec<f64> = rounds
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e6 / 2.0)
            .collect();
        halves.sort_by(f64::total_cmp);
        let count = halves.len() as f64;
        let average = halves.iter().sum::<f64>() / count;
        let squares = halves.iter().map(|half| (half - average).powi(2));
        let at = |share: f64| halves[((share * count).ceil() as usize).clamp(1, halves.len()) - 1];
        Some(Self {
            min: *halves.first()?,
            max: *halves.last()?,
            typical: at(0.5),
            average,
            deviation: (squares.sum::<f64>() / count).sqrt(),
            percent_99: at(0.99),
            percent_99_9: at(0.999),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    #[test]
    fn the_average_spans_everything_and_the_peak_the_best_stretch() {
        let mut times = Times::default();
        assert_eq!(times.rates(), None);
        for at in [0, 0, 8, 8] {
            times.post(us(at));
        }
        assert_eq!(times.rates(), None);
        times.complete(1, us(6));
        times.complete(1, us(9));
        times.complete(2, us(10));
        let rates = times.rates().unwrap();
        assert!((rates.average - 4.0 / 10e-6).abs() < 1.0, "{rates:?}");
        // The last two messages: posted at 8, completed at 10.
        assert!((rates.peak - 2.0 / 2e-6).abs() < 1.0, "{rates:?}");
    }

    #[test]
    fn a_latency_is_half_a_round() {
        assert_eq!(Latencies::of(&[us(5)]), None);
        let rounds = [0, 4, 8, 12, 32].map(us);
        let latencies = Latencies::of(&rounds).unwrap();
        let near = |value: f64, expected: f64| (value - expected).abs() < 1e-9;
        assert!(near(latencies.min, 2.0) && near(latencies.max, 10.0));
        assert!(near(latencies.typical, 2.0) && near(latencies.average, 4.0));
        assert!(near(latencies.deviation, 12f64.sqrt()));
        assert!(near(latencies.percent_99, 10.0) && near(latencies.percent_99_9, 10.0));
    }
}
