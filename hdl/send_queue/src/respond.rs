//! What an operation tells of the message that was read, and what it leaves with it.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{Message, MessageResponse};

use crate::message_step::{end, Effect};
use crate::operation::Operation;
use crate::records::{Decision, QueueRow, Reading, Started, Taken};

/// Returns the response with a message, or with none. `described`: the message that was read.
#[hdl_fn]
pub fn response_of(
    op: Operation,
    message: Reading,
    taken: Taken,
    described: Message,
) -> MessageResponse {
    MessageResponse {
        found: if op.is_next {
            taken.found
        } else if op.is_lookup_by_psn {
            !message.is_over
        } else {
            !op.is_complete | message.failed
        },
        waits: false,
        follows: op.is_next & message.at.next_present,
        last: false,
        packets_here: taken.here,
        nops: false,
        slot: message.slot,
        status: message.started.status,
        message: described,
    }
}

/// Returns the response of an operation that `decides` without a message, or of one that has read it. `last`: the operation ends. `nops`: NOPs have started.
#[hdl_fn]
pub fn with_decision(
    response: MessageResponse,
    decides: Bit,
    decision: Decision,
    last: Bit,
    nops: Bit,
) -> MessageResponse {
    MessageResponse {
        found: if decides {
            decision.found
        } else {
            response.found
        },
        waits: decides & decision.waits,
        last,
        nops,
        ..response
    }
}

/// `Access` of `LookupBySlot` and `Fault`: the message is there. No more messages start behind one that is at fault.
#[hdl_fn]
pub fn slot_effect(is_fault: Bit, row: QueueRow, stays: Effect) -> Effect {
    let mut after = row;
    after.stopped = row.stopped | is_fault;
    let mut ends = end(stays);
    ends.row = after;
    ends
}

/// Returns what a fault leaves of the message. The first reason counts.
#[hdl_fn]
pub fn after_fault(message: Reading, status: Bits<8>) -> Started {
    let mut faulty = message.started;
    faulty.status = if message.failed {
        message.started.status
    } else {
        status
    };
    faulty
}
