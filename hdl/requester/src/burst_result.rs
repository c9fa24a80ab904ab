//! What follows a burst.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;

use crate::records::{NextAction, OpResult, RequesterState};

/// Returns the result as long as no packet is known to be sent: messages complete. No logic.
#[hdl_fn]
pub fn burst_result(state: RequesterState, una: Psn) -> OpResult {
    OpResult {
        state,
        packet_sent: false,
        tried_again: false,
        next_action: NextAction::Completing,
        una,
        failed_slot_valid: false,
        slot: bits(0),
        status: bits(0),
    }
}

/// Returns what is next after a burst. If packets were sent (`any`), no message completes or fails, unless the burst has NOPs (`nops`). Levels: 1.
#[hdl_fn]
pub fn action_after(any: Bit, nops: Bit) -> NextAction {
    if any & !nops {
        NextAction::Nothing
    } else {
        NextAction::Complete
    }
}
