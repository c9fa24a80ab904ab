//! Requests to the spray engine, and its responses (`docs/requester.md`).

use super::Qpn;
use rust_hdl::prelude::*;

pub use crate::rows::spray::{
    EntropyBucket, EntropyProfileEntry, ExplicitEntropy, PathAckRecord, PathUse, SprayConfig,
};
pub use crate::rows::{
    SprayFeedback, SprayPolicy, WindowChange, EXPLICIT_BITS, EXPLICIT_ROW_BITS, NUMBER_BITS,
    PROFILE_BITS,
};

/// Kind of a [`SprayRequest`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum SprayOp {
    /// Chooses paths on plane `plane`. A path other than `avoid` is preferred.
    Choose,
    /// Processes `feedback` about `index`. That a probe was answered comes with its `ack.round_trip`.
    Feedback,
    /// Processes the acknowledgement `ack`.
    Ack,
    /// Returns the value to probe at `now`, if a probe is due, and what `Query` returns.
    Probe,
    /// Returns [`SprayResponse::usable`] and, at `now`, [`SprayResponse::held`] and [`SprayResponse::window`].
    Query,
    /// Software denies the use of `index`.
    Deny,
    /// Software allows the use of a denied `index`, which is good then.
    Allow,
    /// Initialises the queue pair. The [`SprayConfig`] comes with the request.
    Configure,
}

/// How `Ack` and `Feedback` name the path that they are about.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum NamedBy {
    /// `Ack`: the entropy value of its record. `Feedback`: `index`.
    Value,
    /// `index`.
    Index,
    /// It is the path in use. Only for policies with one path at a time.
    Home,
}

/// A request. Fields that the operation does not use are ignored.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SprayRequest {
    pub op: SprayOp,
    pub qp: Qpn,
    pub plane: Bit,
    /// `Choose`: number of paths, 1 to 32. The result is the same as that of this number of single choices.
    pub count: Bits<6>,
    pub avoid_valid: Bit,
    pub avoid: Bits<8>,
    pub named_by: NamedBy,
    pub index: Bits<8>,
    pub feedback: SprayFeedback,
    pub ack: PathAckRecord,
    /// `Query`: nothing is in flight.
    pub empty: Bit,
    /// Ticks of 8 ns.
    pub now: Bits<32>,
}

/// Response. Every request has one, except `Choose`: it has one for each path, in order, until one that found no path.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SprayResponse {
    /// `Choose`, `Probe`, `Ack`: there is a value.
    pub found: Bit,
    /// Index of the value; bit 0 is the plane.
    pub index: Bits<8>,
    /// `Choose`, `Probe`: the entropy value for the packet's headers.
    pub entropy: Bits<32>,
    /// Bit p: plane p can take a retransmission after this request. Its port is up, the policy is not single path, and the plane has a value that is good or
    /// skipped.
    pub usable: Bits<2>,
    /// `Deny`, `Allow`: software denies a value of the queue pair, after this request.
    pub denies: Bit,
    /// `Probe`, `Query`: no data may be sent until `until`, because the path changes.
    pub held: Bit,
    pub until: Bits<32>,
    /// While the queue pair is held, lost packets are sent again, and the path may change when nothing is in flight.
    pub drains: Bit,
    /// `Probe`, `Query`: what happens to the congestion window now. It is told once.
    pub window: WindowChange,
}
