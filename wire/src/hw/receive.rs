//! The receive core's report of a packet to the responder.

use super::ack::AckRequest;
use super::frame::Position;
use super::numbers::Qpn;
use rust_hdl::prelude::*;

/// The fate of one packet that was accepted or is to be answered.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RxOutcome {
    pub qp: Qpn,
    /// Port on which the packet arrived.
    pub port: Bit,
    /// The packet was accepted: its payload is being placed, for the first time.
    pub accepted: Bit,
    /// MRC; otherwise RC.
    pub mrc: Bit,
    pub position: Position,
    pub psn: Bits<24>,
    /// The packet requests an acknowledgement.
    pub ack_req: Bit,
    /// First PSN missing after this packet.
    pub epsn: Bits<24>,
    pub has_immediate: Bit,
    pub immediate: Bits<32>,
    /// METH (MRC).
    pub msn: Bits<16>,
    pub rqmsn: Bits<16>,
    /// Bytes of the message (MRC).
    pub dma_length: Bits<32>,
    pub payload_length: Bits<14>,
    /// The packet is to be answered.
    pub ack_valid: Bit,
    pub ack: AckRequest,
    /// The answer is to a probe, with this identifier: a SACK of the window around `epsn`.
    pub probe: Bit,
    pub probe_id: Bits<16>,
    /// Nobody knows whether the payload has reached memory, so the queue pair fails. The packet is neither accepted nor answered.
    pub lost: Bit,
}

/// What the receive core counts for a queue pair: at most one token.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReceiveCount {
    pub qp: Qpn,
    /// The token makes the queue pair ready to receive: its counters restart.
    pub restarts: Bit,
    pub accepted: Bit,
    /// Payload bytes, if it is accepted.
    pub bytes: Bits<14>,
    /// It has a congestion mark, and is accepted, answered or taken for lost.
    pub marked: Bit,
    pub duplicate: Bit,
    pub gap: Bit,
    pub outside_window: Bit,
    pub invalid: Bit,
    pub no_access: Bit,
    pub page_absent: Bit,
    pub probe: Bit,
    pub wrong_state: Bit,
    pub refused: Bit,
}

/// What the responder counts for a queue pair: at most one operation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ResponderCount {
    pub qp: Qpn,
    /// The operation configures the queue pair: its counters restart.
    pub restarts: Bit,
    pub out_of_order: Bit,
    pub ack: Bit,
    pub nak_sequence: Bit,
    pub nak_invalid: Bit,
    pub nak_access: Bit,
    pub sack: Bit,
    /// The SACK reports a congestion mark.
    pub echo: Bit,
    pub nack_outside_window: Bit,
    pub nack_unexpected: Bit,
}
