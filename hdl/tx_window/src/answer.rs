//! The part of a response that is not in the row: what an operation found out.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{
    PacketState, SackVerdict, SentPacket, WindowRequest, WindowResponse,
};
use stellar_wire::mtu::LENGTH_BITS;

use crate::row::{after_landing, WindowRow};
use crate::sack::{bitmap_answers, SackSpan};
use crate::sent_memory::{LengthSum, SUM_BITS};

/// Nothing yet.
#[hdl_fn]
pub fn blank(psn: Bits<24>, sent: SentPacket) -> WindowResponse {
    WindowResponse {
        una: bits::<24>(0),
        next_psn: bits::<24>(0),
        in_flight: bits::<24>(0),
        lost: bits::<2>(0),
        first_lost0: bits::<24>(0),
        first_lost1: bits::<24>(0),
        psn,
        found: false,
        state: PacketState::Free,
        sent,
        verdict: SackVerdict::Taken,
        answered: false,
        overtaken: false,
        packets: bits::<11>(0),
        bytes: bits::<24>(0),
        spurious: bits::<11>(0),
    }
}

/// With where the window stands.
#[hdl_fn]
pub fn with_row(answer: WindowResponse, row: WindowRow) -> WindowResponse {
    WindowResponse {
        una: row.una,
        next_psn: row.next_psn,
        in_flight: row.in_flight,
        lost: row.lost,
        first_lost0: row.first_lost_0,
        first_lost1: row.first_lost_1,
        ..answer
    }
}

/// With more packets acknowledged.
#[hdl_fn]
pub fn with_sum(answer: WindowResponse, sum: LengthSum) -> WindowResponse {
    let mut after = answer;
    after.packets = answer.packets + bit_cast::<11, 3>(sum.packets);
    after.bytes = answer.bytes + bit_cast::<24, SUM_BITS>(sum.bytes);
    after.spurious = answer.spurious + bit_cast::<11, 3>(sum.lost);
    after
}

/// With one more packet acknowledged.
#[hdl_fn]
fn with_packet(answer: WindowResponse, length: Bits<LENGTH_BITS>, lost: Bit) -> WindowResponse {
    let mut after = answer;
    after.packets = answer.packets + 1;
    after.bytes = answer.bytes + bit_cast::<24, LENGTH_BITS>(length);
    after.spurious = if lost {
        answer.spurious + 1
    } else {
        answer.spurious
    };
    after
}

/// A SACK that is taken acknowledges the packet it answers for the first time. 5 levels.
#[hdl_fn]
fn answer_is_news(answer: WindowResponse, span: SackSpan, bitmap: Bits<64>) -> Bit {
    let unacknowledged =
        (answer.state == PacketState::InFlight) | (answer.state == PacketState::Lost);
    (span.covered | bitmap_answers(span, bitmap)) & unacknowledged
}

/// Whether an answer that reflects `stamp` is about this transmission: a packet sent once carried none. 4 levels.
#[hdl_fn]
pub fn is_answered_by(sent: SentPacket, stamp: Bits<16>) -> Bit {
    !sent.again | (sent.at.get_bits::<16>(0) == stamp)
}

/// What a SACK that is taken says of the packet it answers. 6 levels.
#[hdl_fn]
pub fn with_answered(
    answer: WindowResponse,
    sack: WindowRequest,
    span: SackSpan,
    inside: Bit,
) -> WindowResponse {
    let counted = with_packet(
        answer,
        answer.sent.length,
        answer.state == PacketState::Lost,
    );
    let mut after = if answer_is_news(answer, span, sack.bitmap) {
        counted
    } else {
        answer
    };
    after.overtaken = span.overtaken;
    after.answered = inside & is_answered_by(answer.sent, sack.stamp);
    after
}

/// The row after the answered packet, if it was in flight and is acknowledged for the first time. 6 levels and a carry chain.
#[hdl_fn]
pub fn after_answer(
    row: WindowRow,
    answer: WindowResponse,
    span: SackSpan,
    bitmap: Bits<64>,
) -> WindowRow {
    let landed = after_landing(row, bit_cast::<SUM_BITS, LENGTH_BITS>(answer.sent.length));
    if answer_is_news(answer, span, bitmap) & (answer.state == PacketState::InFlight) {
        landed
    } else {
        row
    }
}
