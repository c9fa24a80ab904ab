//! What an acknowledgement or a timeout changes in the state of an RC queue pair, and what follows (reference: `RcRequester::on_ack`, `on_timer`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;

use crate::rc_verdict::{AckDistances, AckVerdict};
use crate::records::{NextAction, Op, OpResult, RcPathState, RcState, RequesterState};

/// Returns whether the path in use is slow: as the last round trip was. Levels: 1.
#[hdl_fn]
pub fn is_slow(op: Op, verdict: AckVerdict) -> Bit {
    if verdict.timed_out {
        false
    } else if verdict.sampled {
        verdict.is_slow
    } else {
        op.state.rc.paths.slow
    }
}

/// Returns the state afterwards. `resumes_at`: when the queue pair sends again, if the peer is not ready. `held`: the pause of the path policy has not ended. Levels: two carry chains and 3.
#[hdl_fn]
pub fn rc_effect(
    op: Op,
    verdict: AckVerdict,
    distances: AckDistances,
    resumes_at: Bits<32>,
    held: Bit,
) -> RequesterState {
    let state = op.state;
    let progress = verdict.progress;
    let una = state.una + verdict.acknowledged;
    let retries = if progress {
        bits::<8>(0)
    } else {
        state.retries
    };
    let rnr_retries = if progress {
        bits::<3>(0)
    } else {
        state.rc.rnr_retries
    };
    let waits_now = verdict.not_ready & !verdict.rnr_exhausted;
    let retransmits = verdict.goes_back_n & !verdict.exhausted;
    let goes_back = retransmits | waits_now;
    let overtaken = distances.to_send < verdict.acknowledged;
    let restarts_timer = progress | retransmits | verdict.resumes;
    RequesterState {
        una,
        armed: if goes_back | verdict.resumes {
            true
        } else if progress {
            verdict.acknowledged != distances.outstanding
        } else {
            state.armed
        },
        deadline: if waits_now {
            resumes_at
        } else if restarts_timer {
            op.now + bit_cast::<32, 21>(op.settings.rto)
        } else {
            state.deadline
        },
        retries: if retransmits { retries + 1 } else { retries },
        rc: RcState {
            to_send: if goes_back | overtaken {
                una
            } else {
                state.rc.to_send
            },
            rnr_retries: if waits_now {
                rnr_retries + 1
            } else {
                rnr_retries
            },
            waits: waits_now | (state.rc.waits & !progress & !verdict.resumes),
            paths: RcPathState {
                held,
                timed: state.rc.paths.timed & !verdict.ends_timing & !goes_back,
                slow: is_slow(op, verdict),
                ..state.rc.paths
            },
            ..state.rc
        },
        ..state
    }
}

/// Returns the result with the state `after`: messages complete if there was progress, and the oldest one fails if the peer refused it or no retry is left. Levels: 2.
#[hdl_fn]
pub fn rc_result(verdict: AckVerdict, after: RequesterState) -> OpResult {
    let fails = verdict.refused | verdict.exhausted | verdict.rnr_exhausted;
    OpResult {
        state: after,
        packet_sent: false,
        tried_again: false,
        next_action: if fails {
            NextAction::FailOldest
        } else if verdict.progress {
            NextAction::Complete
        } else {
            NextAction::Nothing
        },
        una: after.una,
        failed_slot_valid: true,
        slot: bits(0),
        status: if verdict.refused {
            verdict.status
        } else if verdict.rnr_exhausted {
            bits::<8>(WcStatus::RnrRetryExcErr.code() as u64)
        } else {
            bits::<8>(WcStatus::RetryExcErr.code() as u64)
        },
    }
}
