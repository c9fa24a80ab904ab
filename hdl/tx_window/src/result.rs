//! Result of an operation: the part of a response that is not in the row.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{
    PacketState, SackVerdict, SentPacket, WindowRequest, WindowResponse,
};
use stellar_wire::hw::Psn;
use stellar_wire::mtu::LENGTH_BITS;

use crate::row::{after_bytes_left_flight, WindowRow};
use crate::sack::SackSpan;
use crate::sent_memory::{LengthSum, SUM_BITS};

/// Returns an empty result.
#[hdl_fn]
pub fn blank(psn: Psn, sent: SentPacket) -> WindowResponse {
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
        verdict: SackVerdict::Accepted,
        answered: false,
        overtaken: false,
        packets: bits::<11>(0),
        bytes: bits::<24>(0),
        spurious: bits::<11>(0),
    }
}

/// Adds the position of the window.
#[hdl_fn]
pub fn with_row(result: WindowResponse, row: WindowRow) -> WindowResponse {
    WindowResponse {
        una: row.una,
        next_psn: row.next_psn,
        in_flight: row.in_flight,
        lost: row.lost,
        first_lost0: row.first_lost_0,
        first_lost1: row.first_lost_1,
        ..result
    }
}

/// Adds packets that were newly acknowledged.
#[hdl_fn]
pub fn with_sum(result: WindowResponse, sum: LengthSum) -> WindowResponse {
    let mut after = result;
    after.packets = result.packets + bit_cast::<11, 3>(sum.packets);
    after.bytes = result.bytes + bit_cast::<24, SUM_BITS>(sum.bytes);
    after.spurious = result.spurious + bit_cast::<11, 3>(sum.lost);
    after
}

/// Adds one packet that was newly acknowledged.
#[hdl_fn]
fn with_packet(result: WindowResponse, length: Bits<LENGTH_BITS>, lost: Bit) -> WindowResponse {
    let mut after = result;
    after.packets = result.packets + 1;
    after.bytes = result.bytes + bit_cast::<24, LENGTH_BITS>(length);
    after.spurious = if lost {
        result.spurious + 1
    } else {
        result.spurious
    };
    after
}

/// Returns whether an accepted SACK newly acknowledges its answered packet, which was received, whatever the bitmap says. 2 levels.
#[hdl_fn]
fn is_newly_acked(result: WindowResponse) -> Bit {
    (result.state == PacketState::InFlight) | (result.state == PacketState::Lost)
}

/// Returns whether a SACK or NACK that reflects `stamp` is about this transmission. A first transmission carries no time stamp, so every stamp matches. 4
/// levels.
#[hdl_fn]
pub fn stamp_matches(sent: SentPacket, stamp: Bits<16>) -> Bit {
    !sent.is_retransmit | (sent.at.get_bits::<16>(0) == stamp)
}

/// Adds what an accepted SACK says about its answered packet. 6 levels.
#[hdl_fn]
pub fn with_answered(
    result: WindowResponse,
    sack: WindowRequest,
    span: SackSpan,
    inside: Bit,
) -> WindowResponse {
    let counted = with_packet(
        result,
        result.sent.length,
        result.state == PacketState::Lost,
    );
    let mut after = if is_newly_acked(result) {
        counted
    } else {
        result
    };
    after.overtaken = span.overtaken;
    after.answered = inside & stamp_matches(result.sent, sack.stamp);
    after
}

/// Returns the row after the answered packet was processed: its bytes leave flight if it was in flight and is newly acknowledged. 6 levels and a carry chain.
#[hdl_fn]
pub fn after_answer(row: WindowRow, result: WindowResponse) -> WindowRow {
    let landed =
        after_bytes_left_flight(row, bit_cast::<SUM_BITS, LENGTH_BITS>(result.sent.length));
    if result.state == PacketState::InFlight {
        landed
    } else {
        row
    }
}
