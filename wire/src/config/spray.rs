//! Registers of path choice.

use std::sync::Arc;

use thiserror::Error;

use super::{EntropyProfile, PlaneMask};
pub use crate::rows::SprayPolicy as Policy;
use crate::rows::BASE_RTT_BITS;
use crate::time::Ticks;

/// How long a marked entropy value is bypassed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SkipScope {
    /// For the rest of the rotation (OCP MRC 1.0). A mark that comes after the value had its turn has no effect.
    #[default]
    RestOfRotation,
    /// For its next turn, in this rotation or the next (STrack).
    NextTurn,
}

/// Configuration of a queue pair's path choice.
#[derive(Clone, Debug)]
pub struct SprayConfig {
    /// Path policy.
    pub policy: Policy,
    /// Number of paths in use: 1 (with one path at a time only), or an even number that the profile supports.
    pub paths: u8,
    /// Planes whose ports are up.
    pub planes_up: PlaneMask,
    /// Start of the pseudo-random sequence, not zero; the driver draws it at random for every queue pair. (Sequences
    /// of small consecutive seeds start alike, as the register is linear.)
    pub seed: u32,
    /// Values of the paths, shared between queue pairs.
    pub profile: Arc<EntropyProfile>,
    /// Slots into the profile at which this queue pair starts, less than half its active values.
    pub rotation: u8,
    /// How long a mark counts ([`Policy::EvState`]).
    pub skip: SkipScope,
    /// Minimum time between two probes ([`Policy::EvState`]), 1 to 2^31 - 1 ticks.
    pub probe_interval: Ticks,
    /// Round trip without other traffic ([`Policy::Hopper`], [`Policy::Hp3`]), 1 to 2^14 - 1 ticks.
    pub base_rtt: Ticks,
    /// Congested rounds in a row before the path changes ([`Policy::FlowBender`]), 1 to 15.
    pub bend_after: u8,
}

/// A configuration that cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SprayError {
    /// Number of paths.
    #[error("{paths} paths; use an even number from 2 to the profile's {active} active values, or 1 with a policy of one path at a time")]
    Paths {
        /// The number of paths that was requested.
        paths: u8,
        /// The number of paths that the profile has.
        active: u8,
    },
    /// Seed zero.
    #[error("seed 0 never changes; use any other number")]
    ZeroSeed,
    /// Rotation beyond the profile.
    #[error("rotation of {rotation} slots; the profile has {slots} per plane, so use 0 to {}", slots - 1)]
    Rotation {
        /// The rotation that was requested.
        rotation: u8,
        /// Slots of a plane.
        slots: u8,
    },
    /// Probe interval.
    #[error("probe interval of {0} ticks; use 1 to 2147483647")]
    ProbeInterval(u32),
    /// Base round trip.
    #[error("base round trip of {0} ticks; use 1 to 16383")]
    BaseRtt(u32),
    /// Congested rounds before the path changes.
    #[error("a change of path after {0} congested rounds; use 1 to 15")]
    BendAfter(u8),
}

impl SprayConfig {
    /// Checks the values that a type does not.
    ///
    /// # Errors
    /// [`SprayError`], the first that is found.
    pub fn check(&self) -> Result<(), SprayError> {
        let active = self.profile.active();
        let allowed = match self.paths {
            1 => self.policy.traits().one_path,
            paths => paths > 0 && paths % 2 == 0 && paths <= active,
        };
        if !allowed {
            return Err(SprayError::Paths {
                paths: self.paths,
                active,
            });
        }
        if self.seed == 0 {
            return Err(SprayError::ZeroSeed);
        }
        let slots = self.profile.slots();
        if self.rotation >= slots {
            return Err(SprayError::Rotation {
                rotation: self.rotation,
                slots,
            });
        }
        if !(1..1 << 31).contains(&self.probe_interval.0) {
            return Err(SprayError::ProbeInterval(self.probe_interval.0));
        }
        if !(1..1 << BASE_RTT_BITS).contains(&self.base_rtt.0) {
            return Err(SprayError::BaseRtt(self.base_rtt.0));
        }
        if !(1..16).contains(&self.bend_after) {
            return Err(SprayError::BendAfter(self.bend_after));
        }
        Ok(())
    }
}
