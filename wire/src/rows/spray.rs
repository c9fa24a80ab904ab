//! Path selection of a queue pair.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use super::policy::{SprayPolicy, BASE_RTT_BITS};
use crate::record_enum::record_enum;
use crate::Psn;

/// log2 of the number of entropy profiles.
pub const PROFILE_BITS: usize = 3;

record_enum! {
    /// Feedback about an entropy value: the fate of a packet that used it.
    pub enum SprayFeedback {
        /// Acknowledged without a mark.
        Good,
        /// ECN-marked (SETH M = SKIP_ONCE).
        Skip,
        /// Trimmed on the way (NACK TRIMMED).
        Trimmed,
        /// It timed out.
        Timeout,
        /// The receiver requests another path (SETH M = ALWAYS_SKIP).
        AlwaysSkip,
        /// A probe was answered. If it was marked, `Skip` follows.
        ProbeAnswered,
    }
}

row! {
    /// What an acknowledgement tells the path policy: one record for all of them.
    pub struct PathAck => PathAckRecord {
        /// The entropy value that the SACK reflects.
        entropy: u32 => Bits<32>,
        /// `Good`, `Skip` or `AlwaysSkip`: what the SACK says of that value.
        hint: SprayFeedback => SprayFeedback,
        /// There is a round trip: the SACK answers the last transmission of a packet.
        sampled: bool => Bit,
        /// Round trip in ticks of 8 ns, at most 2^16 - 1.
        round_trip: u16 => Bits<16>,
        /// Packets that are acknowledged for the first time.
        packets: u16 => Bits<13>,
        /// First PSN that is not acknowledged, after the SACK.
        una: Psn => Bits<24>,
        /// PSN of the next new packet.
        next_psn: Psn => Bits<24>,
        /// Payload bytes in flight after the SACK.
        in_flight: u32 => Bits<24>,
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
        /// Round trip without other traffic, in ticks of 8 ns.
        base_rtt: u16 => Bits<BASE_RTT_BITS>,
        /// Congested rounds in a row before the path changes, 1 to 15.
        bend_after: u8 => Bits<4>,
    }
}

row! {
    /// Whether software lets an MRC queue pair use one of its entropy values. A denied value keeps its state until it is allowed, or until the queue pair is
    /// configured again; then all are allowed.
    pub struct PathUseRow => PathUse {
        /// [`crate::config::EvIndex`]: 0 to 127 active, 128 to 143 backup. An index that the queue pair does not have changes nothing.
        index: u8 => Bits<8>,
        /// The value carries no data packet and no probe; otherwise it is good again if it was denied.
        denied: bool => Bit,
    }
}

row! {
    /// Entropy profile. Its values are at equal distances: number `n` is `base + n * 2^stride_log2`. Or they are explicit: [`ExplicitRow`].
    pub struct ProfileRow => EntropyProfileEntry {
        /// Value of number 0. Of explicit values, the key of [`bucket_of`].
        base: u32 => Bits<32>,
        /// Distance between neighbours, as a power of two, 0 to 24.
        stride_log2: u8 => Bits<5>,
        /// Active values, numbers from 0 on: 1 or even, at most 128.
        active: u8 => Bits<8>,
        /// Backups, numbers after the active ones: even, at most 16.
        backups: u8 => Bits<5>,
        /// The values are explicit. Only the first 2^[`EXPLICIT_BITS`] profiles may be.
        explicit: bool => Bit,
    }
}

/// log2 of the number of profiles that may have explicit values.
pub const EXPLICIT_BITS: usize = 2;
/// log2 of the rows of an explicit profile: width of the number of a value, and of a bucket.
pub const NUMBER_BITS: usize = 8;
/// log2 of the rows of all explicit profiles.
pub const EXPLICIT_ROW_BITS: usize = EXPLICIT_BITS + NUMBER_BITS;
/// Number of a place of a bucket that has no value. No profile has so many.
pub const NO_NUMBER: u8 = u8::MAX;

row! {
    /// Values of an explicit profile that share a bucket.
    pub struct BucketRow => EntropyBucket {
        first: u32 => Bits<32>,
        /// Number of the first value, or [`NO_NUMBER`].
        first_number: u8 => Bits<NUMBER_BITS>,
        second: u32 => Bits<32>,
        /// Number of the second value, or [`NO_NUMBER`].
        second_number: u8 => Bits<NUMBER_BITS>,
    }
}

row! {
    /// Row `n` of an explicit profile. The row of the table is `profile << NUMBER_BITS | n`.
    pub struct ExplicitRow => ExplicitEntropy {
        /// The value with number `n`.
        value: u32 => Bits<32>,
        /// The values whose bucket is `n`, for the way back from a value to its number.
        bucket: BucketRow => EntropyBucket,
    }
}

/// The bucket of a value of an explicit profile. Bit `i` is the parity of those bits of the value where the key, rotated left by `i`, has ones. Software writes a
/// key with which no bucket has more than two values of the profile.
pub const fn bucket_of(value: u32, key: u32) -> u8 {
    let mut bucket = 0;
    let mut bit = 0;
    while bit < NUMBER_BITS as u32 {
        let parity = (value & key.rotate_left(bit)).count_ones() & 1;
        bucket |= (parity as u8) << bit;
        bit += 1;
    }
    bucket
}
