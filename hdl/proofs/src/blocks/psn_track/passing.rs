//! A token in the pipeline, as the properties follow it.

use hdl_macros::hdl_fn;
use hdl_reorder_buf::psn_stages::Decision;
use hdl_reorder_buf::tracked::Tracked;
use hdl_reorder_buf::verdict::{accepts, moves_qp_to_error, Verdict};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{BufferSpan, DmaSegments, RcClass, TokenKind, TranslatedToken};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::TableSelect;
use stellar_wire::mtu::LENGTH_BITS;

/// What a token was when it entered.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Passing {
    pub valid: Bit,
    pub packet: Bit,
    pub fence: Bit,
    pub lane: Bit,
    /// A packet of the watched queue pair.
    pub watched: Bit,
    /// It writes the context of the watched queue pair.
    pub writes: Bit,
    /// A packet in which no check before this block found anything.
    pub clean: Bit,
    pub span: BufferSpan,
    pub offset: Bits<8>,
    pub length: Bits<LENGTH_BITS>,
    pub segments: DmaSegments,
    pub device: Bits<10>,
}

/// Returns whether an RC packet is neither a duplicate nor behind a gap.
#[hdl_fn]
fn is_expected(rc_class: RcClass) -> Bit {
    (rc_class != RcClass::Gap) & (rc_class != RcClass::GapAgain) & (rc_class != RcClass::Duplicate)
}

/// Returns what the token is for the properties.
#[hdl_fn]
pub fn entering(valid: Bit, token: TranslatedToken, watched: Bits<1>) -> Passing {
    let headers = token.token.headers;
    let table = token.token.table;
    let packet = token.token.kind == TokenKind::Packet;
    let in_order = headers.mrc | is_expected(token.rc_class);
    Passing {
        valid,
        packet,
        fence: token.token.kind == TokenKind::Fence,
        lane: token.token.lane,
        watched: packet & (headers.dest_qp.get_bits::<1>(0) == watched),
        writes: (token.token.kind == TokenKind::Table)
            & (table.select == TableSelect::Qp)
            & (table.index.get_bits::<1>(0) == watched)
            & !(table.index >> 1).any(),
        clean: packet
            & (headers.reason == DropReason::None)
            & (token.reason == DropReason::None)
            & (token.access_reason == DropReason::None)
            & in_order
            & !headers.probe,
        span: token.token.span,
        offset: headers.payload_offset,
        length: headers.payload_length,
        segments: token.segments,
        device: token.device,
    }
}

/// Returns whether a register of the block has that token.
#[hdl_fn]
pub fn has_token(valid: Bit, tracked: Tracked, was: Passing, watched: Bits<1>) -> Bit {
    let packet = tracked.kind == TokenKind::Packet;
    let of_watched = tracked.row.get_bits::<1>(0) == watched;
    let in_order = tracked.mrc | is_expected(tracked.rc_class);
    let clean = packet
        & !tracked.bad_frame
        & (tracked.reason == DropReason::None)
        & (tracked.access_reason == DropReason::None)
        & in_order
        & !tracked.probe;
    let same = (was.packet == packet)
        & (was.fence == (tracked.kind == TokenKind::Fence))
        & (was.lane == tracked.lane)
        & !(tracked.row >> 1).any()
        & (was.watched == (packet & of_watched))
        & (was.writes == (tracked.writes_qp & of_watched))
        & (was.clean == clean)
        & (was.span == tracked.span)
        & (was.offset == tracked.payload_offset)
        & (was.length == tracked.payload_length)
        & (was.segments == tracked.segments)
        & (was.device == tracked.device);
    (valid == was.valid) & (!valid | same)
}

/// Returns whether the register has that token, and accepts it only if it is clean and, as a packet of the watched queue pair, that is not in error.
#[hdl_fn]
pub fn has_decision(
    valid: Bit,
    decision: Decision,
    was: Passing,
    watched: Bits<1>,
    in_error: Bit,
) -> Bit {
    let accepted = accepts(decision.verdict);
    has_token(valid, decision.tracked, was, watched)
        & (!valid | was.packet | (decision.verdict == Verdict::NotAPacket))
        & (!valid | !accepted | (was.clean & !(was.watched & in_error)))
}

/// Returns whether the watched queue pair is in error behind a token.
#[hdl_fn]
pub fn error_after(was: Passing, decision: Decision, in_error: Bit) -> Bit {
    if was.valid & was.writes {
        false
    } else {
        in_error | (was.valid & was.watched & moves_qp_to_error(decision.verdict))
    }
}
