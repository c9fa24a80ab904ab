//! `Complete` and flush steps: whether the oldest message completes, and what that changes.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::SqIndex;

use crate::completion::{SUCCESS, WR_FLUSH_ERR};
use crate::message_step::{Effect, Step};
use crate::operation::Operation;
use crate::records::{AskKind, Place, Popped, QueueRow, Reading};

/// Decides on the message that was read. `any`: there are outstanding messages. `free`: a completion can be held. `asks_ready`: the prefetch can be told. `now`: this is `Access`.
#[hdl_fn]
pub fn pop(
    op: Operation,
    any: Bit,
    row: QueueRow,
    message: Reading,
    free: Bit,
    asks_ready: Bit,
    now: Bit,
) -> Popped {
    let leaves = op.is_flush_step | message.entry.wqe.signaled;
    let is_last = row.outstanding == 1;
    let frees = message.crosses & !is_last;
    let idles = is_last & !message.at.next_present;
    let fits = free | !leaves;
    let may = fits & (asks_ready | !(frees | idles));
    let flushes = op.is_flush_step & any;
    let completes = op.is_complete & !message.failed;
    Popped {
        is_over: flushes | (completes & message.is_over),
        pops: (flushes & may & now) | ((completes & may & now) & message.is_over),
        leaves,
        is_last,
        ends: is_last | op.is_flush_step,
        frees,
        tells: (frees | idles) & fits,
        may,
    }
}

/// `Access` of `Complete` and of a flush step: the message completes, if it is over and may. Otherwise `Complete` ends; at a flush step the entry becomes the oldest message (`started`), which completes then.
/// Whether the message is over comes late, so it is looked at last, and the row behind a completion is chosen elsewhere.
#[hdl_fn]
pub fn pop_effect(
    op: Operation,
    row: QueueRow,
    message: Reading,
    popped: Popped,
    started: QueueRow,
    stays: Effect,
) -> Effect {
    let starts = op.is_flush_step & !popped.is_over;
    let step_behind = if popped.ends {
        Step::Idle
    } else {
        Step::Access
    };
    let step_over = if popped.may { step_behind } else { Step::Wait };
    let step_to_started = if row.first_passed {
        Step::Walk
    } else {
        Step::Wait
    };
    let step_other = if op.is_flush_step {
        step_to_started
    } else {
        Step::Idle
    };
    let other_place = Place {
        slot: message.slot,
        block: if row.first_passed {
            row.first_block
        } else {
            message.block
        },
        hops: bits::<8>(1),
    };
    Effect {
        step: if popped.is_over {
            step_over
        } else {
            step_other
        },
        ends: (popped.pops & popped.ends) | !(popped.is_over | op.is_flush_step),
        row: if starts { started } else { row },
        queues: popped.pops & op.is_flush_step & flushes_more(row),
        asks: popped.is_over & popped.tells,
        ask_kind: if popped.frees {
            AskKind::Frees
        } else {
            AskKind::Idles
        },
        to: other_place,
        ..stays
    }
}

/// Returns whether a flushed queue pair has something to flush behind its oldest message, which completes.
#[hdl_fn]
pub fn flushes_more(row: QueueRow) -> Bit {
    row.flushed & ((row.producer != row.next_slot) | (row.outstanding > 1))
}

/// Returns the status of a completion. `is_flush_step`: the message is flushed, otherwise it is acknowledged.
#[hdl_fn]
pub fn status_of(row: QueueRow, slot: SqIndex, is_flush_step: Bit) -> Bits<8> {
    let is_failed_slot = row.failed & (slot == row.failed_slot);
    if !is_flush_step {
        bits::<8>(SUCCESS)
    } else if is_failed_slot {
        row.failed_status
    } else {
        bits::<8>(WR_FLUSH_ERR)
    }
}

/// Returns the row that is written back. `queues`: a flushed queue pair needs another flush step.
#[hdl_fn]
pub fn written_row(op: Operation, row: QueueRow, queues: Bit) -> QueueRow {
    QueueRow {
        queued: if op.is_flush_step { queues } else { row.queued },
        ..row
    }
}
