//! The receive core's report of a packet to the responder.

use super::ack::AckRequest;
use super::frame::Position;
use rust_hdl::prelude::*;

/// The fate of one packet that was accepted or is to be answered.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RxOutcome {
    pub qp: Bits<10>,
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
