//! What the requester asks the spray engine, and what it is told (`docs/requester.md`).

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

/// What became of a packet, told about its entropy value.
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
    /// The path of the next packet on plane `plane`, not `avoid` while there is another.
    Choose,
    /// `feedback` about `index`.
    Feedback,
    /// `feedback` about the index of `entropy`, if it is one of this queue pair's.
    Reflect,
    /// The value to probe at `now`, if one is due.
    Probe,
    /// Nothing but [`SprayResponse::usable`].
    Query,
    /// Software takes `index` out of use.
    Deny,
    /// Software makes a denied `index` good again.
    Allow,
    /// Starts the queue pair anew with the [`SprayConfig`] beside the request.
    Configure,
}

/// log2 of the entropy profiles.
pub const PROFILE_BITS: usize = 3;

/// Registers of a queue pair's path choice, checked by software.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct SprayConfig {
    pub policy: SprayPolicy,
    /// Paths in use: 1 (single path), or even and at most what the profile has.
    pub paths: Bits<8>,
    /// Start of the pseudo-random sequence, not zero.
    pub seed: Bits<32>,
    /// Which profile.
    pub profile: Bits<PROFILE_BITS>,
    /// Slots into the profile at which this queue pair starts.
    pub rotation: Bits<6>,
    /// A mark bypasses a value's next turn; otherwise the rest of the rotation.
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
    /// Active values, 1 or even, at most 128.
    pub active: Bits<8>,
    /// Backups, even, at most 16.
    pub backups: Bits<5>,
}

/// One request. Fields that the operation does not name are ignored.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SprayRequest {
    pub op: SprayOp,
    pub qp: Bits<10>,
    pub plane: Bit,
    /// `Choose`: paths of as many packets, 1 to 32, each as if asked for alone.
    pub count: Bits<6>,
    pub avoid_valid: Bit,
    pub avoid: Bits<8>,
    pub index: Bits<8>,
    pub entropy: Bits<32>,
    pub feedback: SprayFeedback,
    /// Ticks of 8 ns.
    pub now: Bits<32>,
}

/// What comes back of every request, once; of `Choose` once for each path, in order, or once with none found and no more.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SprayResponse {
    /// `Choose`, `Probe`, `Reflect`: there is one.
    pub found: Bit,
    /// Its index; bit 0 is the plane.
    pub index: Bits<8>,
    /// `Choose`, `Probe`: what the packet's headers carry.
    pub entropy: Bits<32>,
    /// Bit p: a retransmission can be left to plane p, after this request: its port is up, the policy is not single path, and some value of the
    /// plane is good or skipped.
    pub usable: Bits<2>,
}
