//! Records between the requester and its neighbours (`docs/requester.md`).

use super::core::DmaSegments;
use super::tx::{TxAeth, TxCcState, TxMeth, TxNeth, TxPeth, TxReth, TxSeth};
use super::{Psn, Qpn, SqIndex};
use rust_hdl::prelude::*;

pub use crate::rows::requester::RequesterConfig;

/// A request packet for framing, with all of its fields decided.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxRequest {
    pub qp: Qpn,
    /// Port that sends it.
    pub port: Bit,
    /// BTH opcode.
    pub opcode: Bits<8>,
    pub psn: Psn,
    pub ack_req: Bit,
    /// MRC RTX bit.
    pub retransmission: Bit,
    /// MRC data packets: block of the transmit window that has the packet's record ([`super::window::Departure`]).
    pub block: Bits<10>,
    /// Time stamp in TSETH or PETH of MRC packets, in ticks of 8 ns.
    pub timestamp: Bits<16>,
    pub meth: TxMeth,
    pub reth: TxReth,
    pub immediate: Bits<32>,
    pub probe_id: Bits<16>,
    pub entropy: Bits<32>,
    /// Payload bytes.
    pub length: Bits<14>,
    /// Location of the payload in memory, unless `inline`.
    pub segments: DmaSegments,
    /// The payload is the first `length` bytes of `inline_data`.
    pub inline: Bit,
    pub inline_data: Bits<512>,
    /// Send queue index of the message. It identifies the message if the payload cannot be read.
    pub slot: SqIndex,
    /// Epoch of the payload's location, or of the packet if it has no payload in memory: see [`super::fence`].
    pub epoch: Bit,
}

/// A control packet for framing.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxAnswer {
    pub qp: Qpn,
    /// Port that sends it.
    pub port: Bit,
    /// BTH opcode.
    pub opcode: Bits<8>,
    pub psn: Psn,
    /// Entropy value of its own path.
    pub entropy: Bits<32>,
    /// Entropy value that it reflects.
    pub reflected: Bits<32>,
    pub aeth: TxAeth,
    pub seth: TxSeth,
    pub cc_state: TxCcState,
    pub neth: TxNeth,
}

/// Kind of a [`ControlPacket`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum ControlKind {
    Sack,
    Nack,
    /// RC ACK or NAK.
    Ack,
    Probe,
    /// MRC Transport ACK or NAK.
    TransportAck,
}

/// A received control packet. It was checked to come from the peer of the queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ControlPacket {
    pub kind: ControlKind,
    pub qp: Qpn,
    /// Port that received it.
    pub port: Bit,
    /// BTH PSN.
    pub psn: Psn,
    /// The control packet itself carries a congestion mark.
    pub ecn_ce: Bit,
    /// Entropy value of the control packet itself.
    pub entropy: Bits<32>,
    /// SACK, NACK: entropy value reflected.
    pub reflected: Bits<32>,
    pub seth: TxSeth,
    pub cc_state: TxCcState,
    pub neth: TxNeth,
    pub aeth: TxAeth,
    pub peth: TxPeth,
    /// PETH: time stamp.
    pub timestamp: Bits<16>,
    /// The epoch in which it was queued (see [`EpochEnd`](super::fence::EpochEnd)).
    pub epoch: Bit,
}

/// Request for the location of a packet's payload. Key, protection domain and bounds are checked for the whole message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TranslateRequest {
    /// Returned with the response.
    pub qp: Qpn,
    pub pd: Bits<20>,
    pub lkey: Bits<32>,
    /// Address of the message.
    pub va: Bits<64>,
    /// Length of the message in bytes, at least 1.
    pub message_length: Bits<32>,
    /// Offset of the packet in the message, in bytes.
    pub offset: Bits<32>,
    /// Length of the packet in bytes, 1 to 8,192.
    pub length: Bits<14>,
}

/// Location of a packet's payload.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TranslateResponse {
    pub qp: Qpn,
    /// The local buffer cannot be read: key, protection domain, bounds or page.
    pub fault: Bit,
    pub segments: DmaSegments,
    /// Epoch in which the request was accepted: see [`super::fence`].
    pub epoch: Bit,
}
