//! What follows a transmission without a burst.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::MessageResponse;
use stellar_wire::hw::Psn;

use crate::records::{NextAction, OpResult, RequesterState};

/// Returns the result, unless the queue pair fails, the operation is tried again, or messages complete. The probe of `state` is sent if `probes`. If the queue pair fails, the message that `messages` names
/// has caused it. Levels: 1.
#[hdl_fn]
pub fn select_result(
    state: RequesterState,
    probes: Bit,
    una: Psn,
    messages: MessageResponse,
) -> OpResult {
    OpResult {
        state: RequesterState {
            probe: state.probe & !probes,
            ..state
        },
        packet_sent: probes,
        tried_again: false,
        next_action: NextAction::Nothing,
        una,
        failed_slot_valid: true,
        slot: messages.slot,
        status: messages.status,
    }
}
