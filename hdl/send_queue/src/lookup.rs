//! Evaluation of a queue pair's state for an operation.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{MessageOp, MessageRequest, SendQueueConfig};
use stellar_wire::hw::SqIndex;

use crate::records::{Look, Lookup, Place, Position, QueueRow};
use crate::ring::ring_entries;

/// Returns the row with the present chain of blocks.
#[hdl_fn]
pub fn adopt(row: QueueRow, look: Look) -> QueueRow {
    let is_present = row.chain == look.chain;
    QueueRow {
        chain: look.chain,
        next_block: if is_present {
            row.next_block
        } else {
            look.first
        },
        next_passed: row.next_passed & is_present,
        first_block: if is_present {
            row.first_block
        } else {
            look.first
        },
        first_passed: row.first_passed & is_present,
        ..row
    }
}

/// Returns the slot of the oldest outstanding message.
#[hdl_fn]
pub fn oldest_slot(row: QueueRow) -> SqIndex {
    row.next_slot - bit_cast::<16, 11>(row.outstanding)
}

/// Evaluates the state. `is_flush_step`: the operation is a step of a flush. A request finds no outstanding messages in a flushed queue pair. The PSN of a request for the next message lies in
/// the last one, or behind it.
#[hdl_fn]
pub fn look_up(
    asked: MessageRequest,
    is_flush_step: Bit,
    row: QueueRow,
    look: Look,
    settings: SendQueueConfig,
) -> Lookup {
    let any = row.outstanding.any() & (is_flush_step | !row.flushed);
    let behind = row.next_slot - asked.slot;
    // The doorbell is checked against this index: an entry that `NextMessage` has evaluated counts as taken.
    let taken = if row.flushed {
        row.producer
    } else if row.blocked {
        row.next_slot + 1
    } else {
        row.next_slot
    };
    Lookup {
        any,
        inside: any & behind.any() & (behind <= bit_cast::<16, 11>(row.outstanding)),
        continues: any & !row.stopped & (asked.psn != row.last_end),
        left: row.last_end - asked.psn,
        present: row.next_slot != look.arriving,
        pending: row.producer - taken,
        pending_after_doorbell: asked.slot - taken,
        ring_entries: ring_entries(settings.log2_entries),
    }
}

/// Returns how many blocks lie between two slots.
#[hdl_fn]
fn blocks_between(from: SqIndex, to: SqIndex) -> Bits<8> {
    (to.get_bits::<13>(3) - from.get_bits::<13>(3)).get_bits::<8>(0)
}

/// Returns a number of blocks with 0 or 1 more.
#[hdl_fn]
fn one_more(hops: Bits<8>, passed: Bit) -> Bits<8> {
    let more: Bits<1> = passed.into();
    hops + bit_cast::<8, 1>(more)
}

/// Returns where the operation begins: at the slot that was asked for, at the oldest message, or at the next one. This is a guess, because the row has just been read: that the slot lies in the block of
/// the last message, and that the last message does not continue.
#[hdl_fn]
pub fn first_place(asked: MessageRequest, is_flush_step: Bit, row: QueueRow) -> Place {
    let is_oldest = if is_flush_step {
        row.outstanding.any()
    } else {
        (asked.op == MessageOp::Complete) | (asked.op == MessageOp::LookupByPsn)
    };
    let is_asked =
        !is_flush_step & ((asked.op == MessageOp::LookupBySlot) | (asked.op == MessageOp::Fault));
    Place {
        slot: if is_asked {
            asked.slot
        } else if is_oldest {
            oldest_slot(row)
        } else {
            row.next_slot
        },
        block: if is_oldest {
            row.first_block
        } else {
            row.next_block
        },
        hops: if is_asked {
            bits::<8>(0)
        } else if is_oldest {
            one_more(bits::<8>(0), row.first_passed)
        } else {
            one_more(bits::<8>(0), row.next_passed)
        },
    }
}

/// Returns whether a slot lies in the block of the last message started.
#[hdl_fn]
pub fn is_in_last_block(slot: SqIndex, row: QueueRow) -> Bit {
    let last = row.next_slot - 1;
    slot.get_bits::<13>(3) == last.get_bits::<13>(3)
}

/// Returns where the operation begins if the guess was wrong. `is_next`: at the last message started, which continues; otherwise at the slot that was asked for, which lies in another block than
/// that one.
#[hdl_fn]
pub fn corrected_place(is_next: Bit, slot: SqIndex, row: QueueRow) -> Place {
    if is_next {
        Place {
            slot: row.next_slot - 1,
            block: row.next_block,
            hops: bits::<8>(0),
        }
    } else {
        Place {
            slot,
            block: row.first_block,
            hops: one_more(blocks_between(oldest_slot(row), slot), row.first_passed),
        }
    }
}

/// Returns the position of `slot`. `is_next`: messages may start, so those before the next one to start have been started.
#[hdl_fn]
pub fn position_of(slot: SqIndex, row: QueueRow, arriving: SqIndex, is_next: Bit) -> Position {
    let next_slot = slot + 1;
    Position {
        is_started: is_next & (slot != row.next_slot),
        present: slot != arriving,
        next_present: next_slot != arriving,
        posted: slot != row.producer,
        next_posted: next_slot != row.producer,
    }
}

/// Returns the position behind `at`. `second`: the slot behind that.
#[hdl_fn]
pub fn position_behind(
    at: Position,
    second: SqIndex,
    row: QueueRow,
    arriving: SqIndex,
) -> Position {
    Position {
        is_started: false,
        present: at.next_present,
        next_present: second != arriving,
        posted: at.next_posted,
        next_posted: second != row.producer,
    }
}
