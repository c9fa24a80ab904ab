//! Random extra delay.

use serde::{Deserialize, Serialize};

use crate::Picoseconds;

/// A delay that is drawn anew for each TLP: evenly from `min_ps` to `max_ps`, and now and then a spike on top. All 0 by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DelayConfig {
    /// Least delay.
    pub min_ps: Picoseconds,
    /// Largest delay without a spike.
    pub max_ps: Picoseconds,
    /// How many TLPs of a million have a spike, as behind a retrained link or a page walk of another device.
    pub spike_per_million: u32,
    /// What a spike adds.
    pub spike_ps: Picoseconds,
}

impl DelayConfig {
    /// The same delay for each TLP.
    pub const fn constant(ps: Picoseconds) -> Self {
        Self::between(ps, ps)
    }

    /// An even distribution without spikes.
    pub const fn between(min_ps: Picoseconds, max_ps: Picoseconds) -> Self {
        Self {
            min_ps,
            max_ps,
            spike_per_million: 0,
            spike_ps: 0,
        }
    }

    /// Whether there is never any delay.
    pub const fn is_none(&self) -> bool {
        self.max_ps == 0 && (self.spike_per_million == 0 || self.spike_ps == 0)
    }
}
