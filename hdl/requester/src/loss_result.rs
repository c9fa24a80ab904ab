//! What follows a NACK or an expired timer.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::requester::ControlPacket;
use stellar_wire::hw::window::SentPacket;

use crate::nack_verdict::refusal_of;
use crate::records::{NextAction, OpResult, RequesterState};

/// Returns the result. If the queue pair `fails`, the message of the packet `sent` has caused it: the peer `refused` the packet by `control`, or no retry is left. Levels: 3.
#[hdl_fn]
pub fn loss_result(
    state: RequesterState,
    sent: SentPacket,
    control: ControlPacket,
    refused: Bit,
    fails: Bit,
) -> OpResult {
    OpResult {
        state,
        packet_sent: false,
        tried_again: false,
        next_action: if fails {
            NextAction::Fail
        } else {
            NextAction::Nothing
        },
        una: bits(0),
        failed_slot_valid: true,
        slot: sent.slot,
        status: if refused {
            refusal_of(control)
        } else {
            bits::<8>(WcStatus::RetryExcErr.code() as u64)
        },
    }
}
