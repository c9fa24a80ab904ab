//! Decisions that need no outstanding message.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{MessageOp, MessageRequest, SendQueueConfig};

use crate::outstanding::after_start;
use crate::records::{Decision, Lookup, MessageRow, QueueRow};
use crate::ring::ring_entries;

/// Decides what the operation does. `begun` is the message that starts, if one does. `is_flush_step`: the operation is a step of a flush, not a request.
#[hdl_fn]
pub fn decide(
    asked: MessageRequest,
    is_flush_step: Bit,
    row: QueueRow,
    lookup: Lookup,
    settings: SendQueueConfig,
    begun: MessageRow,
) -> Decision {
    let requests = !is_flush_step;
    let is_next = requests & (asked.op == MessageOp::NextMessage);
    let is_peek = requests & (asked.op == MessageOp::PeekNext);
    let is_lookup_by_slot = requests & (asked.op == MessageOp::LookupBySlot);
    let is_fault = requests & (asked.op == MessageOp::Fault);
    let is_complete = requests & (asked.op == MessageOp::Complete);
    let is_lookup_by_psn = requests & (asked.op == MessageOp::LookupByPsn);
    let is_flush = requests & (asked.op == MessageOp::Flush);
    let is_doorbell = requests & (asked.op == MessageOp::Doorbell);
    let is_configure = requests & (asked.op == MessageOp::Configure);

    let needs_message = ((is_next | is_peek) & lookup.continues)
        | ((is_lookup_by_slot | is_fault) & lookup.inside)
        | ((is_complete | is_lookup_by_psn) & lookup.any)
        | (is_flush_step & row.flushed & lookup.any);
    let may_begin = !lookup.continues & lookup.may_start;
    let begins = is_next & may_begin;
    let starts = begins & !lookup.blocked;
    let would_start = is_peek & may_begin & !lookup.blocked;
    let may_wait = !lookup.continues & !lookup.present;
    let completes = is_flush_step & row.flushed & lookup.present;
    let rings = is_doorbell
        & (lookup.pending_after_doorbell <= ring_entries(settings.log2_entries))
        & (lookup.pending_after_doorbell >= lookup.pending);
    let moves_nothing = lookup.pending_after_doorbell == lookup.pending;
    let first_flush = is_flush & !row.flushed;

    // Requests the next entry, as soon as it is posted and the table has space for it.
    let consumed = starts | completes;
    let more = if consumed {
        lookup.more_after_next
    } else if rings {
        lookup.more_after_doorbell
    } else {
        lookup.more
    };
    let free = consumed | (!row.asked & !lookup.entry_pending);
    let asks = (is_next | rings | is_flush_step) & more & free;

    // A flushed queue pair has work until its last entry has completed.
    let flush_again = row.flushed & more;
    let wants_flush = first_flush | (rings & row.flushed);

    let mut after = if starts {
        after_start(row, lookup, begun)
    } else {
        row
    };
    after.next_slot = if consumed {
        row.next_slot + 1
    } else {
        row.next_slot
    };
    after.producer = if rings { asked.slot } else { row.producer };
    after.asked = asks | (row.asked & !consumed);
    after.asked_phase = row.asked_phase ^ asks;
    after.blocked = (row.blocked | begins) & !consumed;
    after.stopped = after.stopped | is_flush | (is_fault & lookup.inside);
    after.flushed = row.flushed | is_flush;
    after.failed = if first_flush {
        asked.failed
    } else {
        row.failed
    };
    after.failed_slot = if first_flush {
        asked.slot
    } else {
        row.failed_slot
    };
    after.failed_status = if first_flush {
        asked.status
    } else {
        row.failed_status
    };
    let fresh = QueueRow {
        asked_phase: row.asked_phase,
        ..QueueRow::default()
    };
    let mut decided = if is_configure { fresh } else { after };
    decided.queued = if is_flush_step {
        flush_again
    } else {
        row.queued | wants_flush
    };
    Decision {
        needs_message,
        found: ((starts | would_start) & lookup.has_packets) | rings,
        waits: (is_peek & may_wait & !row.stopped & (lookup.entry_pending | !lookup.more))
            | (is_doorbell & moves_nothing),
        starts,
        completes,
        asks,
        offers: rings & !asks,
        queues: if is_flush_step {
            flush_again
        } else {
            wants_flush & !row.queued
        },
        row: decided,
    }
}
