//! The choice of paths of a queue pair, for both transports.

use stellar_wire::config::{PlaneMask, Policy, SkipScope, SprayConfig};
use stellar_wire::time::Ticks;

use super::attributes::Place;
use crate::card::lock;
use crate::error::Error;
use crate::open::Shared as Device;

/// What attributes say of it.
pub struct PathChoice {
    pub policy: Policy,
    pub paths: u8,
    /// Number of the entropy profile.
    pub profile: u8,
    pub skip: SkipScope,
    pub probe_interval: Ticks,
    pub base_rtt: Ticks,
    pub bend_after: u8,
}

impl PathChoice {
    /// Registers of the queue pair at `place`. [`Place::config`] checks them.
    pub fn registers(self, device: &Device, place: &Place) -> Result<SprayConfig, Error> {
        let profile = lock(&device.profiles).named(self.profile, &device.probe)?;
        // Generated values begin elsewhere for each queue pair. Explicit ones stay with their paths, so software knows which path has which.
        let rotation = match profile.as_generated() {
            Some(_) => (place.number % u32::from(profile.slots())) as u8,
            None => 0,
        };
        Ok(SprayConfig {
            policy: self.policy,
            paths: self.paths,
            planes_up: PlaneMask::BOTH.with(1, device.probe.features.ports > 1),
            seed: seed(device.config.seed, place.number),
            profile,
            rotation,
            skip: self.skip,
            probe_interval: self.probe_interval,
            base_rtt: self.base_rtt,
            bend_after: self.bend_after,
        })
    }
}

/// Start of a queue pair's path choice, never zero (splitmix64: Steele, Lea, Flood, 2014).
fn seed(card: u64, qp: u32) -> u32 {
    let mut z = card.wrapping_add((u64::from(qp) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 32) as u32 | 1
}
