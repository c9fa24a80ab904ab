//! Draws random delays.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::config::DelayConfig;
use crate::Picoseconds;

/// A random sequence of its own for each user of a seed, so that traffic in one place does not change the choices in another.
pub(crate) fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    rng
}

/// A sequence of delays; `None` if there are none. It lies apart, since links are looked at in every cycle of a card, and most have no delay.
#[derive(Debug)]
pub(crate) struct Delay(Option<Box<Sequence>>);

#[derive(Debug)]
struct Sequence {
    config: DelayConfig,
    rng: ChaCha8Rng,
}

impl Delay {
    pub fn new(config: DelayConfig, rng: ChaCha8Rng) -> Self {
        Self((!config.is_none()).then(|| Box::new(Sequence { config, rng })))
    }

    /// Delay of the next TLP.
    pub fn draw(&mut self) -> Picoseconds {
        self.0.as_mut().map_or(0, |sequence| sequence.draw())
    }
}

impl Sequence {
    fn draw(&mut self) -> Picoseconds {
        let config = &self.config;
        let spread = config.max_ps - config.min_ps;
        let mut delay = config.min_ps;
        if spread > 0 {
            delay += self.rng.random_range(0..=spread);
        }
        if config.spike_per_million > 0
            && self.rng.random_ratio(config.spike_per_million, 1_000_000)
        {
            delay += config.spike_ps;
        }
        delay
    }
}
