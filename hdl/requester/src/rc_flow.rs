//! Processes an acknowledgement, the answer to a probe, or an expired timer of an RC queue pair (reference: `RcRequester::on_ack`, `on_probe_answer`, `on_timer`).

use hdl_congestion::saturated_rtt;
use hdl_macros::hdl;
use hdl_primitives::Src;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{NamedBy, PathAckRecord, SprayFeedback, SprayOp, SprayRequest};

use crate::deadline::reached;
use crate::probe_answer::probe_answer;
use crate::rc_effect::{is_slow, rc_effect, rc_result};
use crate::rc_turn::has_paths;
use crate::rc_verdict::{ack_distances, rc_stats, rc_verdict, rnr_wait, AckDistances, AckVerdict};
use crate::records::{Op, OpKind, OpResult, StatPulses};

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
    distances: DFF<AckDistances>,
    /// The pause of the path policy has not ended.
    held: DFF<Bit>,
    round_trip: DFF<Bits<16>>,
    verdict: DFF<AckVerdict>,
    /// When the queue pair sends again, if the peer is not ready.
    resumes_at: DFF<Bits<32>>,
}

impl Logic for RcFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, distances, held, round_trip, verdict, resumes_at);
        let op = self.op.val();
        let timer = op.kind == OpKind::Timer;
        let answers_probe = op.kind == OpKind::Sack;
        let paths = op.state.rc.paths;
        let step = self.step.q.val();
        let distances = self.distances.q.val();
        let verdict = self.verdict.q.val();

        // update the window
        let held = self.held.q.val();
        let after = rc_effect(op, verdict, distances, self.resumes_at.q.val(), held);

        // tell the path policy
        let probe = probe_answer(op.control.seth);
        let slow = is_slow(op, verdict);
        let reports_probe = (step == Step::ReportProbe) | (step == Step::ReportProbeMark);
        let tells = has_paths(op.settings) & (verdict.progress | verdict.timed_out);
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
                una: after.una,
                next_psn: op.state.rc.sent,
                in_flight: bits::<24>(0),
            },
            now: op.now,
            ..SprayRequest::default()
        };

        let told = !tells | self.feedback.ready.val();
        self.done.next = (step == Step::UpdateWindow) & told;
        self.result.next = rc_result(verdict, after);
        self.stats.next = StatPulses::default();

        let found = rc_verdict(op, distances);
        let found_stats = rc_stats(op, distances);
        match step {
            Step::Idle => {
                self.distances.d.next = ack_distances(op);
                self.held.d.next = paths.held & !(timer & reached(op.now, paths.held_until));
                if self.start.val() {
                    self.step.d.next = Step::Classify;
                }
            }
            Step::Classify => {
                self.verdict.d.next = found;
                self.stats.next = found_stats;
                self.resumes_at.d.next =
                    op.now + rnr_wait(op.control.aeth.syndrome.get_bits::<5>(0));
                self.round_trip.d.next = saturated_rtt(distances.flight);
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
