//! Which flow executes an operation.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::rc_turn::has_paths;
use crate::records::{Op, OpKind};

/// The flow that executes an operation. None executes a wake-up, and one that is ignored.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct OpRoute {
    pub to_transmit: Bit,
    pub to_sack: Bit,
    pub to_loss: Bit,
    pub to_rc: Bit,
    pub to_admin: Bit,
    pub is_wake: Bit,
    /// It is a SACK, a NACK, an acknowledgement or a timer: the queue pair is scheduled afterwards.
    pub is_event: Bit,
    /// It changes nothing.
    pub ignored: Bit,
}

/// The flow whose requests the functional units get: the administrative one if no other is named.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ActiveFlow {
    pub transmit: Bit,
    pub sack: Bit,
    pub loss: Bit,
}

/// Selects the flow. A Transport ACK is an operation of the kind `Nack`. A queue pair ignores acknowledgements of the other transport. In the error state it ignores all of them; its message table still accepts doorbells, to flush their entries. A queue pair
/// of RC with paths also gets answers to its probes. Levels: 4.
#[hdl_fn]
pub fn op_route(op: Op) -> OpRoute {
    let rc = op.settings.rc;
    let is_transmit = op.kind == OpKind::Transmit;
    let is_wake = op.kind == OpKind::Wake;
    let is_timer = op.kind == OpKind::Timer;
    let is_ack = op.kind == OpKind::Ack;
    let is_sack = op.kind == OpKind::Sack;
    let is_nack = op.kind == OpKind::Nack;
    let is_event = is_ack | is_sack | is_nack | is_timer;
    let answers_probe = is_sack & has_paths(op.settings) & op.control.seth.probe_response;
    let to_sack = is_sack & !rc;
    let to_loss = (is_nack | is_timer) & !rc;
    let to_rc = (is_ack | is_timer | answers_probe) & rc;
    let accepted = to_sack | to_loss | to_rc;
    OpRoute {
        to_transmit: is_transmit,
        to_sack,
        to_loss,
        to_rc,
        to_admin: !(is_transmit | is_event | is_wake),
        is_wake,
        is_event,
        ignored: (is_event & !accepted) | (op.state.failed & (is_event | is_wake)),
    }
}
