//! Path selection of a queue pair.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use crate::record_enum::record_enum;

/// log2 of the number of entropy profiles.
pub const PROFILE_BITS: usize = 3;

record_enum! {
    /// Path policy of a queue pair in the encoding of the card ([`crate::config::Policy`], `docs/multipath.md`).
    pub enum SprayPolicy {
        SinglePath,
        RoundRobin,
        Obs,
        EvState,
    }
}

row! {
    /// Registers of a queue pair for path selection, checked by software.
    pub struct SprayRow => SprayConfig {
        policy: SprayPolicy => SprayPolicy,
        /// Number of paths: 1 (single path), or an even number up to the number of active values of the profile.
        paths: u8 => Bits<8>,
        /// Seed of the pseudo-random sequence, not 0.
        seed: u32 => Bits<32>,
        /// Number of the profile.
        profile: u8 => Bits<PROFILE_BITS>,
        /// Slot of the profile at which this queue pair starts.
        rotation: u8 => Bits<6>,
        /// A marked value is skipped once; otherwise it is skipped for the rest of the rotation.
        skip_next_turn: bool => Bit,
        /// Ticks of 8 ns.
        probe_interval: u32 => Bits<31>,
    }
}

row! {
    /// Entropy profile whose values are at equal distances: number `n` is `base + n * 2^stride_log2`.
    pub struct GeneratedEntropy => EntropyProfileEntry {
        /// Value of number 0.
        base: u32 => Bits<32>,
        /// Distance between neighbours, as a power of two, 0 to 24.
        stride_log2: u8 => Bits<5>,
        /// Active values, numbers from 0 on: 1 or even, at most 128.
        active: u8 => Bits<8>,
        /// Backups, numbers after the active ones: even, at most 16.
        backups: u8 => Bits<5>,
    }
}
