//! What `BurstFlow` asks the functional units beside the requests of the burst itself. Whether a request is issued comes later in the cycle.

use hdl_macros::hdl_fn;
use stellar_wire::hw::messages::{MessageOp, MessageRequest};
use stellar_wire::hw::window::{SentPacket, WindowOp, WindowRequest};
use stellar_wire::hw::Psn;

use crate::records::Op;

/// Returns the request to store `sent` as the record of the packet `psn`, which has been sent again. No logic.
#[hdl_fn]
pub fn resent_request(op: Op, psn: Psn, sent: SentPacket) -> WindowRequest {
    WindowRequest {
        op: WindowOp::MarkRetransmitted,
        qp: op.qp,
        psn,
        sent,
        ..WindowRequest::default()
    }
}

/// Returns the request to complete the messages before `una`, which `SackFlow` makes, too. No logic.
#[hdl_fn]
pub fn completion_request(op: Op, una: Psn) -> MessageRequest {
    MessageRequest {
        op: MessageOp::Complete,
        qp: op.qp,
        psn: una,
        ..MessageRequest::default()
    }
}
