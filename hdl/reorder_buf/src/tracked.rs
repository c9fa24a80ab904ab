//! The fields of a token that `psn_track` uses.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{BufferSpan, DmaSegments, RcClass, TokenKind, TranslatedToken};
use stellar_wire::hw::frame::{DropReason, Position};
use stellar_wire::hw::tables::QpState;
use stellar_wire::hw::{Psn, Qpn};
use stellar_wire::mtu::LENGTH_BITS;

use crate::token_kind::{is_packet, row_of, writes_qp};
use crate::verdict::is_reason;
use crate::window_row::ring_word;

/// The fields of a token that matter to the window and to the acknowledgement.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Tracked {
    pub kind: TokenKind,
    pub lane: Bit,
    pub writes_qp: Bit,
    /// The context that is written makes the queue pair ready to receive.
    pub starts_qp: Bit,
    /// Queue pair.
    pub row: Qpn,
    pub initial_psn: Psn,
    pub mrc: Bit,
    pub probe: Bit,
    pub psn: Psn,
    pub ack_req: Bit,
    pub position: Position,
    /// The parser found a reason. The packet is dropped silently, even if `rc_track` gives the same reason to other packets with an acknowledgement.
    pub bad_frame: Bit,
    pub reason: DropReason,
    pub access_reason: DropReason,
    pub rc_class: RcClass,
    pub rc_epsn: Psn,
    pub rc_msn: Bits<24>,
    pub ecn_ce: Bit,
    pub entropy: Bits<32>,
    pub has_timestamp: Bit,
    pub timestamp: Bits<16>,
    pub has_immediate: Bit,
    pub immediate: Bits<32>,
    /// METH; in a probe, `msn` is its identifier.
    pub msn: Bits<16>,
    pub rqmsn: Bits<16>,
    pub dma_length: Bits<32>,
    pub span: BufferSpan,
    pub payload_offset: Bits<8>,
    pub payload_length: Bits<LENGTH_BITS>,
    pub segments: DmaSegments,
    pub device: Bits<10>,
}

/// Selects the fields from a token.
#[hdl_fn]
pub fn tracked<const Q: usize>(token: TranslatedToken) -> Tracked {
    let headers = token.token.headers;
    Tracked {
        kind: token.token.kind,
        lane: token.token.lane,
        writes_qp: writes_qp::<Q>(token.token),
        starts_qp: writes_qp::<Q>(token.token) & (token.qp.state == QpState::Ready),
        row: row_of::<Q>(token.token),
        initial_psn: token.qp.initial_psn,
        mrc: headers.mrc,
        probe: headers.probe & is_packet(token.token.kind),
        psn: headers.psn,
        ack_req: headers.ack_req,
        position: headers.position,
        bad_frame: is_reason(headers.reason),
        reason: token.reason,
        access_reason: token.access_reason,
        rc_class: token.rc_class,
        rc_epsn: token.rc_epsn,
        rc_msn: token.rc_msn,
        ecn_ce: headers.ecn_ce,
        entropy: headers.entropy,
        has_timestamp: headers.has_timestamp,
        timestamp: headers.timestamp,
        has_immediate: headers.has_immediate,
        immediate: headers.immediate,
        msn: headers.msn,
        rqmsn: headers.rqmsn,
        dma_length: headers.dma_length,
        span: token.token.span,
        payload_offset: headers.payload_offset,
        payload_length: headers.payload_length,
        segments: token.segments,
        device: token.device,
    }
}

/// Whether the token is a packet of that queue pair.
#[hdl_fn]
pub fn is_packet_of(token: Tracked, row: Qpn) -> Bit {
    is_packet(token.kind) & (token.row == row)
}

/// Whether a token belongs to this queue pair, and its PSN to this word of the ring. Levels: 3.
#[hdl_fn]
pub fn is_at<const RING_BITS: usize>(token: Tracked, row: Qpn, word: Bits<RING_BITS>) -> Bit {
    (token.row == row) & (ring_word::<RING_BITS>(token.psn) == word)
}
