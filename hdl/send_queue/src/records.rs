//! What the blocks of this crate keep in their memories and tell each other.

use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Message;
use stellar_wire::hw::wqe::Wqe;

/// A send queue entry that was read, as far as it can be judged by itself.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Entry {
    /// Flips with every answer of the queue pair.
    pub phase: Bit,
    /// The read failed, or the opcode is undefined: all of `wqe` but the work request identifier is zero.
    pub unreadable: Bit,
    /// It says more bytes than a message, or inline data, can have.
    pub too_long: Bit,
    pub wqe: Wqe,
}

/// Asks for the next entry, tells of a doorbell, or starts a queue pair anew.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Ask {
    pub qp: Bits<10>,
    /// Nothing is asked for: from slot 0 on, entries are those of another ring.
    pub restarts: Bit,
    /// Nothing is asked for: a doorbell was taken, and an entry that came with it may be kept.
    pub offers: Bit,
    /// With `restarts`: bus address of the ring, and log2 of its entries.
    pub base: Bits<64>,
    pub log2_entries: Bits<4>,
    /// Slot of the entry: those asked for since the restart, in order.
    pub slot: Bits<16>,
    /// Index behind the last entry that was posted.
    pub producer: Bits<16>,
}

/// An answer that its queue pair is to hear of.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Wake {
    pub valid: Bit,
    pub qp: Bits<10>,
}

/// State of one queue pair's work. Slots are send queue indices, modulo 2^16.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct QueueRow {
    pub producer: Bits<16>,
    /// Slot of the message that starts next. The messages under way are those before it.
    pub next_slot: Bits<16>,
    /// The entry of `next_slot` was asked for.
    pub asked: Bit,
    /// As [`Entry::phase`] will be once the last entry asked for is there.
    pub asked_phase: Bit,
    /// The entry of `next_slot` was looked at, but may not start yet.
    pub held_back: Bit,
    /// Messages under way.
    pub under_way: Bits<8>,
    /// Those of them that have packets.
    pub with_packets: Bits<8>,
    /// Those of them that are WRITEs with immediate.
    pub wimm: Bits<8>,
    /// Number of the next message with packets.
    pub next_msn: Bits<24>,
    /// Number of the next WRITE with immediate.
    pub next_rqmsn: Bits<16>,
    /// PSN of the first packet of the message started last.
    pub last_first: Bits<24>,
    /// Its packets.
    pub last_packets: Bits<24>,
    /// Nothing starts any more.
    pub stopped: Bit,
    /// Everything completes with an error.
    pub flushed: Bit,
    /// With `flushed`: the message `failed_slot` completes with `failed_status`.
    pub failed: Bit,
    pub failed_slot: Bits<16>,
    pub failed_status: Bits<8>,
    /// The queue pair waits for a visit.
    pub queued: Bit,
}

/// A message under way, and what its completion needs.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct MessageRow {
    pub message: Message,
    /// It has no packets, and is as good as complete.
    pub nop: Bit,
    pub signaled: Bit,
    /// Bits 23:16 of its number among the messages sent.
    pub msn_high: Bits<8>,
    /// With `message.fault`: why.
    pub status: Bits<8>,
    pub wr_id: Bits<64>,
}

/// What the state read says of an operation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Looked {
    /// There are messages under way.
    pub any: Bit,
    /// The message asked for is one of them.
    pub inside: Bit,
    /// The message started last has packets left.
    pub continues: Bit,
    /// An entry was asked for and has not come.
    pub outstanding: Bit,
    /// The entry of the next slot is there.
    pub present: Bit,
    /// It has a good place: nothing stopped the queue pair, and there is room for one more under way.
    pub may_start: Bit,
    /// But it has to wait for messages before it.
    pub blocked: Bit,
    /// It cannot be executed, for `status`.
    pub fault: Bit,
    pub status: Bits<8>,
    pub has_packets: Bit,
    pub packets: Bits<24>,
    /// Entries not taken before and after the doorbell.
    pub pending: Bits<16>,
    pub rung_pending: Bits<16>,
    /// There are entries from `next_slot` on, from the one behind it on, and from `next_slot` on after the doorbell.
    pub more: Bit,
    pub more_behind: Bit,
    pub more_rung: Bit,
}

/// What comes of an operation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Decision {
    /// Nothing yet: a message under way has to be read. The other fields do not count, except that nothing starts.
    pub matters: Bit,
    /// Of the response.
    pub found: Bit,
    pub waits: Bit,
    /// A message starts.
    pub starts: Bit,
    /// The entry completes without having started.
    pub completes: Bit,
    /// The next entry is asked for.
    pub asks: Bit,
    /// It is not, but an entry that came with the doorbell may be kept.
    pub offers: Bit,
    /// The queue pair is to be visited, once more or anew.
    pub queues: Bit,
    /// What becomes of the row.
    pub row: QueueRow,
}
