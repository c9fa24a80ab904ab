//! Rows and records of this crate.

use rust_hdl::prelude::*;
use stellar_wire::hw::wqe::{Wqe, REST_BITS};
use stellar_wire::hw::{Psn, Qpn, SqIndex};

/// Bits of a [`Block`].
pub const BLOCK_BITS: usize = 10;
/// Number of a block of 8 entries.
pub type Block = Bits<10>;
/// A number of blocks.
pub type BlockCount = Bits<11>;

/// Inline data of a send queue entry behind its first 64 bytes.
pub type Rest = Bits<REST_BITS>;

/// The first 64 bytes of a send queue entry, checked by themselves. They are written once, when they arrive.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Entry {
    /// The read failed, the opcode is undefined, or the entry names another slot. If the read failed or the opcode is undefined, `wqe` is zero except for the
    /// work request identifier.
    pub misplaced: Bit,
    /// The length exceeds the maximum of a message, or of inline data.
    pub too_long: Bit,
    /// Number of packets of its message: 0 for a NOP, and for an entry that cannot be executed.
    pub packets: Bits<24>,
    // What an operation decides on comes late, behind the memory of entries. So each is one bit.
    /// There are packets.
    pub sends: Bit,
    /// It can be executed, and is a WRITE with immediate; waits until no message with packets is outstanding; has
    /// [`SHORT_MESSAGE`](stellar_wire::hw::messages::SHORT_MESSAGE) bytes or more.
    pub counts: Bit,
    pub fenced: Bit,
    pub long: Bit,
    pub wqe: Wqe,
}

/// What the start of a message adds to its entry.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Started {
    /// PSN of its first packet.
    pub first: Psn,
    pub msn: Bits<24>,
    pub rqmsn: Bits<16>,
    /// Why the message cannot be sent, or not completely. Code of success: it can.
    pub status: Bits<8>,
}

/// Kind of an [`Ask`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum AskKind {
    /// Entries of another ring follow, from slot 0 on. All blocks return.
    Restarts,
    /// A doorbell was accepted.
    Rings,
    /// Everything before `slot` was taken.
    Takes,
    /// The entry `slot` was missed: its arrival wakes the queue pair. Everything before it was taken.
    Misses,
    /// The first block has completed, and there is one behind it.
    Frees,
    /// Everything before `slot` has completed. If no entry from `slot` on is there or under way, all blocks return.
    Idles,
}

/// Request of the message table to the prefetch.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Ask {
    pub kind: AskKind,
    pub qp: Qpn,
    /// `Restarts`: bus address of the ring, log2 of its entries, whether they have 128 bytes, log2 of the path MTU.
    pub base: Bits<64>,
    pub log2_entries: Bits<4>,
    pub long_entries: Bit,
    pub mtu_log2: Bits<4>,
    pub slot: SqIndex,
    /// Producer index: index after the last posted entry.
    pub producer: SqIndex,
    /// First block of the chain `chain`.
    pub block: Block,
    pub chain: Bits<2>,
}

/// What the message table sees of a queue pair's entries.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Look {
    /// Slot of the next entry to arrive: all before it are in the pool.
    pub arriving: SqIndex,
    /// The first block of the chain, and the number of the chain.
    pub first: Block,
    pub chain: Bits<2>,
}

/// Event of a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Wake {
    pub valid: Bit,
    pub qp: Qpn,
}

/// Entries that enter the pool.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Arrived {
    pub valid: Bit,
    pub qp: Qpn,
    /// How many: 1 to 8.
    pub entries: Bits<4>,
}

/// State of the send queue of one queue pair. Slots are send queue indices, modulo 2^16.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct QueueRow {
    pub producer: SqIndex,
    /// Slot of the next message to start. The outstanding messages are in the slots before it.
    pub next_slot: SqIndex,
    /// Number of the chain that the blocks belong to. If it is not the present one, all of its blocks have returned.
    pub chain: Bits<2>,
    /// Block of the slot before `next_slot`; if no message of the chain has started, its first block.
    pub next_block: Block,
    /// The last slot of `next_block` has started.
    pub next_passed: Bit,
    /// First block of the chain.
    pub first_block: Block,
    /// The last slot of `first_block` has completed.
    pub first_passed: Bit,
    /// The entry of `next_slot` has been evaluated, but must not start yet.
    pub blocked: Bit,
    /// Outstanding messages.
    pub outstanding: Bits<11>,
    /// Outstanding messages that have packets.
    pub with_packets: Bits<11>,
    /// Outstanding WRITEs with immediate.
    pub wimm: Bits<11>,
    /// Number of the next message with packets.
    pub next_msn: Bits<24>,
    /// Number of the next WRITE with immediate.
    pub next_rqmsn: Bits<16>,
    /// PSN behind the last message started.
    pub last_end: Psn,
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

/// Where an operation begins to read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Place {
    pub slot: SqIndex,
    /// The slot is this number of blocks behind `block`.
    pub block: Block,
    pub hops: Bits<8>,
}

/// Evaluation of the row for an operation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Lookup {
    /// There are outstanding messages.
    pub any: Bit,
    // What the first steps depend on. It is known here, so that little follows in the cycle in which it counts.
    /// The operation reads a message, other than one in a slot that was asked for.
    pub begins: Bit,
    /// `NextMessage` and `TakeMessages` begin with the last message started, which has packets left.
    pub continues: Bit,
    /// The message in the slot that was asked for is outstanding; the slot lies in another block than the last message.
    pub finds_slot: Bit,
    pub is_elsewhere: Bit,
    /// There are links to follow to it.
    pub redirect_walks: Bit,
    /// Packets that the last message started has left.
    pub left: Bits<24>,
    /// Entries before this slot are there.
    pub arriving: SqIndex,
    /// Outstanding WRITEs with immediate that the queue pair may have.
    pub max_wimm: Bits<11>,
    /// Entries that were not taken, before and after the doorbell.
    pub pending: Bits<16>,
    pub pending_after_doorbell: Bits<16>,
    /// Entries of the ring.
    pub ring_entries: Bits<16>,
}

/// Packets that the last message started has left.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Left {
    pub packets: Bits<24>,
    /// They are all that are wanted.
    pub fills: Bit,
}

/// The slot that an operation reads.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Position {
    /// Its message has started, and has packets left.
    pub is_started: Bit,
    /// There is an entry in the pool, or one behind it.
    pub present: Bit,
    pub next_present: Bit,
    /// The entry was posted, or one behind it.
    pub posted: Bit,
    pub next_posted: Bit,
}

/// A message that was read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Reading {
    pub slot: SqIndex,
    pub block: Block,
    /// The slot behind it.
    pub next_slot: SqIndex,
    /// It is the last one of its block.
    pub crosses: Bit,
    pub at: Position,
    pub entry: Entry,
    /// Valid if it started before.
    pub started: Started,
    /// All of its packets are before the PSN that was asked for. This comes late, behind two carry chains.
    pub is_over: Bit,
    /// It cannot be sent, or not completely.
    pub failed: Bit,
}

/// Decision of `NextMessage` and `TakeMessages` on a message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Taken {
    /// The message starts.
    pub starts: Bit,
    /// It was evaluated, and does not start.
    pub blocks: Bit,
    pub responds: Bit,
    /// Fields of the response.
    pub found: Bit,
    pub here: Bits<6>,
    /// All packets that the message has, or has left.
    pub packets: Bits<24>,
    /// It starts, and has no packets.
    pub starts_nop: Bit,
    /// The operation ends.
    pub ends: Bit,
    /// The queue pair needs a wake-up for this entry, or with `misses_next` for the next one.
    pub misses: Bit,
    pub misses_next: Bit,
    /// `misses` may be set: it is, unless the message fills what is wanted. That comes late.
    pub may_miss: Bit,
}

/// Decision on the oldest message, which completes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Popped {
    /// It completes, if it may; it does, in this cycle. This comes late.
    pub is_over: Bit,
    pub pops: Bit,
    /// It has a completion.
    pub leaves: Bit,
    /// It is the only outstanding message.
    pub is_last: Bit,
    /// The operation ends with it.
    pub ends: Bit,
    /// It is the last one of its block, and there is a block behind it.
    pub frees: Bit,
    /// The prefetch is told that the block, or all blocks, may return.
    pub tells: Bit,
    /// It may complete in this cycle.
    pub may: Bit,
}

/// Decision on an operation that reads no message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Decision {
    /// `Doorbell`: the index was accepted. It is the one that was known.
    pub found: Bit,
    pub waits: Bit,
    /// The queue pair needs a flush step.
    pub queues: Bit,
    /// Next contents of the row.
    pub row: QueueRow,
}
