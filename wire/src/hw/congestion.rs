//! Requests to congestion control, and its responses (`docs/requester.md`).

use super::Qpn;
use rust_hdl::prelude::*;

pub use crate::rows::congestion::NsccConfig;
pub use crate::rows::WindowChange;

/// Kind of an [`NsccRequest`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum NsccOp {
    /// Returns the window.
    Query,
    /// Processes a SACK: the sample, if there is one, then the penalty.
    Ack,
    /// `bytes` were lost or trimmed.
    Loss,
    /// Does `change` to the window.
    Change,
    /// Initialises the queue pair. The [`NsccConfig`] comes with the request.
    Configure,
}

/// A request. Fields that the operation does not use are ignored.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct NsccRequest {
    pub op: NsccOp,
    pub qp: Qpn,
    /// Ticks of 8 ns: `Ack`, `Configure`.
    pub now: Bits<32>,
    /// `Ack`: the SACK has a sample; otherwise only the penalty is processed.
    pub sample: Bit,
    /// `Ack`: bytes newly acknowledged. `Loss`: bytes lost. The caller saturates them.
    pub bytes: Bits<24>,
    /// `Ack`: the round-trip time is valid.
    pub rtt_valid: Bit,
    /// Ticks of 8 ns.
    pub rtt: Bits<32>,
    /// `Ack`: the SACK carries a congestion mark.
    pub ecn: Bit,
    /// `Ack`: bytes in flight after the SACK.
    pub in_flight: Bits<24>,
    /// `Ack`: receiver's penalty.
    pub penalty: Bits<7>,
    pub change: WindowChange,
}

/// Effect of a SACK on the congestion window, for observation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CongestionSample {
    /// High for one cycle per SACK with a sample. The other fields are valid in that cycle only.
    pub valid: Bit,
    pub qp: Qpn,
    /// Window in bytes, after the penalty.
    pub cwnd: Bits<24>,
    /// Bytes in flight after the SACK.
    pub in_flight: Bits<24>,
    /// The round-trip time is valid.
    pub rtt_valid: Bit,
    /// Ticks of 8 ns.
    pub rtt: Bits<32>,
}

/// Response to every request.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct NsccResponse {
    /// Window in bytes after the request and the penalty.
    pub cwnd: Bits<24>,
}
