//! Samples of a run whose length is not known.

use sim_net::Time;

/// First period in picoseconds: 0.5 us.
const FIRST_PERIOD: Time = 500_000;
/// If there are more samples than this, every other one is removed and the period doubles.
const MOST_SAMPLES: usize = 1024;

/// Samples at times 0, 1, 2, ... of the period.
#[derive(Clone, Debug)]
pub(crate) struct Samples<T> {
    period: Time,
    kept: Vec<T>,
}

impl<T> Samples<T> {
    pub fn new() -> Self {
        Self {
            period: FIRST_PERIOD,
            kept: Vec::new(),
        }
    }

    /// The time of the next sample, in picoseconds.
    pub fn next_time(&self) -> Time {
        self.kept.len() as Time * self.period
    }

    /// Adds the sample of [`Self::next_time`].
    pub fn push(&mut self, sample: T) {
        self.kept.push(sample);
        if self.kept.len() > MOST_SAMPLES {
            let mut keep = false;
            self.kept.retain(|_| {
                keep = !keep;
                keep
            });
            self.period *= 2;
        }
    }

    /// All samples, in order of time.
    pub fn kept(&self) -> &[T] {
        &self.kept
    }
}
