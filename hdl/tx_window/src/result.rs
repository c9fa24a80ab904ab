//! Result of an operation: the part of a response that is not in the row.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{
    PacketState, SackVerdict, SentPacket, WindowOp, WindowRequest, WindowResponse,
};
use stellar_wire::hw::Psn;

use crate::row::WindowRow;
use crate::sack::{check_sack, SackSpan};
use crate::sent_memory::{LengthSum, SUM_BITS};
use crate::step::Step;
use crate::visit::VisitEnd;

/// Returns an empty result.
#[hdl_fn]
pub fn blank(psn: Psn, sent: SentPacket) -> WindowResponse {
    WindowResponse {
        una: bits::<24>(0),
        next_psn: bits::<24>(0),
        in_flight: bits::<24>(0),
        room: bits::<6>(0),
        is_empty: false,
        lost: bits::<2>(0),
        first_lost0: bits::<24>(0),
        first_lost1: bits::<24>(0),
        psn,
        found: false,
        state: PacketState::Free,
        sent,
        verdict: SackVerdict::Accepted,
        answered: false,
        departed: bits::<32>(0),
        overtaken: false,
        packets: bits::<13>(0),
        bytes: bits::<24>(0),
        spurious: bits::<13>(0),
    }
}

/// Adds the position of the window, the packets that it may add, and whether it was empty before the operation.
#[hdl_fn]
pub fn with_row(
    result: WindowResponse,
    row: WindowRow,
    room: Bits<6>,
    was_empty: Bit,
) -> WindowResponse {
    WindowResponse {
        una: row.una,
        next_psn: row.next_psn,
        in_flight: row.in_flight,
        room,
        is_empty: was_empty,
        lost: row.lost,
        first_lost0: row.first_lost_0,
        first_lost1: row.first_lost_1,
        ..result
    }
}

/// Adds the record that comes while the operation responds, unless it is that of a SACK's answered packet, or of a packet that is lost.
#[hdl_fn]
pub fn with_record(
    result: WindowResponse,
    asked: WindowRequest,
    finding: Finding,
) -> WindowResponse {
    let tells =
        finding.record_comes & (asked.op != WindowOp::Sack) & (asked.op != WindowOp::MarkLost);
    WindowResponse {
        sent: if tells { finding.record } else { result.sent },
        ..result
    }
}

/// Adds packets that were newly acknowledged.
#[hdl_fn]
pub fn with_sum(result: WindowResponse, sum: LengthSum) -> WindowResponse {
    let mut after = result;
    after.packets = result.packets + bit_cast::<13, 3>(sum.packets);
    after.bytes = result.bytes + bit_cast::<24, SUM_BITS>(sum.bytes);
    after.spurious = result.spurious + bit_cast::<13, 3>(sum.lost);
    after
}

/// Returns whether an accepted SACK newly acknowledges its answered packet, which was received, whatever the bitmap says. 2 levels.
#[hdl_fn]
pub fn is_newly_acked(state: PacketState) -> Bit {
    (state == PacketState::InFlight) | (state == PacketState::Lost)
}

/// Returns whether a SACK or NACK that reflects `stamp` is about this transmission. A first transmission carries no time stamp, so every stamp matches. 4
/// levels.
#[hdl_fn]
pub fn stamp_matches(sent: SentPacket, stamp: Bits<16>) -> Bit {
    !sent.is_retransmit | (sent.at.get_bits::<16>(0) == stamp)
}

/// What a step finds for the result, beside the visit of a block.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Finding {
    /// The block that has been read has the requested packet, or the answered one; the packet's state.
    pub found_there: Bit,
    pub answers_there: Bit,
    pub state: PacketState,
    /// A record comes.
    pub record_comes: Bit,
    pub record: SentPacket,
    /// When its packet departed.
    pub departed: Bits<32>,
    /// The answered packet is in the window; the SACK is accepted, and there is something that it may acknowledge.
    pub inside: Bit,
    pub taken: Bit,
}

/// Returns the result after a step other than `Fetch`.
#[hdl_fn]
pub fn result_after(
    result: WindowResponse,
    step: Step,
    asked: WindowRequest,
    span: SackSpan,
    finding: Finding,
    end: VisitEnd,
) -> WindowResponse {
    let is_sack = asked.op == WindowOp::Sack;
    let checks = step == Step::CheckSack;
    let visits = step == Step::Visit;
    let answers = finding.record_comes & is_sack;
    let loses = finding.record_comes & (step == Step::ReadRecord);
    let is_next = asked.op == WindowOp::NextInFlight;
    let finds = end.advances & is_next;
    let is_resent = asked.op == WindowOp::MarkRetransmitted;
    let state_known = finding.answers_there | (finding.found_there & !is_resent & !is_next);
    let mut after = result;
    after.verdict = if checks {
        check_sack(span, asked.bitmap)
    } else {
        result.verdict
    };
    after.overtaken = if visits & is_sack {
        span.overtaken & (result.verdict == SackVerdict::Accepted)
    } else {
        result.overtaken
    };
    after.state = if state_known {
        finding.state
    } else {
        result.state
    };
    after.sent = if answers | loses {
        finding.record
    } else {
        result.sent
    };
    // The timer has counted them.
    after.sent.retries = if loses {
        asked.sent.retries
    } else {
        after.sent.retries
    };
    after.answered = if answers {
        finding.inside & finding.taken & stamp_matches(finding.record, asked.stamp)
    } else {
        result.answered
    };
    after.departed = if answers {
        finding.departed
    } else {
        result.departed
    };
    after.found = if finds { end.any_wanted } else { result.found };
    after.psn = if finds { end.first_wanted } else { result.psn };
    after
}
