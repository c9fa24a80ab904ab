//! Arithmetic on times, which are ticks of 8 ns modulo 2^32 (reference: `stellar_transport::time::Ticks`, `Backoff`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::RequesterConfig;

use crate::records::TAIL_BITS;

/// The exponent of exponential timeouts grows up to this number of retries.
const LARGEST_EXPONENT: u64 = 7;

/// Returns whether `now` has reached `deadline`. Levels: a carry chain.
#[hdl_fn]
pub fn reached(now: Bits<32>, deadline: Bits<32>) -> Bit {
    !(now - deadline).get_bit(31)
}

/// Returns the timeout of a packet after `retries` timeouts. Levels: 4.
#[hdl_fn]
pub fn timeout(settings: RequesterConfig, retries: Bits<8>) -> Bits<32> {
    let rto = bit_cast::<32, 21>(settings.rto);
    let grown = if retries < LARGEST_EXPONENT {
        rto << bit_cast::<32, 8>(retries)
    } else {
        rto << LARGEST_EXPONENT
    };
    if settings.exponential {
        grown
    } else {
        rto
    }
}

/// Returns the longest time before a tail probe: half of the timeout of a packet that was sent once.
#[hdl_fn]
pub fn longest_tail(rto: Bits<21>) -> Bits<TAIL_BITS> {
    rto.get_bits::<TAIL_BITS>(1)
}

/// Returns the earlier of `other` and `deadline`; `deadline` counts only if `armed`. Levels: a carry chain, 1.
#[hdl_fn]
pub fn earlier(armed: Bit, deadline: Bits<32>, other: Bits<32>) -> Bits<32> {
    if armed & reached(other, deadline) {
        deadline
    } else {
        other
    }
}
