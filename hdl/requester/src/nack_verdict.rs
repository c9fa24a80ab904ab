//! What a NACK or a Transport ACK says of the packet that it names (reference: `MrcRequester::on_nack`, `on_transport_ack`).

use hdl_macros::hdl_fn;
use hdl_tx_window::result::stamp_matches;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::requester::{ControlKind, ControlPacket};
use stellar_wire::hw::window::{PacketState, WindowResponse};
use stellar_wire::hw::Psn;
use stellar_wire::mrc::NackReason;

use crate::nak::{refusal, refuses};

/// The meaning. If nothing of it holds, the packet is ignored.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct NackVerdict {
    /// The peer refuses the packet: the queue pair fails.
    pub fatal: Bit,
    /// The packet was trimmed, so it is lost.
    pub trimmed: Bit,
    /// It was trimmed on its path. At the last hop every path ends in the same queue, so the path is not to blame.
    pub trimmed_on_path: Bit,
    /// The peer had no space for it, so it is lost.
    pub recoverable: Bit,
}

/// Returns the PSN that a NACK or a Transport ACK names. Levels: 1.
#[hdl_fn]
pub fn named_psn(control: ControlPacket) -> Psn {
    if control.kind == ControlKind::TransportAck {
        control.psn
    } else {
        control.neth.nack_psn
    }
}

/// Returns why the message of a packet fails that the peer refused for good. Levels: 2.
#[hdl_fn]
pub fn refusal_of(control: ControlPacket) -> Bits<8> {
    if control.kind == ControlKind::TransportAck {
        refusal(control.aeth.syndrome.get_bits::<5>(0))
    } else {
        bits::<8>(WcStatus::RemOpErr.code() as u64)
    }
}

/// Judges a NACK or a Transport ACK. `window`: what the transmit window has of the packet. A NACK of an earlier transmission only counts if it is fatal. Levels: 5.
#[hdl_fn]
pub fn nack_verdict(control: ControlPacket, window: WindowResponse) -> NackVerdict {
    let neth = control.neth;
    let is_nack = control.kind != ControlKind::TransportAck;
    let known = window.state != PacketState::Free;
    let current = is_nack
        & (window.state == PacketState::InFlight)
        & stamp_matches(window.sent, neth.timestamp);
    let fatal = if is_nack {
        neth.reason == (NackReason::UnexpectedEvent.to_byte() as u64)
    } else {
        refuses(control.aeth.syndrome)
    };
    let trimmed_on_path = current & (neth.reason == (NackReason::Trimmed.to_byte() as u64));
    NackVerdict {
        fatal: known & fatal,
        trimmed: trimmed_on_path
            | (current & (neth.reason == (NackReason::TrimmedLastHop.to_byte() as u64))),
        trimmed_on_path,
        recoverable: current
            & ((neth.reason == (NackReason::NoBitmap.to_byte() as u64))
                | (neth.reason == (NackReason::NoPktBuffer.to_byte() as u64))
                | (neth.reason == (NackReason::NoResource.to_byte() as u64))
                | (neth.reason == (NackReason::PsnOutOfWindow.to_byte() as u64))),
    }
}
