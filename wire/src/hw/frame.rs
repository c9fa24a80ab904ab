//! Results of the front of the receive pipeline about a frame.

use rust_hdl::prelude::*;

pub use crate::receive::DropReason;
pub use crate::Position;

/// Parsed headers of one frame, from the IP header to the last extension header. Made by `parse`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PacketHeaders {
    /// First reason found by the parser, `None` if the headers are good.
    pub reason: DropReason,
    /// MRC opcode (C6-CB, DE); otherwise RC.
    pub mrc: Bit,
    /// RC request that the lane does not execute (SEND, READ, atomics). It is refused when its PSN is the expected one. Its payload is ignored.
    pub refused: Bit,
    /// MRC probe: answered with where the window stands, in order with packets. `timestamp` is PETH's.
    pub probe: Bit,
    pub position: Position,
    pub has_immediate: Bit,
    /// RETH present (every MRC packet; RC first and only).
    pub has_reth: Bit,
    pub has_timestamp: Bit,
    pub ack_req: Bit,
    pub solicited: Bit,
    /// MRC RTX bit.
    pub retransmission: Bit,
    pub pkey: Bits<16>,
    pub dest_qp: Bits<24>,
    pub psn: Bits<24>,
    /// RETH.VA, R_Key, DMALen; zero without RETH.
    pub va: Bits<64>,
    pub rkey: Bits<32>,
    pub dma_length: Bits<32>,
    pub immediate: Bits<32>,
    /// METH.MSN and METH.RQMSN (MRC); in a probe, `msn` is its identifier.
    pub msn: Bits<16>,
    pub rqmsn: Bits<16>,
    /// TSETH transmit timestamp.
    pub timestamp: Bits<16>,
    /// Congestion experienced on the inner or the outer IP header.
    pub ecn_ce: Bit,
    /// Entropy value: UDP source port, and for IPv6 the low 16 bits of the flow label above it.
    pub entropy: Bits<32>,
    /// Byte offset of the payload from the start of the IP header.
    pub payload_offset: Bits<8>,
    /// Payload bytes without pad.
    pub payload_length: Bits<14>,
}
