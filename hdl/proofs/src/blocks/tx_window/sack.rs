//! What a SACK does to the window.

use hdl_macros::hdl_fn;
use hdl_tx_window::blocks::{place_of, unacknowledged};
use hdl_tx_window::sack::check_sack;
use hdl_tx_window::step::Step;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{SackVerdict, WindowOp, WindowRequest};
use stellar_wire::hw::Psn;

use super::operation::{has_fetched, is_same, Memories, Operation};
use super::pool::{holds_low, low_of};
use super::slots::{is_acked_before, is_una_open};

/// Returns whether a SACK changes the window.
#[hdl_fn]
pub fn is_taken(now: Operation) -> Bit {
    (now.asked.op == WindowOp::Sack) & (now.result.verdict == SackVerdict::Accepted) & !now.is_empty
}

/// Returns whether a SACK names a PSN.
#[hdl_fn]
pub fn names(sack: WindowRequest, psn: Psn) -> Bit {
    let bit = psn - sack.base;
    !(sack.cack - psn).get_bit(23)
        | (psn == sack.acked)
        | (!bit.get_bits::<18>(6).any() & sack.bitmap.get_bit(bit.get_bits::<6>(0).index()))
}

/// Returns whether a SACK has found what it should until now.
#[hdl_fn]
pub fn follows_sack(now: Operation, memories: Memories, odd: Bit) -> Bit {
    let before = now.before;
    let row = now.row;
    let pool = memories.pool;
    let visit = now.visit;
    let first = place_of(before.una);
    let released = now.released.get_bits::<3>(0);
    let place = place_of(row.una);
    let visits = now.step == Step::Visit;
    let is_checked = visits | (now.step == Step::Drain) | (now.step == Step::Respond);
    let verdict = if now.step == Step::CheckSack {
        SackVerdict::Accepted
    } else {
        check_sack(now.span, now.asked.bitmap)
    };
    let una = if now.una_found {
        row.una
    } else {
        before.una & !bits::<24>(31)
    };
    let passed = is_acked_before(pool, memories.open, odd, low_of(first), una, released)
        & !now.released.get_bits::<5>(3).any();
    let begins_later = (row.una - before.una < before.next_psn - before.una)
        & (place - first == bit_cast::<19, 8>(now.released))
        & holds_low(pool, row.head, odd, low_of(place));
    let found = if now.una_found {
        begins_later & is_una_open(memories.open, row) & (!visits | (now.released < visit.index))
    } else if visits {
        is_same(row, before) & (now.released == visit.index)
    } else {
        (row.una == row.next_psn) & (now.released == now.held)
    };
    let last = !now.released.any()
        | holds_low(
            pool,
            now.released_last,
            odd,
            low_of(first) + released.get_bits::<2>(0) - 1,
        );
    let at_visit = (visit.place - first == bit_cast::<19, 8>(visit.index))
        & (visit.wanted == unacknowledged(visit.slots))
        & (now.index == visit.index + 1);
    let progress = if now.step == Step::CheckSack {
        !now.una_found
    } else {
        !is_checked | !is_taken(now) | (passed & found & last & (!visits | at_visit))
    };
    !has_fetched(now.step)
        | (now.asked.op != WindowOp::Sack)
        | ((now.result.verdict == verdict) & progress & ((now.step != Step::Drain) | is_taken(now)))
}
