//! What the requester asks the message table, and what it is told (`docs/requester.md`).

use hdl_macros::FromBits;
use rust_hdl::prelude::*;

/// Kind of a [`MessageRequest`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum MessageOp {
    /// The message that a new packet with PSN `psn` belongs to: the last one while it has packets left, otherwise the next of the queue.
    Current,
    /// The message that `Current` would give now, if it gives one. Nothing starts, and nothing is read.
    Peek,
    /// The message under way with send queue index `slot`.
    Get,
    /// The message under way that the packet with PSN `psn` belongs to.
    Holding,
    /// The message `slot` cannot be sent on, for `status`. Nothing after it starts.
    Fault,
    /// Completes, in order, every message whose packets all lie before `psn`.
    Complete,
    /// Completes everything with an error: `slot`, if `failed`, with `status`, the others as flushed.
    Flush,
    /// New producer index `slot`.
    Doorbell,
    /// Starts the queue pair anew with the [`SendQueueConfig`] beside the request.
    Configure,
}

/// Registers of a send queue, checked by software.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct SendQueueConfig {
    /// Bus address of entry 0.
    pub base: Bits<64>,
    /// log2 of the entries, 1 to 15.
    pub log2_entries: Bits<4>,
    /// log2 of the path MTU in bytes, 8 to 13.
    pub mtu_log2: Bits<4>,
    /// Most WRITEs with immediate under way (MAX_WIMM).
    pub max_wimm: Bits<11>,
}

/// One request. Fields that the operation does not name are ignored.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct MessageRequest {
    pub op: MessageOp,
    pub qp: Bits<10>,
    pub psn: Bits<24>,
    pub slot: Bits<16>,
    pub failed: Bit,
    /// Code of a work completion status ([`crate::host::WcStatus`]).
    pub status: Bits<8>,
}

/// A message that was started.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Message {
    /// WRITE with immediate; otherwise WRITE.
    pub has_immediate: Bit,
    /// The payload is `inline_data`.
    pub inline: Bit,
    /// It cannot be (wholly) sent.
    pub fault: Bit,
    /// Send queue index.
    pub slot: Bits<16>,
    /// Bytes.
    pub length: Bits<32>,
    pub remote_va: Bits<64>,
    pub rkey: Bits<32>,
    pub immediate: Bits<32>,
    pub local_va: Bits<64>,
    pub lkey: Bits<32>,
    pub inline_data: Bits<128>,
    /// PSN of its first packet.
    pub first: Bits<24>,
    /// Packets.
    pub packets: Bits<24>,
    /// Low 16 bits of its number among the messages sent.
    pub msn: Bits<16>,
    /// Number among the WRITEs with immediate; 0 in a message without.
    pub rqmsn: Bits<16>,
}

/// What comes back of every request.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct MessageResponse {
    /// `Current`, `Get`, `Holding`: there is one. `Doorbell`: the index was taken. `Complete`: a message that cannot be executed is the oldest now, `slot` and
    /// `status` say which and why.
    pub found: Bit,
    /// `Peek`: there is none, and there will be none before a doorbell, or the wake that follows an entry asked for.
    pub waits: Bit,
    pub slot: Bits<16>,
    pub status: Bits<8>,
    pub message: Message,
}

/// A read of consecutive send queue entries over PCIe, AT = 00.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WqeFetch {
    pub address: Bits<64>,
    /// Comes back with each entry.
    pub qp: Bits<10>,
    /// 1 to 8.
    pub entries: Bits<4>,
}

/// A send queue entry as read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WqeFetched {
    pub qp: Bits<10>,
    /// The read failed.
    pub error: Bit,
    /// Byte 0 in bits 7:0.
    pub entry: Bits<512>,
}

/// A completion of the send side, before it is given a phase and a place.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Completion {
    pub qp: Bits<10>,
    /// Code of a [`crate::host::WcStatus`].
    pub status: Bits<8>,
    /// Code of a [`crate::host::CqeOpcode`].
    pub opcode: Bits<8>,
    pub wr_id: Bits<64>,
    pub byte_len: Bits<32>,
    pub immediate: Bits<32>,
    pub msn: Bits<24>,
    pub sq_head: Bits<16>,
}
