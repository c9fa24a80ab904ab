//! Sample of a SACK, and its comparison with the targets (reference: `Nscc::on_ack` up to its reaction).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccConfig, NsccRequest};

use crate::arithmetic::{count, elapsed, saturated_rtt};
use crate::records::{Comparison, NsccState, Sample};

/// A path with a shorter delay counts as idle: 1 us in ticks.
const IDLE_DELAY: u64 = 125;

/// Returns the state of a queue pair that starts at `now`. The window has its maximum, because nothing is known about the path.
#[hdl_fn]
pub fn fresh(config: NsccConfig, now: Bits<32>) -> NsccState {
    NsccState {
        cwnd: bit_cast::<32, 24>(config.max_cwnd) << 8,
        saved: bits::<32>(0),
        increase: bits::<48>(0),
        base_rtt: config.base_rtt,
        average_delay: bits::<32>(0),
        received: bits::<24>(0),
        achieved: bits::<24>(0),
        idle_bytes: bits::<24>(0),
        ignore_left: bits::<24>(0),
        loss_seen: false,
        penalty: bits::<7>(0),
        period_start: now,
        last_adjust: now,
        last_eta: now,
        last_decrease: now - bit_cast::<32, 16>(config.base_rtt),
        allowed: config.max_cwnd,
    }
}

/// Returns the sample of `ack`. Levels: 5 (clamp 3, a carry chain, 1).
#[hdl_fn]
pub fn sample_of(state: NsccState, config: NsccConfig, ack: NsccRequest) -> Sample {
    let rtt = saturated_rtt(ack.rtt);
    let delay = bit_cast::<17, 16>(rtt) - bit_cast::<17, 16>(state.base_rtt);
    Sample {
        // A round trip below a quarter of the configured base comes from a time stamp that wrapped.
        has_delay: ack.rtt_valid & (rtt >= (config.base_rtt >> 2)),
        delay: if delay.get_bit(16) {
            bits::<16>(0)
        } else {
            delay.get_bits::<16>(0)
        },
        old_mark: ack.ecn & state.ignore_left.any(),
    }
}

/// Returns the average after a sample: `average += (sample - average) / 64`. An unmarked sample above the target counts as a quarter of the base RTT. Levels:
/// 4 and three carry chains.
#[hdl_fn]
pub fn average(state: NsccState, config: NsccConfig, sample: Sample, ecn: Bit) -> Bits<32> {
    let pull = if !ecn & (sample.delay > config.target) {
        bit_cast::<32, 16>(state.base_rtt) << 8
    } else {
        bit_cast::<32, 16>(sample.delay) << 10
    };
    state.average_delay - (state.average_delay >> 6) + pull
}

/// Compares the sample. The state already includes the bytes and the round trip of the SACK. Levels: 4 and two carry chains.
#[hdl_fn]
pub fn compare(
    state: NsccState,
    config: NsccConfig,
    sample: Sample,
    ack: NsccRequest,
) -> Comparison {
    let base = bit_cast::<17, 16>(state.base_rtt);
    let headroom = bit_cast::<17, 16>(config.target) - bit_cast::<17, 16>(sample.delay);
    let idle = !ack.ecn & (sample.delay < IDLE_DELAY);
    Comparison {
        period_over: elapsed(
            ack.now,
            state.period_start,
            base + bit_cast::<17, 16>(config.target),
        ),
        congested: state.loss_seen | (sample.has_delay & (sample.delay > config.qa_threshold)),
        starved: state.achieved < (config.max_cwnd >> config.qa_gate),
        below_target: sample.delay < config.target,
        headroom: headroom.get_bits::<16>(0),
        idle_bytes: if idle {
            count(state.idle_bytes, ack.bytes)
        } else {
            bits::<24>(0)
        },
        decrease_due: elapsed(ack.now, state.last_decrease, base),
        adjust_due: (state.received >= bit_cast::<24, 17>(config.adjust_bytes))
            | elapsed(ack.now, state.last_adjust, base),
        eta_due: elapsed(ack.now, state.last_eta, base),
    }
}
