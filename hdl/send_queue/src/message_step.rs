//! Steps of an operation of the message table, and what a step does.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::SqIndex;

use crate::operation::Operation;
use crate::records::{AskKind, Place, QueueRow};

/// What the unit does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    /// Clears the rows, one per cycle.
    Clear,
    /// Accepts a request or starts a flush step, and reads the row.
    Idle,
    /// Evaluates the row, and addresses the first message.
    LookUp,
    /// Follows the link to the next block.
    Walk,
    /// The message is being read. An operation that needs none ends.
    Wait,
    /// The message has been read: decides, and addresses the next one.
    Access,
    /// `LookupByPsn`: addresses the middle of the remaining messages.
    Bisect,
}

/// What a step does.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Effect {
    /// The next step. The operation ends.
    pub step: Step,
    pub ends: Bit,
    /// Next contents of the row, unless the message completes.
    pub row: QueueRow,
    /// The queue pair needs a flush step.
    pub queues: Bit,
    /// The prefetch is asked for something of this kind, with a slot.
    pub asks: Bit,
    pub ask_kind: AskKind,
    pub ask_slot: SqIndex,
    /// The message to decide on next, unless the operation goes on with the one behind this one in the next cycle.
    pub to: Place,
    /// Its block is the one behind that of before, in place of `to.block`.
    pub followed: Bit,
}

/// Returns the effect of a step that changes nothing. `here`: the message of before.
#[hdl_fn]
pub fn stay(step: Step, row: QueueRow, here: Place, next_slot: SqIndex) -> Effect {
    Effect {
        step,
        row,
        ask_kind: AskKind::Rings,
        ask_slot: next_slot,
        to: here,
        ..Effect::default()
    }
}

/// Returns the effect of a step at which the operation ends.
#[hdl_fn]
pub fn end(stays: Effect) -> Effect {
    Effect {
        step: Step::Idle,
        ends: true,
        ..stays
    }
}

/// `Idle`: begins an operation, or tells the prefetch how far entries were taken (`tells`). If that is busy, it hears of it at the end of another operation, or when an entry is missed.
#[hdl_fn]
pub fn idle_effect(begins: Bit, tells: Bit, row: QueueRow, stays: Effect) -> Effect {
    Effect {
        step: if begins { Step::LookUp } else { stays.step },
        asks: tells,
        ask_kind: AskKind::Takes,
        ask_slot: row.next_slot,
        ..stays
    }
}

/// `Access`: what the operation does with the message that was read. `by_slot`: `LookupBySlot`, `Fault`.
#[hdl_fn]
pub fn access_effect(
    op: Operation,
    take: Effect,
    pop: Effect,
    search: Effect,
    by_slot: Effect,
) -> Effect {
    if op.is_next {
        take
    } else if op.is_complete | op.is_flush_step {
        pop
    } else if op.is_lookup_by_psn {
        search
    } else {
        by_slot
    }
}
