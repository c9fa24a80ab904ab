//! What an operation changes that no message under way has a say in.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{MessageOp, MessageRequest, SendQueueConfig};

use crate::records::{Decision, Looked, MessageRow, QueueRow};
use crate::ring::ring_entries;
use crate::under_way::started;

/// `begun`: the message that starts, if one does. `visits`: not a request.
#[hdl_fn]
pub fn decide(
    asked: MessageRequest,
    visits: Bit,
    row: QueueRow,
    looked: Looked,
    settings: SendQueueConfig,
    begun: MessageRow,
) -> Decision {
    let requests = !visits;
    let is_current = requests & (asked.op == MessageOp::Current);
    let is_peek = requests & (asked.op == MessageOp::Peek);
    let is_get = requests & (asked.op == MessageOp::Get);
    let is_fault = requests & (asked.op == MessageOp::Fault);
    let is_complete = requests & (asked.op == MessageOp::Complete);
    let is_holding = requests & (asked.op == MessageOp::Holding);
    let is_flush = requests & (asked.op == MessageOp::Flush);
    let is_doorbell = requests & (asked.op == MessageOp::Doorbell);
    let is_configure = requests & (asked.op == MessageOp::Configure);

    let matters = ((is_current | is_peek) & looked.continues)
        | ((is_get | is_fault) & looked.inside)
        | ((is_complete | is_holding) & looked.any)
        | (visits & row.flushed & looked.any);
    let may_begin = !looked.continues & looked.may_start;
    let begins = is_current & may_begin;
    let starts = begins & !looked.blocked;
    let would_start = is_peek & may_begin & !looked.blocked;
    let may_wait = !looked.continues & !looked.present;
    let completes = visits & row.flushed & looked.present;
    let rings = is_doorbell
        & (looked.rung_pending <= ring_entries(settings.log2_entries))
        & (looked.rung_pending >= looked.pending);
    let first_flush = is_flush & !row.flushed;

    // The next entry, as soon as it is posted and there is room for it.
    let consumed = starts | completes;
    let more = if consumed {
        looked.more_behind
    } else if rings {
        looked.more_rung
    } else {
        looked.more
    };
    let free = consumed | (!row.asked & !looked.outstanding);
    let asks = (is_current | rings | visits) & more & free;

    // Flushed queue pairs have work until the last entry.
    let visit_again = row.flushed & more;
    let wants_visit = first_flush | (rings & row.flushed);

    let mut after = if starts {
        started(row, looked, begun)
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
    after.held_back = (row.held_back | begins) & !consumed;
    after.stopped = after.stopped | is_flush | (is_fault & looked.inside);
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
    decided.queued = if visits {
        visit_again
    } else {
        row.queued | wants_visit
    };
    Decision {
        matters,
        found: ((starts | would_start) & looked.has_packets) | rings,
        waits: is_peek & may_wait & !row.stopped & (looked.outstanding | !looked.more),
        starts,
        completes,
        asks,
        offers: rings & !asks,
        queues: if visits {
            visit_again
        } else {
            wants_visit & !row.queued
        },
        row: decided,
    }
}
