//! What the requester asks congestion control, and what it is told (`docs/requester.md`).

use hdl_macros::FromBits;
use rust_hdl::prelude::*;

/// Kind of an [`NsccRequest`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum NsccOp {
    /// The window now.
    Query,
    /// A SACK: the sample if there is one, then the penalty.
    Ack,
    /// `bytes` were lost or trimmed.
    Loss,
    /// Starts the queue pair anew with the [`NsccConfig`] beside the request.
    Configure,
}

/// Registers of a queue pair (`docs/multipath.md`), checked by software.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct NsccConfig {
    /// Ticks of 8 ns, as the next two.
    pub base_rtt: Bits<16>,
    pub target: Bits<16>,
    pub qa_threshold: Bits<16>,
    pub qa_gate: Bits<3>,
    /// Bytes.
    pub min_cwnd: Bits<24>,
    /// Bytes.
    pub max_cwnd: Bits<24>,
    /// Bytes per tick, 12.16.
    pub alpha: Bits<28>,
    /// Bytes.
    pub fi: Bits<23>,
    /// Bytes, 20.8.
    pub eta: Bits<28>,
    /// 5.11.
    pub fi_scale: Bits<16>,
    /// Bytes, up to 65,536.
    pub adjust_bytes: Bits<17>,
}

/// One request. Fields that the operation does not name are ignored.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct NsccRequest {
    pub op: NsccOp,
    pub qp: Bits<10>,
    /// Ticks of 8 ns: `Ack`, `Configure`.
    pub now: Bits<32>,
    /// `Ack`: the window hears of this SACK; otherwise only the penalty is new.
    pub sample: Bit,
    /// `Ack`: newly acknowledged; `Loss`: lost. Saturated by the caller.
    pub bytes: Bits<24>,
    /// `Ack`: there is a round trip.
    pub rtt_valid: Bit,
    /// Ticks of 8 ns.
    pub rtt: Bits<32>,
    /// `Ack`: marked.
    pub ecn: Bit,
    /// `Ack`: bytes in flight after it.
    pub in_flight: Bits<24>,
    /// `Ack`: receiver's penalty.
    pub penalty: Bits<7>,
}

/// What a SACK made of a window, for whoever watches.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CongestionSample {
    /// High for one clock per SACK that the window hears of; the rest means nothing in other clocks.
    pub valid: Bit,
    pub qp: Bits<10>,
    /// Window in bytes, the penalty taken off.
    pub cwnd: Bits<24>,
    /// Bytes in flight after the SACK.
    pub in_flight: Bits<24>,
    /// There is a round trip.
    pub rtt_valid: Bit,
    /// Ticks of 8 ns.
    pub rtt: Bits<32>,
}

/// What comes back of every request.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct NsccResponse {
    /// Window in bytes after the request, the penalty taken off.
    pub cwnd: Bits<24>,
}
