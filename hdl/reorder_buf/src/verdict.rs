//! The final decision about a token, in the order of `docs/rx_lane.md`, section `psn_track`.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::ack::AckKind;
use stellar_wire::hw::core::{RcClass, TokenKind};
use stellar_wire::hw::frame::DropReason;

/// The verdict on a token.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Verdict {
    /// A table write or a fence: there is no packet.
    NotAPacket,
    /// Bad frame, or a packet that the queue pair does not accept: dropped without acknowledgement.
    Refused,
    /// The queue pair is in error: dropped without acknowledgement.
    InError,
    RcAccepted,
    /// First packet after a gap: NAK sequence error.
    RcGap,
    RcGapAgain,
    RcDuplicate,
    /// Opcode, sequence of opcodes or length: NAK invalid request, queue pair to error.
    RcInvalid,
    /// Region or page check: NAK remote access error, queue pair to error.
    RcAccess,
    MrcAccepted,
    MrcDuplicate,
    /// NACK PSN outside window.
    MrcOutside,
    /// Length, region or page check: NACK unexpected event, queue pair to error.
    MrcInvalid,
    /// A page has no translation yet: the packet counts as lost.
    MrcAbsent,
    /// Probe: SACK of the current window.
    Probe,
}

/// AETH syndrome of an ACK with unlimited credits (IBTA volume 1, 9.7.5.1.2).
const ACK_UNLIMITED: u64 = 0x1F;
/// AETH syndromes of NAKs.
const NAK_SEQUENCE: u64 = 0x60;
const NAK_INVALID_REQUEST: u64 = 0x61;
const NAK_REMOTE_ACCESS: u64 = 0x62;
/// NETH reasons (MRC).
const NACK_OUTSIDE_WINDOW: u64 = 11;
const NACK_UNEXPECTED_EVENT: u64 = 25;

/// Whether a reason found before this block concerns the frame or the queue pair's static context. Such a packet cannot
/// change the connection. The other reasons come from `rc_track`; if the parser found one of those, the frame is bad.
#[hdl_fn]
pub fn drops_silently(reason: DropReason) -> Bit {
    (reason != DropReason::None)
        & (reason != DropReason::BadPayloadLength)
        & (reason != DropReason::BadSequence)
        & (reason != DropReason::UnsupportedOpcode)
}

/// Whether there is a reason at all.
#[hdl_fn]
pub fn is_reason(reason: DropReason) -> Bit {
    reason != DropReason::None
}

/// Decision about an RC packet. `invalid`: `rc_track` found a reason; `no_access`: region or page checks did.
#[hdl_fn]
pub fn judge_rc(rc_class: RcClass, invalid: Bit, no_access: Bit) -> Verdict {
    match rc_class {
        RcClass::Gap => Verdict::RcGap,
        RcClass::GapAgain => Verdict::RcGapAgain,
        RcClass::Duplicate => Verdict::RcDuplicate,
        _ => {
            if invalid {
                Verdict::RcInvalid
            } else if no_access {
                Verdict::RcAccess
            } else {
                Verdict::RcAccepted
            }
        }
    }
}

/// Decision about an MRC packet. `received`: it came before; `outside`: ahead of the window; `access`: what region and page checks found.
#[hdl_fn]
pub fn judge_mrc(received: Bit, outside: Bit, invalid: Bit, access: DropReason) -> Verdict {
    if received {
        Verdict::MrcDuplicate
    } else if outside {
        Verdict::MrcOutside
    } else if invalid {
        Verdict::MrcInvalid
    } else if access == DropReason::PageAbsent {
        Verdict::MrcAbsent
    } else if access != DropReason::None {
        Verdict::MrcInvalid
    } else {
        Verdict::MrcAccepted
    }
}

/// Decision about any token. `silent`: the frame or the queue pair's context refuses it; `error`: the queue pair is in error; `own`: the decision otherwise.
#[hdl_fn]
pub fn judge_token(kind: TokenKind, silent: Bit, error: Bit, own: Verdict) -> Verdict {
    if kind != TokenKind::Packet {
        Verdict::NotAPacket
    } else if silent {
        Verdict::Refused
    } else if error {
        Verdict::InError
    } else {
        own
    }
}

/// Whether the packet is placed.
#[hdl_fn]
pub fn accepts(verdict: Verdict) -> Bit {
    (verdict == Verdict::RcAccepted) | (verdict == Verdict::MrcAccepted)
}

/// Whether the queue pair moves to the error state.
#[hdl_fn]
pub fn moves_qp_to_error(verdict: Verdict) -> Bit {
    (verdict == Verdict::RcInvalid)
        | (verdict == Verdict::RcAccess)
        | (verdict == Verdict::MrcInvalid)
}

/// The reason that is counted. `earlier`: found before the region checks; `access`: found by them.
#[hdl_fn]
pub fn counted_reason(verdict: Verdict, earlier: DropReason, access: DropReason) -> DropReason {
    let first = if earlier == DropReason::None {
        access
    } else {
        earlier
    };
    match verdict {
        Verdict::NotAPacket | Verdict::RcAccepted | Verdict::MrcAccepted => DropReason::None,
        Verdict::InError => DropReason::WrongState,
        Verdict::Probe => DropReason::Control,
        Verdict::RcGap | Verdict::RcGapAgain => DropReason::PsnGap,
        Verdict::RcDuplicate | Verdict::MrcDuplicate => DropReason::Duplicate,
        Verdict::MrcOutside => DropReason::PsnOutsideWindow,
        Verdict::RcAccess | Verdict::MrcAbsent => access,
        Verdict::Refused | Verdict::RcInvalid => earlier,
        Verdict::MrcInvalid => first,
    }
}

/// What is counted for the queue pair, beside the reason: a packet that is accepted, answered, or taken for lost.
#[hdl_fn]
pub fn concerns_qp(verdict: Verdict) -> Bit {
    (verdict != Verdict::NotAPacket) & (verdict != Verdict::Refused) & (verdict != Verdict::InError)
}

/// Whether the queue pair exists, and its static context refuses the packet.
#[hdl_fn]
pub fn refused_by_context(reason: DropReason) -> Bit {
    (reason == DropReason::WrongMode) | (reason == DropReason::BadPkey)
}

/// Whether the packet is acknowledged. An accepted RC packet is acknowledged if it requests that.
#[hdl_fn]
pub fn answers(verdict: Verdict, ack_req: Bit) -> Bit {
    match verdict {
        Verdict::NotAPacket
        | Verdict::Refused
        | Verdict::InError
        | Verdict::RcGapAgain
        | Verdict::MrcAbsent => false,
        Verdict::RcAccepted => ack_req,
        _ => true,
    }
}

/// Kind of the acknowledgement.
#[hdl_fn]
pub fn answer_kind(verdict: Verdict) -> AckKind {
    match verdict {
        Verdict::RcGap | Verdict::RcInvalid | Verdict::RcAccess => AckKind::Nak,
        Verdict::MrcAccepted | Verdict::MrcDuplicate | Verdict::Probe => AckKind::Sack,
        Verdict::MrcOutside | Verdict::MrcInvalid => AckKind::Nack,
        _ => AckKind::Ack,
    }
}

/// AETH syndrome or NETH reason of the acknowledgement, 0 in a SACK.
#[hdl_fn]
pub fn answer_syndrome(verdict: Verdict) -> Bits<8> {
    match verdict {
        Verdict::RcGap => bits::<8>(NAK_SEQUENCE),
        Verdict::RcInvalid => bits::<8>(NAK_INVALID_REQUEST),
        Verdict::RcAccess => bits::<8>(NAK_REMOTE_ACCESS),
        Verdict::MrcAccepted | Verdict::MrcDuplicate | Verdict::Probe => bits::<8>(0),
        Verdict::MrcOutside => bits::<8>(NACK_OUTSIDE_WINDOW),
        Verdict::MrcInvalid => bits::<8>(NACK_UNEXPECTED_EVENT),
        _ => bits::<8>(ACK_UNLIMITED),
    }
}
