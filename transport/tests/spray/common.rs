//! Path choices made quickly.

use std::sync::Arc;

use stellar_transport::spray::{
    EntropyProfile, EvIndex, GeneratedEntropy, HeaderFields, Path, PlaneMask, Policy, SkipScope,
    Spray, SprayConfig,
};
use stellar_transport::time::Ticks;

/// Time of feedback where it does not matter.
pub const NOW: Ticks = Ticks(0);
pub const PROBE_INTERVAL: Ticks = Ticks(1_000);
/// Round trip without other traffic.
pub const BASE_RTT: Ticks = Ticks(1_000);

/// `active` values from 0xc000 on, and `backups`.
pub fn profile(active: u8, backups: u8) -> Arc<EntropyProfile> {
    let generated = GeneratedEntropy {
        base: 0xc000,
        stride_log2: 0,
        active,
        backups,
    };
    Arc::new(
        EntropyProfile::generated(generated, HeaderFields::SourcePort).expect("a usual profile"),
    )
}

pub fn config(policy: Policy, paths: u8) -> SprayConfig {
    SprayConfig {
        policy,
        paths,
        planes_up: PlaneMask::BOTH,
        seed: 1,
        profile: profile(paths, 0),
        rotation: 0,
        skip: SkipScope::default(),
        probe_interval: PROBE_INTERVAL,
        base_rtt: BASE_RTT,
        bend_after: 1,
    }
}

pub fn spray(policy: Policy, paths: u8) -> Spray {
    Spray::new(config(policy, paths)).expect("a usual configuration")
}

pub fn with_backups(paths: u8, backups: u8) -> Spray {
    let config = SprayConfig {
        profile: profile(paths, backups),
        ..config(Policy::EvState, paths)
    };
    Spray::new(config).expect("a usual configuration")
}

pub fn ev(index: u8) -> EvIndex {
    EvIndex::new(index).expect("an index")
}

/// The path of a new packet when both ports are free.
pub fn next(spray: &mut Spray) -> Path {
    spray.choose(None, PlaneMask::BOTH).expect("a usable path")
}

/// Indices of the next `count` packets.
pub fn indices(spray: &mut Spray, count: usize) -> Vec<u8> {
    (0..count).map(|_| next(spray).index.value()).collect()
}

/// The different indices among the next `count` packets, in order.
pub fn used(spray: &mut Spray, count: usize) -> Vec<u8> {
    let mut used = indices(spray, count);
    used.sort_unstable();
    used.dedup();
    used
}
