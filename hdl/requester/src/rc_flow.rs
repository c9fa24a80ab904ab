//! Processes an acknowledgement, the answer to a probe, or an expired timer of an RC queue pair (reference: `RcRequester::on_ack`, `on_probe_answer`, `on_timer`).

use hdl_congestion::saturated_rtt;
use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::Src;
use rust_hdl::prelude::*;
use stellar_wire::aeth::RNR_UNIT;
use stellar_wire::config::RNR_RETRY_FOREVER;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::spray::{NamedBy, PathAckRecord, SprayFeedback, SprayOp, SprayRequest};
use stellar_wire::NakCode;

use crate::deadline::reached;
use crate::probe_answer::probe_answer;
use crate::rc_turn::has_paths;
use crate::records::{
    NextAction, Op, OpKind, OpResult, RcPathState, RcState, RequesterState, StatPulses,
};

/// AETH syndromes: bits 7:5 of an ACK, of an RNR NAK and of a NAK. Bits 4:0 of a NAK are its code, those of an RNR NAK the code of a time.
const ACK: u64 = 0b000;
const RNR_NAK: u64 = 0b001;
const NAK: u64 = 0b011;
/// Highest NAK code that is defined.
const LAST_CODE: u64 = NakCode::InvalidRdRequest.code() as u64;

/// Step of the flow.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// Determines what is acknowledged, and whether to retransmit or to fail.
    Classify,
    /// Reports that a path that was probed works, once the queue of feedback has space.
    ReportProbe,
    /// The probe was marked: reports that too.
    ReportProbeMark,
    /// Moves the window, or goes back. Reports to the path policy, once the queue of feedback has space.
    UpdateWindow,
}

/// Meaning of an acknowledgement or of a timeout.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct AckVerdict {
    /// Packets newly acknowledged, from the oldest on.
    acknowledged: Bits<24>,
    /// There are any.
    progress: Bit,
    /// Go-back-N: all other packets are retransmitted, at the cost of a retry.
    goes_back_n: Bit,
    /// The peer is not ready for the packet after those acknowledged. All other packets are retransmitted after a time, at the cost of an RNR retry.
    not_ready: Bit,
    /// There is no retry left for `goes_back_n`, and no RNR retry for `not_ready`.
    exhausted: Bit,
    rnr_exhausted: Bit,
    /// The wait for the peer is over.
    resumes: Bit,
    /// The peer refused the packet after those acknowledged. Its message fails with `status`.
    refused: Bit,
    status: Bits<8>,
    /// A packet behind those acknowledged was lost; there was no progress for the timeout.
    lost: Bit,
    timed_out: Bit,
    /// It is the acknowledgement of the packet that is timed. The round trip is that of a congested path.
    sampled: Bit,
    is_slow: Bit,
    /// The packet that is timed is among those acknowledged.
    ends_timing: Bit,
}

/// Returns the completion status of a message that was refused with a NAK. Levels: 1.
#[hdl_fn]
fn refusal(code: Bits<5>) -> Bits<8> {
    if code == (NakCode::RemoteAccessError.code() as u64) {
        bits::<8>(WcStatus::RemAccessErr.code() as u64)
    } else if code == (NakCode::InvalidRequest.code() as u64) {
        bits::<8>(WcStatus::RemInvReqErr.code() as u64)
    } else {
        bits::<8>(WcStatus::RemOpErr.code() as u64)
    }
}

/// Returns the time that an RNR NAK names (reference: `rnr_wait`). Levels: 1 and a shift by 0 to 16.
#[hdl_fn]
fn rnr_wait(code: Bits<5>) -> Bits<32> {
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

/// Processes the ACK or NAK `op.control`, or goes back if there was no progress within the timeout. It uses no functional unit. What it tells the path policy of a
/// queue pair that has one goes through the queue of feedback. An ACK names no path, so it is about that of the packet that is timed, or about the path in use.
#[derive(LogicBlock, Default)]
pub struct RcFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub start: Signal<In, Bit>,
    pub op: Signal<In, Op>,
    pub done: Signal<Out, Bit>,
    pub result: Signal<Out, OpResult>,
    pub stats: Signal<Out, StatPulses>,

    /// Path feedback. It is accepted when valid and ready are high.
    pub feedback: Src<SprayRequest>,

    step: DFF<Step>,
    /// Distances from `una`: to the PSN of the acknowledgement, to the next PSN to send, and to the next new PSN.
    acked_offset: DFF<Bits<24>>,
    to_send_offset: DFF<Bits<24>>,
    outstanding: DFF<Bits<24>>,
    /// Distance from `una` to the packet that is timed, and the time since it was sent.
    timed_offset: DFF<Bits<24>>,
    flight: DFF<Bits<32>>,
    /// The pause of the path policy has not ended.
    held: DFF<Bit>,
    round_trip: DFF<Bits<16>>,
    /// The deadline has passed.
    late: DFF<Bit>,
    verdict: DFF<AckVerdict>,
    /// When the queue pair sends again, if the peer is not ready.
    resumes_at: DFF<Bits<32>>,
}

impl Logic for RcFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            acked_offset,
            to_send_offset,
            outstanding,
            late,
            verdict,
            resumes_at
        );
        dff_setup!(self, clock, timed_offset, flight, held, round_trip);
        let op = self.op.val();
        let state = op.state;
        let timer = op.kind == OpKind::Timer;
        let answers_probe = op.kind == OpKind::Sack;
        let seth = op.control.seth;
        let paths = state.rc.paths;
        let step = self.step.q.val();

        // classify
        let acked_offset = self.acked_offset.q.val();
        let outstanding = self.outstanding.q.val();
        let known = !timer & (acked_offset < outstanding);
        let syndrome = op.control.aeth.syndrome;
        let code = syndrome.get_bits::<5>(0);
        let answers_packet = known & !answers_probe;
        let ack = answers_packet & (syndrome.get_bits::<3>(5) == ACK);
        let nak = answers_packet & (syndrome.get_bits::<3>(5) == NAK) & (code <= LAST_CODE);
        let rnr = answers_packet & (syndrome.get_bits::<3>(5) == RNR_NAK);
        let sequence = nak & (code == (NakCode::PsnSequenceError.code() as u64));
        let late = timer & self.late.q.val();
        // Progress ends a wait. Without it, what the peer says of the packet `una` is about a transmission before the wait.
        let waits = state.rc.waits & !acked_offset.any();
        let goes_back_n = (sequence & !waits) | (late & !state.rc.waits);
        let not_ready = rnr & !waits;
        // Progress restores both budgets.
        let arrives = ack | (known & answers_probe);
        let progresses = arrives | ((nak | rnr) & acked_offset.any());
        let retries_spent = if progresses {
            !op.settings.retry_budget.any()
        } else {
            state.retries >= op.settings.retry_budget
        };
        let rnr_spent = if progresses {
            !op.settings.rnr_retry.any()
        } else {
            state.rc.rnr_retries >= op.settings.rnr_retry
        };
        let timed_offset = self.timed_offset.q.val();
        let round_trip = saturated_rtt(self.flight.q.val());
        let is_timed = timed_offset == acked_offset;
        let is_before = timed_offset < acked_offset;
        let rnr_is_bounded = op.settings.rnr_retry != (RNR_RETRY_FOREVER as u64);

        // update the window
        let verdict = self.verdict.q.val();
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
        let overtaken = self.to_send_offset.q.val() < verdict.acknowledged;
        let restarts_timer = progress | retransmits | verdict.resumes;

        // tell the path policy
        let slow = if verdict.timed_out {
            false
        } else if verdict.sampled {
            verdict.is_slow
        } else {
            paths.slow
        };
        let probe = probe_answer(seth);
        let reports_probe = (step == Step::ReportProbe) | (step == Step::ReportProbeMark);
        let tells = has_paths(op.settings) & (progress | verdict.timed_out);
        let flight_time = op.now.get_bits::<16>(0) - op.control.cc_state.timestamp;
        self.feedback.valid.next = reports_probe | ((step == Step::UpdateWindow) & tells);
        self.feedback.record.next = SprayRequest {
            op: if reports_probe | verdict.timed_out {
                SprayOp::Feedback
            } else {
                SprayOp::Ack
            },
            qp: op.qp,
            named_by: if reports_probe | verdict.sampled {
                NamedBy::Index
            } else {
                NamedBy::Home
            },
            index: if reports_probe {
                probe.index
            } else {
                paths.timed_index
            },
            feedback: if step == Step::ReportProbe {
                SprayFeedback::ProbeAnswered
            } else if step == Step::ReportProbeMark {
                SprayFeedback::Skip
            } else {
                SprayFeedback::Timeout
            },
            ack: PathAckRecord {
                entropy: bits::<32>(0),
                hint: if slow | verdict.lost {
                    SprayFeedback::Skip
                } else {
                    SprayFeedback::Good
                },
                sampled: verdict.sampled,
                round_trip: if reports_probe {
                    flight_time
                } else {
                    self.round_trip.q.val()
                },
                packets: verdict.acknowledged.get_bits::<13>(0),
                una,
                next_psn: state.rc.sent,
                in_flight: bits::<24>(0),
            },
            now: op.now,
            ..SprayRequest::default()
        };

        let told = !tells | self.feedback.ready.val();
        self.done.next = (step == Step::UpdateWindow) & told;
        self.result.next = OpResult {
            state: RequesterState {
                una,
                armed: if goes_back | verdict.resumes {
                    true
                } else if progress {
                    verdict.acknowledged != outstanding
                } else {
                    state.armed
                },
                deadline: if waits_now {
                    self.resumes_at.q.val()
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
                        held: self.held.q.val(),
                        timed: paths.timed & !verdict.ends_timing & !goes_back,
                        slow,
                        ..paths
                    },
                    ..state.rc
                },
                ..state
            },
            packet_sent: false,
            tried_again: false,
            next_action: if verdict.refused | verdict.exhausted | verdict.rnr_exhausted {
                NextAction::FailOldest
            } else if progress {
                NextAction::Complete
            } else {
                NextAction::Nothing
            },
            una,
            failed_slot_valid: true,
            slot: bits(0),
            status: if verdict.refused {
                verdict.status
            } else if verdict.rnr_exhausted {
                bits::<8>(WcStatus::RnrRetryExcErr.code() as u64)
            } else {
                bits::<8>(WcStatus::RetryExcErr.code() as u64)
            },
        };
        self.stats.next = StatPulses::default();

        match step {
            Step::Idle => {
                self.acked_offset.d.next = if answers_probe {
                    seth.cack_psn - state.una
                } else {
                    op.control.psn - state.una
                };
                self.timed_offset.d.next = paths.timed_psn - state.una;
                self.flight.d.next = op.now - paths.timed_at;
                self.held.d.next = paths.held & !(timer & reached(op.now, paths.held_until));
                self.to_send_offset.d.next = state.rc.to_send - state.una;
                self.outstanding.d.next = state.rc.sent - state.una;
                self.late.d.next = state.armed & reached(op.now, state.deadline);
                if self.start.val() {
                    self.step.d.next = Step::Classify;
                }
            }
            Step::Classify => {
                self.verdict.d.next = AckVerdict {
                    acknowledged: if arrives {
                        acked_offset + 1
                    } else if nak | rnr {
                        acked_offset
                    } else {
                        bits::<24>(0)
                    },
                    progress: progresses,
                    goes_back_n,
                    not_ready,
                    exhausted: goes_back_n & retries_spent,
                    rnr_exhausted: not_ready & rnr_spent & rnr_is_bounded,
                    resumes: late & state.rc.waits,
                    refused: nak & !sequence,
                    status: refusal(code),
                    lost: sequence,
                    timed_out: late & !state.rc.waits,
                    sampled: ack & paths.timed & is_timed,
                    is_slow: round_trip > op.settings.slow_rtt,
                    ends_timing: progresses & (is_before | (arrives & is_timed)),
                };
                self.stats.next.ack = ack;
                self.resumes_at.d.next = op.now + rnr_wait(code);
                self.stats.next.nak = nak | rnr;
                self.stats.next.ack_ignored = !timer & !answers_probe & !ack & !nak & !rnr;
                self.stats.next.probe_answer = answers_probe;
                self.round_trip.d.next = round_trip;
                self.stats.next.timeout = late & !state.rc.waits;
                self.step.d.next = if answers_probe & probe.works & probe.known {
                    Step::ReportProbe
                } else {
                    Step::UpdateWindow
                };
            }
            Step::ReportProbe | Step::ReportProbeMark => {
                if self.feedback.ready.val() {
                    self.step.d.next = if (step == Step::ReportProbe) & probe.marked {
                        Step::ReportProbeMark
                    } else {
                        Step::UpdateWindow
                    };
                }
            }
            Step::UpdateWindow => {
                if told {
                    self.step.d.next = Step::Idle;
                }
            }
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
