//! Early loss detection: whether a packet in flight is lost, because a SACK shows that it is missing and later ones arrived (reference: `MrcRequester::on_sack`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::tx::TxSeth;
use stellar_wire::hw::window::WindowResponse;
use stellar_wire::hw::Psn;

use crate::deadline::reached;
use crate::sack_fields::{answered_psn, offset};

/// What a SACK shows to be missing: this PSN, those up to the limit, and those of the bitmap.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Missing {
    pub first: Psn,
    pub limit: Psn,
    /// First PSN of the bitmap.
    pub base: Psn,
}

/// What follows from a packet in flight.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct EarlyLoss {
    /// It is lost.
    pub is_lost: Bit,
    /// It is not lost, and neither is any other before the bitmap.
    pub skips: Bit,
    /// It is not lost, and the next one may be: this one was sent again of late.
    pub goes_on: Bit,
}

/// Returns what the SACK shows to be missing. `threshold`: a packet overtakes at most so many others. Levels: two carry chains.
#[hdl_fn]
pub fn missing(seth: TxSeth, threshold: Bits<10>) -> Missing {
    Missing {
        first: seth.cack_psn + 1,
        limit: answered_psn(seth) - bit_cast::<24, 10>(threshold),
        base: offset(seth.cack_psn, seth.sack_offset),
    }
}

/// Returns whether the packet in flight that the window has found is lost. What was sent after the `horizon` is not, however late it is. Beside a burst of the queue pair the records
/// from `burst_first` on are not written yet. Levels: a carry chain and 4.
#[hdl_fn]
pub fn early_loss(
    window: WindowResponse,
    missing: Missing,
    horizon: Bits<32>,
    beside_burst: Bit,
    burst_first: Psn,
) -> EarlyLoss {
    let burst_distance = window.psn - burst_first;
    let is_told = window.found & !(beside_burst & !burst_distance.get_bit(23));
    let is_old = reached(horizon, window.sent.at);
    let past_base = window.psn - missing.base;
    let past_limit = missing.limit - window.psn;
    let unsent_base = missing.base - window.next_psn;
    let shows_missing = (window.psn == missing.first)
        | !past_base.get_bits::<18>(6).any()
        | !past_limit.get_bit(23);
    let is_before_bitmap = past_base.get_bit(23) & unsent_base.get_bit(23);
    EarlyLoss {
        is_lost: is_told & is_old & shows_missing,
        skips: is_told & is_old & !shows_missing & is_before_bitmap,
        goes_on: is_told & !is_old & window.sent.is_retransmit,
    }
}
