//! The end of an operation: the counter of WRITEs with immediate, and what leaves.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::account::fresh;
use crate::answer::finish_answer;
use crate::coalesce::tell;
use crate::completion::received;
use crate::records::{Accounted, OperationKind, ReceiveState, Settled};

/// Settles an operation; `whole`: a message in the stash became whole with it (reference: `ImmCounter`). Levels planned: 5 (sum, 32-bit equality 3,
/// choice).
#[hdl_fn]
pub fn settle(accounted: Accounted, whole: Bit) -> Settled {
    let operation = accounted.operation;
    let state = accounted.state;
    let is_configure = operation.kind == OperationKind::Configure;
    let is_arm = operation.kind == OperationKind::Arm;
    let counts = accounted.delivers | whole;
    let count = if counts { state.count + 1 } else { state.count };
    let sought = if is_arm {
        operation.threshold
    } else {
        state.threshold
    };
    let answer = if accounted.tells_pending {
        tell(accounted.answer, accounted.told)
    } else {
        accounted.answer
    };
    let reached = (count == sought) & (is_arm | (counts & state.armed));
    let after = ReceiveState {
        messages: if accounted.ends_message {
            state.messages + 1
        } else {
            state.messages
        },
        count,
        armed: !reached & (is_arm | state.armed),
        threshold: sought,
        ..state
    };
    Settled {
        state: if is_configure {
            fresh(operation.settings)
        } else {
            after
        },
        answer: finish_answer(answer, accounted.exceeded, state.out_of_order, state.bytes),
        answered: accounted.answers,
        completed: accounted.delivers & state.completions,
        completion: received(
            operation.qp,
            state.message_bytes,
            operation.outcome.immediate,
            state.messages,
        ),
        reached,
    }
}
