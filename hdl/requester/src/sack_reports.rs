//! What a SACK tells the path policy and congestion control (reference: `MrcRequester::on_sack`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest};
use stellar_wire::hw::spray::{PathAckRecord, SprayFeedback, SprayOp, SprayRequest};
use stellar_wire::hw::window::SentPacket;
use stellar_wire::mtu::LENGTH_BITS;

use crate::records::Op;

/// A report about the path of a probe: that its answer came, or that it was marked.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ProbeReport {
    pub answered: Bit,
    pub marked: Bit,
    pub index: Bits<8>,
}

/// Returns the report to the path policy: about the path of a probe, otherwise that of the acknowledged packets. Levels: 1.
#[hdl_fn]
pub fn path_report(op: Op, ack: PathAckRecord, probe: ProbeReport) -> SprayRequest {
    SprayRequest {
        op: if probe.answered | probe.marked {
            SprayOp::Feedback
        } else {
            SprayOp::Ack
        },
        qp: op.qp,
        index: probe.index,
        feedback: if probe.answered {
            SprayFeedback::ProbeAnswered
        } else {
            SprayFeedback::Skip
        },
        ack,
        now: op.now,
        ..SprayRequest::default()
    }
}

/// Returns the report to congestion control: what the SACK acknowledges, or with `loses` that a packet is lost. Levels: 1.
#[hdl_fn]
pub fn congestion_report(
    op: Op,
    acknowledgement: NsccRequest,
    loses: Bit,
    lost: SentPacket,
) -> NsccRequest {
    let mut report = acknowledgement;
    report.op = if loses { NsccOp::Loss } else { NsccOp::Ack };
    report.qp = op.qp;
    report.now = op.now;
    report.penalty = op.control.cc_state.rcv_cwnd_pen;
    report.bytes = if loses {
        bit_cast::<24, LENGTH_BITS>(lost.length)
    } else {
        acknowledgement.bytes
    };
    report
}
