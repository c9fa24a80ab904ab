//! What a NACK says of the packet that it names (reference: `MrcRequester::on_nack`).

use hdl_macros::hdl_fn;
use hdl_tx_window::result::stamp_matches;
use rust_hdl::prelude::*;
use stellar_wire::hw::tx::TxNeth;
use stellar_wire::hw::window::{PacketState, WindowResponse};
use stellar_wire::mrc::NackReason;

/// The meaning of a NACK. If nothing of it holds, the NACK is ignored.
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

/// Judges a NACK. `window`: what the transmit window has of the packet. A NACK of an earlier transmission only counts if it is fatal. Levels: 5.
#[hdl_fn]
pub fn nack_verdict(neth: TxNeth, window: WindowResponse) -> NackVerdict {
    let known = window.state != PacketState::Free;
    let current =
        (window.state == PacketState::InFlight) & stamp_matches(window.sent, neth.timestamp);
    let trimmed_on_path = current & (neth.reason == (NackReason::Trimmed.to_byte() as u64));
    NackVerdict {
        fatal: known & (neth.reason == (NackReason::UnexpectedEvent.to_byte() as u64)),
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
