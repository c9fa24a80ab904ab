//! Requests to the message table, and its responses (`docs/requester.md`).

use super::{Psn, Qpn, SqIndex};
use rust_hdl::prelude::*;

pub use crate::rows::requester::SendQueueConfig;

/// Messages of fewer bytes are short: 32 of them, with a packet each, have at most as many bytes as a burst of full packets.
pub const SHORT_MESSAGE: u64 = crate::rows::SHORT_MESSAGE as u64;

/// Kind of a [`MessageRequest`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum MessageOp {
    /// Returns the message of a new packet with PSN `psn`: the last one started, while it has packets left, otherwise the next one of the queue, which
    /// starts. If that is a NOP, there is no message, and a wake-up follows if more was posted.
    NextMessage,
    /// Returns the messages of `count` new packets from PSN `psn` on: first the last one started, while it has packets left, then the next ones of the queue,
    /// which start, as far as they may. There is one response for each message, in order, and the last response says so.
    TakeMessages,
    /// Returns the outstanding message with send queue index `slot`.
    LookupBySlot,
    /// Returns the outstanding message that contains `psn`.
    LookupByPsn,
    /// Marks the message `slot` faulty, with `status`. No later message starts.
    Fault,
    /// Completes, in order, every message whose packets all have PSNs before `psn`.
    Complete,
    /// Completes all messages with an error: the message `slot` with `status`, if `failed`; all others as flushed.
    Flush,
    /// Sets the producer index to `slot`.
    Doorbell,
    /// Initialises the queue pair. The [`SendQueueConfig`] comes with the request.
    Configure,
}

/// A request. Fields that the operation does not use are ignored.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct MessageRequest {
    pub op: MessageOp,
    pub qp: Qpn,
    pub psn: Psn,
    /// Packets of a `TakeMessages`, 1 to 32.
    pub count: Bits<6>,
    /// `TakeMessages`: only messages shorter than [`SHORT_MESSAGE`] bytes start.
    pub only_short: Bit,
    pub slot: SqIndex,
    pub failed: Bit,
    /// Code of a work completion status ([`crate::host::WcStatus`]). `Fault`: not that of success.
    pub status: Bits<8>,
}

/// A message that has started.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Message {
    /// High for a WRITE with immediate, low for a WRITE.
    pub has_immediate: Bit,
    /// The payload is the first bytes of `source`.
    pub inline: Bit,
    /// The message cannot be sent, or not completely.
    pub fault: Bit,
    /// Send queue index.
    pub slot: SqIndex,
    /// Length in bytes.
    pub length: Bits<32>,
    pub remote_va: Bits<64>,
    pub rkey: Bits<32>,
    pub immediate: Bits<32>,
    /// Bytes of the entry from [`crate::host::Wqe::SOURCE`] on: inline data, or where the payload is ([`super::wqe::local_va`], [`super::wqe::lkey`]).
    pub source: Bits<512>,
    /// PSN of its first packet.
    pub first: Psn,
    /// Number of packets.
    pub packets: Bits<24>,
    /// Low 16 bits of the message sequence number.
    pub msn: Bits<16>,
    /// Number among the WRITEs with immediate; 0 for a WRITE.
    pub rqmsn: Bits<16>,
}

/// Response to every request. `TakeMessages` has one or more, all others have one.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct MessageResponse {
    /// `NextMessage`, `TakeMessages`, `LookupBySlot`, `LookupByPsn`: there is a message. `Doorbell`: the index was accepted. `Complete`: the oldest remaining
    /// message cannot be executed; `slot` and `status` say which and why.
    pub found: Bit,
    /// `Doorbell`: the index is the one that was known.
    pub waits: Bit,
    /// `NextMessage`, valid with `found`: the entry behind the message is there, too.
    pub follows: Bit,
    /// `TakeMessages`: no response follows. It may come without a message.
    pub last: Bit,
    /// `TakeMessages`: number of the requested packets that belong to the message.
    pub packets_here: Bits<6>,
    /// `TakeMessages`: NOPs have started since the first response. They may complete, if everything before them has.
    pub nops: Bit,
    pub slot: SqIndex,
    pub status: Bits<8>,
    pub message: Message,
}

/// A read of consecutive send queue entries over PCIe, AT = 00, in lines of 64 bytes: an entry has one line or two.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WqeFetch {
    pub address: Bits<64>,
    /// Returned with each line.
    pub qp: Qpn,
    /// 1 to 8.
    pub lines: Bits<4>,
    /// Epoch in which the address was formed: see [`crate::hw::fence`].
    pub epoch: Bit,
}

/// A line of a send queue entry that was read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WqeFetched {
    pub qp: Qpn,
    /// The read failed.
    pub error: Bit,
    /// So many lines of the same read come behind this one.
    pub behind: Bits<3>,
    /// Byte 0 in bits 7:0.
    pub line: Bits<512>,
}

/// A completion of the send side, before the completion queue adds its phase and its position.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Completion {
    pub qp: Qpn,
    /// Code of a [`crate::host::WcStatus`].
    pub status: Bits<8>,
    /// Code of a [`crate::host::CqeOpcode`].
    pub opcode: Bits<8>,
    pub wr_id: Bits<64>,
    pub byte_len: Bits<32>,
    pub immediate: Bits<32>,
    pub msn: Bits<24>,
    pub sq_head: SqIndex,
}
