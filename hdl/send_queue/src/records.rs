//! Rows and records of this crate.

use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Message;
use stellar_wire::hw::wqe::Wqe;
use stellar_wire::hw::{Psn, Qpn, SqIndex};

/// A send queue entry that was read, checked by itself.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Entry {
    /// Flips with every entry delivered to the queue pair.
    pub phase: Bit,
    /// The read failed, or the opcode is undefined. Then `wqe` is zero except for the work request identifier.
    pub unreadable: Bit,
    /// The length exceeds the maximum of a message, or of inline data.
    pub too_long: Bit,
    pub wqe: Wqe,
}

/// Request to the prefetch: the next entry, a doorbell, or a restart.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Ask {
    pub qp: Qpn,
    /// Restart: entries of another ring follow, from slot 0 on. No entry is requested.
    pub restarts: Bit,
    /// Doorbell: an entry that it carried may be buffered. No entry is requested.
    pub offers: Bit,
    /// Valid with `restarts`: bus address of the ring, and log2 of its entries.
    pub base: Bits<64>,
    pub log2_entries: Bits<4>,
    /// Slot of the requested entry. Slots are requested in order.
    pub slot: SqIndex,
    /// Producer index: index after the last posted entry.
    pub producer: SqIndex,
}

/// Wake-up of a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Wake {
    pub valid: Bit,
    pub qp: Qpn,
}

/// State of the send queue of one queue pair. Slots are send queue indices, modulo 2^16.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct QueueRow {
    pub producer: SqIndex,
    /// Slot of the next message to start. The outstanding messages are in the slots before it.
    pub next_slot: SqIndex,
    /// The entry of `next_slot` has been requested.
    pub asked: Bit,
    /// Value of [`Entry::phase`] when the last requested entry has arrived.
    pub asked_phase: Bit,
    /// The entry of `next_slot` has been evaluated, but must not start yet.
    pub blocked: Bit,
    /// Outstanding messages.
    pub outstanding: Bits<8>,
    /// Outstanding messages that have packets.
    pub with_packets: Bits<8>,
    /// Outstanding WRITEs with immediate.
    pub wimm: Bits<8>,
    /// Number of the next message with packets.
    pub next_msn: Bits<24>,
    /// Number of the next WRITE with immediate.
    pub next_rqmsn: Bits<16>,
    /// First PSN of the last message started.
    pub last_first: Psn,
    /// Number of its packets.
    pub last_packets: Bits<24>,
    /// No more messages start.
    pub stopped: Bit,
    /// All messages complete with an error.
    pub flushed: Bit,
    /// Valid with `flushed`: the message `failed_slot` completes with `failed_status`.
    pub failed: Bit,
    pub failed_slot: SqIndex,
    pub failed_status: Bits<8>,
    /// The queue pair waits for a flush step.
    pub queued: Bit,
}

/// An outstanding message, and what its completion needs.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct MessageRow {
    pub message: Message,
    /// The message has no packets, so it needs no acknowledgement.
    pub nop: Bit,
    pub signaled: Bit,
    /// Bits 23:16 of its MSN.
    pub msn_high: Bits<8>,
    /// Valid with `message.fault`: the reason.
    pub status: Bits<8>,
    pub wr_id: Bits<64>,
}

/// Evaluation of the row and the entry for an operation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Lookup {
    /// There are outstanding messages.
    pub any: Bit,
    /// The requested message is outstanding.
    pub inside: Bit,
    /// The last message started has packets left.
    pub continues: Bit,
    /// An entry was requested and has not arrived.
    pub entry_pending: Bit,
    /// The entry of `next_slot` has arrived.
    pub present: Bit,
    /// The entry may start: the queue pair has not stopped, and there is space for one more outstanding message.
    pub may_start: Bit,
    /// The entry has to wait for messages before it.
    pub blocked: Bit,
    /// The entry cannot be executed, because of `status`.
    pub fault: Bit,
    pub status: Bits<8>,
    pub has_packets: Bit,
    pub packets: Bits<24>,
    /// Entries that were not taken, before and after the doorbell.
    pub pending: Bits<16>,
    pub pending_after_doorbell: Bits<16>,
    /// There are posted entries from `next_slot` on.
    pub more: Bit,
    /// There are posted entries after `next_slot`.
    pub more_after_next: Bit,
    /// There are posted entries from `next_slot` on once the doorbell has been processed.
    pub more_after_doorbell: Bit,
}

/// Decision on an operation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Decision {
    /// An outstanding message has to be read first. Then no other field counts, except that no message starts.
    pub needs_message: Bit,
    /// Fields of the response.
    pub found: Bit,
    pub waits: Bit,
    /// A message starts.
    pub starts: Bit,
    /// The entry completes without having started.
    pub completes: Bit,
    /// Requests the next entry.
    pub asks: Bit,
    /// Requests no entry, but an entry that the doorbell carried may be buffered.
    pub offers: Bit,
    /// The queue pair needs a flush step.
    pub queues: Bit,
    /// Next contents of the row.
    pub row: QueueRow,
}
