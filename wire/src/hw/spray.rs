//! Requests to the spray engine, and its responses (`docs/requester.md`).

use super::Qpn;
use hdl_macros::FromBits;
use rust_hdl::prelude::*;

/// Path policy of a queue pair (`docs/multipath.md`).
#[derive(Copy, Clone, PartialEq, Debug, LogicState, FromBits)]
pub enum SprayPolicy {
    SinglePath,
    RoundRobin,
    Obs,
    EvState,
}

/// Feedback about an entropy value.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum SprayFeedback {
    Good,
    Skip,
    Timeout,
    AlwaysSkip,
    ProbeAnswered,
}

/// Kind of a [`SprayRequest`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum SprayOp {
    /// Chooses paths on plane `plane`. A path other than `avoid` is preferred.
    Choose,
    /// Processes `feedback` about `index`.
    Feedback,
    /// Processes `feedback` about the index of `entropy`, if the queue pair has this value.
    Reflect,
    /// Returns the value to probe at `now`, if a probe is due.
    Probe,
    /// Returns only [`SprayResponse::usable`].
    Query,
    /// Software denies the use of `index`.
    Deny,
    /// Software allows the use of a denied `index`, which is good then.
    Allow,
    /// Initialises the queue pair. The [`SprayConfig`] comes with the request.
    Configure,
}

/// log2 of the number of entropy profiles.
pub const PROFILE_BITS: usize = 3;

/// Registers of a queue pair for path selection, checked by software.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct SprayConfig {
    pub policy: SprayPolicy,
    /// Number of paths: 1 (single path), or an even number up to the number of active values of the profile.
    pub paths: Bits<8>,
    /// Seed of the pseudo-random sequence, not 0.
    pub seed: Bits<32>,
    /// Number of the profile.
    pub profile: Bits<PROFILE_BITS>,
    /// Slot of the profile at which this queue pair starts.
    pub rotation: Bits<6>,
    /// A marked value is skipped once; otherwise it is skipped for the rest of the rotation.
    pub skip_next_turn: Bit,
    /// Ticks of 8 ns.
    pub probe_interval: Bits<31>,
}

/// Generated entropy profile: number `n` has the value `base + n * 2^stride_log2`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct EntropyProfileEntry {
    pub base: Bits<32>,
    /// 0 to 24.
    pub stride_log2: Bits<5>,
    /// Number of active values: 1, or an even number up to 128.
    pub active: Bits<8>,
    /// Number of backups: an even number up to 16.
    pub backups: Bits<5>,
}

/// A request. Fields that the operation does not use are ignored.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SprayRequest {
    pub op: SprayOp,
    pub qp: Qpn,
    pub plane: Bit,
    /// `Choose`: number of paths, 1 to 32. The result is that of as many single choices.
    pub count: Bits<6>,
    pub avoid_valid: Bit,
    pub avoid: Bits<8>,
    pub index: Bits<8>,
    pub entropy: Bits<32>,
    pub feedback: SprayFeedback,
    /// Ticks of 8 ns.
    pub now: Bits<32>,
}

/// Response. Every request has one, except `Choose`: it has one for each path, in order, until one that found no path.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SprayResponse {
    /// `Choose`, `Probe`, `Reflect`: there is a value.
    pub found: Bit,
    /// Index of the value; bit 0 is the plane.
    pub index: Bits<8>,
    /// `Choose`, `Probe`: the entropy value for the packet's headers.
    pub entropy: Bits<32>,
    /// Bit p: plane p can take a retransmission after this request. Its port is up, the policy is not single path, and the plane has a value that is good or
    /// skipped.
    pub usable: Bits<2>,
}
