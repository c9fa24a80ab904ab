//! What a SACK tells the path policy and congestion control (reference: `MrcRequester::on_sack`).

use hdl_congestion::saturated_rtt;
use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest};
use stellar_wire::hw::spray::{PathAckRecord, SprayFeedback, SprayOp, SprayRequest};
use stellar_wire::hw::window::SentPacket;
use stellar_wire::mtu::LENGTH_BITS;

use crate::applied_sack::AppliedSack;
use crate::records::Op;
use crate::sack_fields::path_hint;

/// A report about the path of a probe: that its answer came, or that it was marked.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ProbeReport {
    pub answered: Bit,
    pub marked: Bit,
    pub index: Bits<8>,
}

/// Returns the report to the path policy: about the path of a probe, otherwise that of the acknowledged packets. `flight_time`: the time since a probe was sent. Levels: 3.
#[hdl_fn]
pub fn path_report(
    op: Op,
    sack: AppliedSack,
    probe: ProbeReport,
    flight_time: Bits<16>,
) -> SprayRequest {
    let round_trip = if op.control.seth.probe_response {
        flight_time
    } else {
        saturated_rtt(sack.age)
    };
    let ack = PathAckRecord {
        entropy: op.control.reflected,
        hint: path_hint(op.control.seth),
        sampled: sack.answered,
        round_trip,
        packets: sack.packets,
        una: sack.una,
        next_psn: sack.next_psn,
        in_flight: sack.in_flight,
    };
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

/// Returns the report to congestion control: what the SACK acknowledges, or with `loses` that the packet `lost` is lost. Levels: 1.
#[hdl_fn]
pub fn congestion_report(op: Op, sack: AppliedSack, loses: Bit, lost: SentPacket) -> NsccRequest {
    NsccRequest {
        op: if loses { NsccOp::Loss } else { NsccOp::Ack },
        qp: op.qp,
        now: op.now,
        sample: sack.sample,
        bytes: if loses {
            bit_cast::<24, LENGTH_BITS>(lost.length)
        } else {
            sack.bytes
        },
        rtt_valid: sack.answered,
        rtt: sack.rtt,
        ecn: path_hint(op.control.seth) == SprayFeedback::Skip,
        in_flight: sack.in_flight,
        penalty: op.control.cc_state.rcv_cwnd_pen,
        ..NsccRequest::default()
    }
}
