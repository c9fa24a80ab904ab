//! Decisions that read no message.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{MessageOp, MessageRequest};

use crate::message_step::{end, Effect, Step};
use crate::operation::Operation;
use crate::pop::flushes_more;
use crate::records::{AskKind, Decision, Lookup, QueueRow};

/// Decides what `Configure`, `Doorbell` and `Flush` do. Other operations change nothing.
#[hdl_fn]
pub fn decide(asked: MessageRequest, row: QueueRow, lookup: Lookup) -> Decision {
    let is_flush = asked.op == MessageOp::Flush;
    let is_doorbell = asked.op == MessageOp::Doorbell;
    let is_configure = asked.op == MessageOp::Configure;
    let rings = is_doorbell
        & (lookup.pending_after_doorbell <= lookup.ring_entries)
        & (lookup.pending_after_doorbell >= lookup.pending);
    let moves_nothing = lookup.pending_after_doorbell == lookup.pending;
    let first_flush = is_flush & !row.flushed;

    // A flushed queue pair has work until its last entry has completed.
    let wants_flush = first_flush | (rings & row.flushed);

    let mut after = row;
    after.producer = if rings { asked.slot } else { row.producer };
    after.stopped = row.stopped | is_flush;
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
        chain: row.chain,
        ..QueueRow::default()
    };
    let mut decided = if is_configure { fresh } else { after };
    decided.queued = row.queued | wants_flush;
    Decision {
        found: rings,
        waits: is_doorbell & moves_nothing,
        queues: wants_flush & !row.queued,
        row: decided,
    }
}

/// The first step behind `LookUp`: ends the operation, unless the prefetch has to be told, and does not hear. `usual`: what the step would do otherwise. Whether a doorbell was accepted comes late, so
/// this is chosen last, and changes no more than it has to.
#[hdl_fn]
pub fn decide_effect(
    op: Operation,
    row: QueueRow,
    decision: Decision,
    asks_ready: Bit,
    step: Step,
    usual: Effect,
) -> Effect {
    let asks = !op.is_flush_step & (decision.found | op.is_configure);
    let mut told = usual;
    told.step = step;
    told.asks = asks;
    told.ask_kind = if op.is_configure {
        AskKind::Restarts
    } else {
        AskKind::Rings
    };
    let mut ends = end(told);
    ends.row = if op.is_flush_step { row } else { decision.row };
    ends.queues = if op.is_flush_step {
        flushes_more(row)
    } else {
        decision.queues
    };
    if asks_ready | !asks {
        ends
    } else {
        told
    }
}
