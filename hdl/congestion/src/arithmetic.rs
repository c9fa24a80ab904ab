//! Additions, comparisons and shifts of congestion control (reference: `stellar_transport::congestion`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::NsccConfig;

use crate::records::Normalised;

/// Adds to a byte counter that saturates. Levels: a carry chain, 1.
#[hdl_fn]
pub fn count(bytes: Bits<24>, more: Bits<24>) -> Bits<24> {
    let sum = bit_cast::<25, 24>(bytes) + bit_cast::<25, 24>(more);
    if sum.get_bit(24) {
        Bits::<24>::mask()
    } else {
        sum.get_bits::<24>(0)
    }
}

/// Returns `value - less`, at least 0. Levels: a carry chain, 1.
#[hdl_fn]
pub fn less(value: Bits<32>, less: Bits<32>) -> Bits<32> {
    let difference = bit_cast::<33, 32>(value) - bit_cast::<33, 32>(less);
    if difference.get_bit(32) {
        bits::<32>(0)
    } else {
        difference.get_bits::<32>(0)
    }
}

/// Returns whether at least `span` has passed from `start` to `now`. Levels: two carry chains.
#[hdl_fn]
pub fn elapsed(now: Bits<32>, start: Bits<32>, span: Bits<17>) -> Bit {
    (now - start) >= bit_cast::<32, 17>(span)
}

/// Limits a window, 24.8, to the configured range. Levels: a carry chain, 2.
#[hdl_fn]
pub fn clamp(window: Bits<38>, config: NsccConfig) -> Bits<32> {
    let least = bit_cast::<32, 24>(config.min_cwnd) << 8;
    let most = bit_cast::<32, 24>(config.max_cwnd) << 8;
    if window > bit_cast::<38, 32>(most) {
        most
    } else if window < bit_cast::<38, 32>(least) {
        least
    } else {
        window.get_bits::<32>(0)
    }
}

/// Returns the position of the leading one of `divisor`, and the bits after it. The divisor is at least 2^16. Levels: 6 (first one 3, choice of 16 3).
#[hdl_fn]
pub fn normalise(divisor: Bits<32>) -> Normalised {
    let mut exponent = bits::<4>(0);
    for i in 1..16 {
        exponent = if divisor.get_bit(16 + i) {
            bits::<4>(i as u64)
        } else {
            exponent
        };
    }
    Normalised {
        mantissa: (divisor.get_bits::<23>(8) >> exponent).get_bits::<8>(0),
        exponent,
    }
}

/// Returns `dividend / divisor * 2^16` from `product = dividend * (256 + reciprocal)`, saturated to 33 bits. The dividend has at most 48 bits. Levels: 6
/// (shift 3, saturation 3).
#[hdl_fn]
pub fn quotient(product: Bits<65>, exponent: Bits<4>) -> Bits<33> {
    let shifted = product.get_bits::<48>(9) >> exponent;
    if shifted.get_bits::<15>(33).any() {
        Bits::<33>::mask()
    } else {
        shifted.get_bits::<33>(0)
    }
}

/// Returns the share of the window that a decrease takes, 0.16. It is 51/64 of `ratio`, but at most one half. `ratio` is (average - target) / average.
/// Levels: two carry chains, 1.
#[hdl_fn]
pub fn decrease_factor(ratio: Bits<33>) -> Bits<16> {
    let once = bit_cast::<23, 17>(ratio.get_bits::<17>(0));
    let threefold = once + (once << 1);
    let part = (threefold + (threefold << 4)).get_bits::<17>(6);
    if part.get_bits::<2>(15).any() {
        bits::<16>(1 << 15)
    } else {
        part.get_bits::<16>(0)
    }
}

/// Saturates a round-trip time to the 16 bits of a sample. Levels: 3.
#[hdl_fn]
pub fn saturated_rtt(rtt: Bits<32>) -> Bits<16> {
    if rtt.get_bits::<16>(16).any() {
        Bits::<16>::mask()
    } else {
        rtt.get_bits::<16>(0)
    }
}
