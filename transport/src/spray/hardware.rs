//! Registers as the hardware's tables hold them.

use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{self as hw, EntropyProfileEntry, SprayPolicy};

use super::{GeneratedEntropy, Policy, SkipScope, SprayConfig};

impl SprayConfig {
    /// The table row of a queue pair whose values are those of profile number `profile` (0 to 7).
    pub fn to_hw(&self, profile: u8) -> hw::SprayConfig {
        hw::SprayConfig {
            policy: match self.policy {
                Policy::SinglePath => SprayPolicy::SinglePath,
                Policy::RoundRobin => SprayPolicy::RoundRobin,
                Policy::Obs => SprayPolicy::Obs,
                Policy::EvState => SprayPolicy::EvState,
            },
            paths: u64::from(self.paths).to_bits(),
            seed: u64::from(self.seed).to_bits(),
            profile: u64::from(profile).to_bits(),
            rotation: u64::from(self.rotation).to_bits(),
            skip_next_turn: self.skip == SkipScope::NextTurn,
            probe_interval: u64::from(self.probe_interval.0).to_bits(),
        }
    }
}

impl GeneratedEntropy {
    /// The table row.
    pub fn to_hw(&self) -> EntropyProfileEntry {
        EntropyProfileEntry {
            base: u64::from(self.base).to_bits(),
            stride_log2: u64::from(self.stride_log2).to_bits(),
            active: u64::from(self.active).to_bits(),
            backups: u64::from(self.backups).to_bits(),
        }
    }
}
