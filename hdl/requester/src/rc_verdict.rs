//! What an acknowledgement, the answer to a probe, or an expired timer means for an RC queue pair (reference: `RcRequester::on_ack`, `on_probe_answer`, `on_timer`).

use hdl_congestion::saturated_rtt;
use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::aeth::RNR_UNIT;
use stellar_wire::config::RNR_RETRY_FOREVER;
use stellar_wire::NakCode;

use crate::deadline::reached;
use crate::nak::{refusal, ACK, LAST_CODE, NAK, RNR_NAK};
use crate::records::{Op, OpKind, StatPulses};

/// Distances from `una`, and times, which are computed before the meaning.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct AckDistances {
    /// To the PSN of the acknowledgement, to the next PSN to send, and to the next new PSN.
    pub acked: Bits<24>,
    pub to_send: Bits<24>,
    pub outstanding: Bits<24>,
    /// To the packet that is timed, and the time since it was sent.
    pub timed: Bits<24>,
    pub flight: Bits<32>,
    /// The deadline has passed.
    pub late: Bit,
}

/// Kind of an acknowledgement of a packet in flight.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct AckKind {
    ack: Bit,
    nak: Bit,
    rnr_nak: Bit,
}

/// Meaning of an acknowledgement or of a timeout.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct AckVerdict {
    /// Packets newly acknowledged, from the oldest on.
    pub acknowledged: Bits<24>,
    /// There are any.
    pub progress: Bit,
    /// Go-back-N: all other packets are retransmitted, at the cost of a retry.
    pub goes_back_n: Bit,
    /// The peer is not ready for the packet after those acknowledged. All other packets are retransmitted after a time, at the cost of an RNR retry.
    pub not_ready: Bit,
    /// There is no retry left for `goes_back_n`, and no RNR retry for `not_ready`.
    pub exhausted: Bit,
    pub rnr_exhausted: Bit,
    /// The wait for the peer is over.
    pub resumes: Bit,
    /// The peer refused the packet after those acknowledged. Its message fails with `status`.
    pub refused: Bit,
    pub status: Bits<8>,
    /// A packet behind those acknowledged was lost; there was no progress for the timeout.
    pub lost: Bit,
    pub timed_out: Bit,
    /// It is the acknowledgement of the packet that is timed. The round trip is that of a congested path.
    pub sampled: Bit,
    pub is_slow: Bit,
    /// The packet that is timed is among those acknowledged.
    pub ends_timing: Bit,
}

/// Returns the time that an RNR NAK names (reference: `rnr_wait`). Levels: 1 and a shift by 0 to 16.
#[hdl_fn]
pub fn rnr_wait(code: Bits<5>) -> Bits<32> {
    let halves = if code.any() {
        bit_cast::<5, 4>(code.get_bits::<4>(1))
    } else {
        bits::<5>(16)
    };
    let base = if code.get_bit(0) & (code != 1) {
        bits::<32>(RNR_UNIT as u64 * 3 / 2)
    } else {
        bits::<32>(RNR_UNIT as u64)
    };
    base << bit_cast::<32, 5>(halves)
}

/// Returns the distances. Levels: a carry chain and 1.
#[hdl_fn]
pub fn ack_distances(op: Op) -> AckDistances {
    let state = op.state;
    let acked_psn = if op.kind == OpKind::Sack {
        op.control.seth.cack_psn
    } else {
        op.control.psn
    };
    AckDistances {
        acked: acked_psn - state.una,
        to_send: state.rc.to_send - state.una,
        outstanding: state.rc.sent - state.una,
        timed: state.rc.paths.timed_psn - state.una,
        flight: op.now - state.rc.paths.timed_at,
        late: state.armed & reached(op.now, state.deadline),
    }
}

/// Returns whether the operation names a packet in flight. Levels: a carry chain.
#[hdl_fn]
fn is_known(op: Op, distances: AckDistances) -> Bit {
    (op.kind != OpKind::Timer) & (distances.acked < distances.outstanding)
}

/// Returns the kind of an acknowledgement. Levels: a carry chain and 2.
#[hdl_fn]
fn ack_kind(op: Op, distances: AckDistances) -> AckKind {
    let syndrome = op.control.aeth.syndrome;
    let kind = syndrome.get_bits::<3>(5);
    let answers_packet = is_known(op, distances) & (op.kind != OpKind::Sack);
    AckKind {
        ack: answers_packet & (kind == ACK),
        nak: answers_packet & (kind == NAK) & (syndrome.get_bits::<5>(0) <= LAST_CODE),
        rnr_nak: answers_packet & (kind == RNR_NAK),
    }
}

/// Returns the meaning. Progress ends a wait and restores both budgets. Without it, what the peer says of the packet `una` is about a transmission before the wait. Levels: two carry chains and 4.
#[hdl_fn]
pub fn rc_verdict(op: Op, distances: AckDistances) -> AckVerdict {
    let state = op.state;
    let settings = op.settings;
    let paths = state.rc.paths;
    let kind = ack_kind(op, distances);
    let code = op.control.aeth.syndrome.get_bits::<5>(0);
    let sequence = kind.nak & (code == (NakCode::PsnSequenceError.code() as u64));
    let late = (op.kind == OpKind::Timer) & distances.late;
    let waits = state.rc.waits & !distances.acked.any();
    let goes_back_n = (sequence & !waits) | (late & !state.rc.waits);
    let not_ready = kind.rnr_nak & !waits;
    let arrives = kind.ack | (is_known(op, distances) & (op.kind == OpKind::Sack));
    let progress = arrives | ((kind.nak | kind.rnr_nak) & distances.acked.any());
    let retries_spent = if progress {
        !settings.retry_budget.any()
    } else {
        state.retries >= settings.retry_budget
    };
    let rnr_spent = if progress {
        !settings.rnr_retry.any()
    } else {
        state.rc.rnr_retries >= settings.rnr_retry
    };
    let rnr_is_bounded = settings.rnr_retry != (RNR_RETRY_FOREVER as u64);
    let is_timed = distances.timed == distances.acked;
    let is_before = distances.timed < distances.acked;
    AckVerdict {
        acknowledged: if arrives {
            distances.acked + 1
        } else if kind.nak | kind.rnr_nak {
            distances.acked
        } else {
            bits::<24>(0)
        },
        progress,
        goes_back_n,
        not_ready,
        exhausted: goes_back_n & retries_spent,
        rnr_exhausted: not_ready & rnr_spent & rnr_is_bounded,
        resumes: late & state.rc.waits,
        refused: kind.nak & !sequence,
        status: refusal(code),
        lost: sequence,
        timed_out: late & !state.rc.waits,
        sampled: kind.ack & paths.timed & is_timed,
        is_slow: saturated_rtt(distances.flight) > settings.slow_rtt,
        ends_timing: progress & (is_before | (arrives & is_timed)),
    }
}

/// Returns what is counted. Levels: a carry chain and 3.
#[hdl_fn]
pub fn rc_stats(op: Op, distances: AckDistances) -> StatPulses {
    let kind = ack_kind(op, distances);
    let timer = op.kind == OpKind::Timer;
    let answers_probe = op.kind == OpKind::Sack;
    StatPulses {
        ack: kind.ack,
        nak: kind.nak | kind.rnr_nak,
        ack_ignored: !timer & !answers_probe & !kind.ack & !kind.nak & !kind.rnr_nak,
        probe_answer: answers_probe,
        timeout: timer & distances.late & !op.state.rc.waits,
        ..StatPulses::default()
    }
}
