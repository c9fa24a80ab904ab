//! What the requester exchanges with its neighbours (`docs/requester.md`).

use super::core::Pieces;
use super::tx::{TxAeth, TxCcState, TxMeth, TxNeth, TxPeth, TxReth, TxSeth};
use hdl_macros::FromBits;
use rust_hdl::prelude::*;

/// A request packet on its way to framing: everything of it that is decided.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxRequest {
    pub qp: Bits<10>,
    /// Port it leaves by.
    pub port: Bit,
    /// BTH opcode.
    pub opcode: Bits<8>,
    pub psn: Bits<24>,
    pub ack_req: Bit,
    /// MRC RTX bit.
    pub retransmission: Bit,
    /// Of TSETH or PETH, which MRC packets have; ticks of 8 ns.
    pub timestamp: Bits<16>,
    pub meth: TxMeth,
    pub reth: TxReth,
    pub immediate: Bits<32>,
    pub probe_id: Bits<16>,
    pub entropy: Bits<32>,
    /// Payload bytes.
    pub length: Bits<14>,
    /// Where they are in memory, unless `inline`.
    pub pieces: Pieces,
    /// The payload is the first `length` bytes of `inline_data`.
    pub inline: Bit,
    pub inline_data: Bits<128>,
    /// Send queue index of the message, to report a payload that cannot be read.
    pub slot: Bits<16>,
}

/// A control packet on its way to framing.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxAnswer {
    pub qp: Bits<10>,
    /// Port it leaves by.
    pub port: Bit,
    /// BTH opcode.
    pub opcode: Bits<8>,
    pub psn: Bits<24>,
    /// Entropy value it takes itself.
    pub entropy: Bits<32>,
    /// Entropy value it reflects.
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
}

/// A control packet that arrived, checked to come from the queue pair's peer.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ControlPacket {
    pub kind: ControlKind,
    pub qp: Bits<10>,
    /// Port it came by.
    pub port: Bit,
    /// BTH PSN.
    pub psn: Bits<24>,
    /// It was marked itself (congestion experienced).
    pub ecn_ce: Bit,
    /// Its own entropy value.
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
}

/// Where is the payload of a packet? Key, protection domain and bounds are checked for the whole message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct LocateRequest {
    /// Comes back with the answer.
    pub qp: Bits<10>,
    pub pd: Bits<20>,
    pub lkey: Bits<32>,
    /// First byte of the message.
    pub va: Bits<64>,
    /// Bytes of the message, at least 1.
    pub message_length: Bits<32>,
    /// Bytes of the message before the packet.
    pub offset: Bits<32>,
    /// Bytes of the packet, 1 to 8,192.
    pub length: Bits<14>,
}

/// Where it is.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct LocateResponse {
    pub qp: Bits<10>,
    /// The local buffer cannot be read: key, protection domain, bounds or page.
    pub fault: Bit,
    pub pieces: Pieces,
}

/// Registers of a requester, checked by software. What only one transport has is ignored by the other.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct RequesterConfig {
    /// The queue pair may send; one that was never configured may not.
    pub valid: Bit,
    /// It sends over RC; otherwise over MRC.
    pub rc: Bit,
    pub pd: Bits<20>,
    /// log2 of the path MTU in bytes, 8 to 13.
    pub mtu_log2: Bits<4>,
    /// Most PSNs the window may span, 1 to 1,024.
    pub mpr: Bits<11>,
    /// MRC: retransmission timeout of a first transmission. RC: time without progress after which it goes back. Ticks of 8 ns.
    pub rto: Bits<21>,
    /// MRC: timeouts double; otherwise they grow by one `rto`.
    pub exponential: Bit,
    /// MRC: of each packet. RC: without progress.
    pub retry_budget: Bits<8>,
    /// MRC: early loss detection threshold in packets, 0 = off.
    pub early_loss: Bits<10>,
    /// MRC: congestion window in bytes from which packets in the middle of a message leave it to the receiver when to send a SACK; each packet asks
    /// for one below.
    pub coalesce_from: Bits<24>,
    /// RC: an acknowledgement is asked for every so many packets, 1 or more.
    pub ack_every: Bits<16>,
    /// RC: UDP source port of its one path, and the port of the card that it uses.
    pub udp_sport: Bits<16>,
    pub plane: Bit,
    /// Doorbell page that owns the queue pair.
    pub page: Bits<16>,
    /// First PSN sent.
    pub first_psn: Bits<24>,
}
