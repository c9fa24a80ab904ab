//! The end of an operation: what leaves.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::answer::finish_answer;
use crate::coalesce::with_pending_word;
use crate::completion::received;
use crate::records::{Committed, OperationKind, ReceiveState, UpdateReg};
use crate::update_state::fresh;

/// Commits an operation, which leaves the queue pair in `state`. Levels planned: 3 (choices).
#[hdl_fn]
pub fn commit(updated: UpdateReg, state: ReceiveState) -> Committed {
    let operation = updated.operation;
    let outcome = operation.outcome;
    let is_configure = operation.kind == OperationKind::Configure;
    let answer = if updated.sacks_pending {
        with_pending_word(updated.answer, updated.sacked)
    } else {
        updated.answer
    };
    let length = if updated.passes {
        outcome.dma_length
    } else {
        state.message_bytes
    };
    let msn = if updated.passes {
        bit_cast::<24, 16>(outcome.msn)
    } else {
        state.messages
    };
    let after = ReceiveState {
        messages: if updated.ends_message {
            state.messages + 1
        } else {
            state.messages
        },
        ..state
    };
    Committed {
        state: if is_configure {
            fresh(operation.settings)
        } else {
            after
        },
        answer: finish_answer(answer, updated.exceeded, state.out_of_order, state.bytes),
        answered: updated.answers,
        // If messages of the stash leave behind it, its completion has left before them.
        completed: (updated.delivers | (updated.passes & !updated.stashes)) & state.completions,
        completion: received(operation.qp, length, outcome.immediate, msn),
    }
}
