//! Evaluation of a queue pair's state for an operation.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::SendQueueConfig;

use crate::operation::Operation;
use crate::records::{Look, Lookup, QueueRow};
use crate::ring::ring_entries;
use crate::seek::{corrects_to_walk, is_in_last_block};

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

/// Evaluates the state, and whether [`first_place`](crate::seek::first_place) is right. A request finds no outstanding messages in a flushed queue pair. The PSN of a request for the next message lies in
/// the last one, or behind it.
#[hdl_fn]
pub fn look_up(op: Operation, row: QueueRow, look: Look, settings: SendQueueConfig) -> Lookup {
    let asked = op.request;
    let any = row.outstanding.any() & (op.is_flush_step | !row.flushed);
    // Slots between the one that was asked for and the next one to start: 2^16 - 1 for the latter.
    let between = row.next_slot + !asked.slot;
    let is_outstanding = between < bit_cast::<16, 11>(row.outstanding);
    let finds_oldest = (op.is_complete | op.is_lookup_by_psn) & any;
    let flushes = op.is_flush_step & row.flushed & (any | (row.next_slot != look.arriving));
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
        begins: op.is_next | finds_oldest | flushes,
        continues: op.is_next & any & !row.stopped & (asked.psn != row.last_end),
        finds_slot: op.is_by_slot & any & is_outstanding,
        is_elsewhere: !is_in_last_block(asked.slot, row),
        redirect_walks: op.is_by_slot & corrects_to_walk(asked.slot, row),
        left: row.last_end - asked.psn,
        arriving: look.arriving,
        max_wimm: settings.max_wimm,
        pending: row.producer - taken,
        pending_after_doorbell: asked.slot - taken,
        ring_entries: ring_entries(settings.log2_entries),
    }
}

/// Returns whether the operation reads a message.
#[hdl_fn]
pub fn needs_message(lookup: Lookup) -> Bit {
    lookup.begins | lookup.finds_slot
}

/// Returns whether it does not begin at the place that was guessed.
#[hdl_fn]
pub fn redirects(lookup: Lookup) -> Bit {
    lookup.continues | (lookup.finds_slot & lookup.is_elsewhere)
}
