//! What `LossFlow` asks the functional units. Whether a request is issued comes later in the cycle.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest};
use stellar_wire::hw::spray::{SprayFeedback, SprayOp, SprayRequest};
use stellar_wire::hw::window::{SentPacket, WindowOp, WindowRequest};
use stellar_wire::hw::Psn;
use stellar_wire::mtu::LENGTH_BITS;

use crate::loss_step::LossStep;
use crate::nack_verdict::named_psn;
use crate::records::{Op, OpKind};

/// A path for a probe that the spray engine is asked for.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ProbePath {
    /// One is asked for.
    pub chooses: Bit,
    pub plane: Bit,
    /// Another path than that of the packet.
    pub avoids_last: Bit,
}

/// Returns the request for a path, or the feedback on the path of the packet `sent`, which is lost. Levels: 1.
#[hdl_fn]
pub fn path_request(
    op: Op,
    path: ProbePath,
    sent: SentPacket,
    feedback: SprayFeedback,
) -> SprayRequest {
    SprayRequest {
        op: if path.chooses {
            SprayOp::Choose
        } else {
            SprayOp::Feedback
        },
        qp: op.qp,
        plane: path.plane,
        count: bits::<6>(1),
        avoid_valid: path.avoids_last,
        avoid: sent.ev,
        index: sent.ev,
        feedback,
        now: op.now,
        ..SprayRequest::default()
    }
}

/// Returns the report to congestion control that the packet `sent` is lost. No logic.
#[hdl_fn]
pub fn loss_report(op: Op, sent: SentPacket) -> NsccRequest {
    NsccRequest {
        op: NsccOp::Loss,
        qp: op.qp,
        now: op.now,
        bytes: bit_cast::<24, LENGTH_BITS>(sent.length),
        ..NsccRequest::default()
    }
}

/// Returns the request to the transmit window: the packet that a NACK names, or the position of the window; the next packet in flight `from` a PSN on; or that `psn` is lost. `MarkLost` stores `retries` in the
/// record of the packet. Levels: 2.
#[hdl_fn]
pub fn packet_request(
    step: LossStep,
    op: Op,
    from: Psn,
    psn: Psn,
    sent: SentPacket,
    retries: Bits<8>,
) -> WindowRequest {
    WindowRequest {
        op: match step {
            LossStep::Idle => {
                if op.kind == OpKind::Timer {
                    WindowOp::Query
                } else {
                    WindowOp::Read
                }
            }
            LossStep::FindInFlight => WindowOp::NextInFlight,
            _ => WindowOp::MarkLost,
        },
        qp: op.qp,
        psn: match step {
            LossStep::Idle => named_psn(op.control),
            LossStep::FindInFlight => from,
            _ => psn,
        },
        sent: SentPacket { retries, ..sent },
        ..WindowRequest::default()
    }
}

/// Returns how often the packet has timed out, 255 times at most. Levels: a carry chain and 1.
#[hdl_fn]
pub fn retries_after(sent: SentPacket, timed_out: Bit) -> Bits<8> {
    if timed_out & !sent.retries.all() {
        sent.retries + 1
    } else {
        sent.retries
    }
}
