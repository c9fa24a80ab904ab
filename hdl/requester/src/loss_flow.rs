//! Processes a NACK, a Transport ACK or an expired timer of an MRC queue pair (reference: `MrcRequester::on_nack`, `on_timer`).

use hdl_macros::{clock, hdl, join};
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::NsccRequest;
use stellar_wire::hw::spray::{SprayFeedback, SprayRequest, SprayResponse};
use stellar_wire::hw::window::{SentPacket, WindowRequest, WindowResponse};
use stellar_wire::hw::Psn;

use crate::bundles::{CallSrc, UnitSrc};
use crate::loss_requests::{loss_report, packet_request, path_request, retries_after, ProbePath};
use crate::loss_result::loss_result;
use crate::loss_step::LossStep;
use crate::loss_times::LossTimes;
use crate::nack_verdict::nack_verdict;
use crate::ports::of_port;
use crate::records::{Op, OpKind, OpResult, RequesterState, StatPulses};
use crate::silent_plane::{avoids, lost, silent_planes};
use crate::tail_probe::{after_tail_probe, is_lost_without_probe, with_probe_on};
use crate::timer_state::armed_at;

/// Processes the NACK or Transport ACK `op.control`, or expires all packets that are late, lowest PSN first. A packet that was sent once and is not late ends the search:
/// those behind it left later, and none has a shorter timeout. The first packet that is not late decides whether a tail probe is due, or whether it is lost without a probe.
/// If none is, a plane that is silent is asked for a sign of life.
#[derive(LogicBlock, Default)]
pub struct LossFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Sequencer.
    pub start: Signal<In, Bit>,
    pub op: Signal<In, Op>,
    pub done: Signal<Out, Bit>,
    /// High with `done` if the queue pair fails. It comes early in a cycle, `done` late.
    pub fails: Signal<Out, Bit>,
    pub result: Signal<Out, OpResult>,
    pub stats: Signal<Out, StatPulses>,

    /// Bit p: port p can send.
    pub plane_up: Signal<In, Bits<2>>,

    // Functional units.
    pub spray: UnitSrc<SprayRequest, SprayResponse>,
    pub nscc: CallSrc<NsccRequest>,
    pub window: UnitSrc<WindowRequest, WindowResponse>,

    step: DFF<LossStep>,
    state: DFF<RequesterState>,
    from: DFF<Psn>,
    psn: DFF<Psn>,
    sent: DFF<SentPacket>,
    times: LossTimes,
    /// The queue pair fails, because its peer refused the packet or because its retries are spent.
    refused: DFF<Bit>,
    exhausted: DFF<Bit>,
    /// The loss is reported to the spray engine.
    reports_path: DFF<Bit>,
    feedback: DFF<SprayFeedback>,
    /// The packet was late.
    timed_out: DFF<Bit>,
    /// The probe asks a silent plane for a sign of life.
    asks: DFF<Bit>,
    /// No packet was examined yet that is not late.
    may_probe: DFF<Bit>,
}

impl Logic for LossFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, state, from, psn, sent);
        dff_setup!(self, clock, refused, exhausted, reports_path, feedback);
        dff_setup!(self, clock, timed_out, asks, may_probe);
        clock!(self, clock, times);
        let op = self.op.val();
        let step = self.step.q.val();
        let state = self.state.q.val();
        let sent = self.sent.q.val();
        let window = self.window.response.val();
        let timer = op.kind == OpKind::Timer;

        let nack = nack_verdict(op.control, window);

        // check the timer
        let delays = state.delays;
        let may_probe = self.may_probe.q.val() & !delays.spent;
        self.times.state.next = state;
        self.times.sent.next = window.sent;
        self.times.computes.next = step == LossStep::ComputeExpiry;
        self.times.may_probe.next = may_probe;
        join!(self, op => times.op);
        let late = self.times.late.val();
        let probes = may_probe & self.times.tail_is_over.val();
        let rearmed = armed_at(state, self.times.deadline.val());

        // send a tail probe. One that waits already serves as the tail probe.
        let here = sent.ev.get_bit(0);
        let plane_up = self.plane_up.val();
        let other_up = of_port(plane_up, !here) & !avoids(state, plane_up, !here);
        let path = self.spray.response.val();
        let takes_path = !state.probe;
        let awaited = armed_at(state, self.times.next_check.val());
        let mut rechecked = awaited;
        rechecked.probe_is_tail = true;
        let tail_probe = with_probe_on(awaited, path, true);

        // ask a silent plane, if no probe waits
        let asks = self.asks.q.val();
        let silent = silent_planes(state, plane_up);
        let may_ask = silent.any() & takes_path;
        let question = with_probe_on(state, path, false);

        // Spend a retry, except for a packet that was not late. It covers what is lost until the next one is due. State and time have been stable for a cycle when a packet is
        // marked lost.
        let is_tail = timer & !self.timed_out.q.val();
        let spends_retry = self.times.spends_retry.val() & !is_tail;
        let exhausts = spends_retry & (state.retries >= op.settings.retry_budget);
        let retries = retries_after(sent, self.timed_out.q.val());

        // Requests. Whether they are issued is decided below.
        self.spray.start.next = false;
        let probe_path = ProbePath {
            chooses: step == LossStep::RequestPath,
            plane: if asks {
                silent.get_bit(1)
            } else {
                here ^ other_up
            },
            avoids_last: !asks,
        };
        self.spray.request.next = path_request(op, probe_path, sent, self.feedback.q.val());
        self.nscc.start.next = false;
        self.nscc.request.next = loss_report(op, sent);
        self.window.start.next = false;
        self.window.request.next =
            packet_request(step, op, self.from.q.val(), self.psn.q.val(), sent, retries);

        let fails = self.refused.q.val() | self.exhausted.q.val();
        self.done.next = false;
        self.fails.next = (step == LossStep::End) & fails;
        self.result.next = loss_result(state, sent, op.control, self.refused.q.val(), fails);
        self.stats.next = StatPulses::default();
        self.stats.next.lost_index = match step {
            LossStep::ReadState => window.sent.ev,
            LossStep::CheckExpiry => sent.ev,
            _ => bits::<8>(0),
        };

        let delays_after_probe = after_tail_probe(delays, op.settings.rto);
        match step {
            LossStep::Idle => {
                if self.start.val() {
                    self.state.d.next = op.state;
                    self.refused.d.next = false;
                    self.exhausted.d.next = false;
                    self.asks.d.next = false;
                    self.may_probe.d.next = timer & op.settings.early_loss.any();
                    if timer {
                        self.state.d.next.armed = false;
                    }
                    self.window.start.next = true;
                    self.step.d.next = LossStep::ReadState;
                }
            }
            LossStep::ReadState => {
                self.from.d.next = window.una;
                self.psn.d.next = window.psn;
                self.sent.d.next = window.sent;
                self.reports_path.d.next = nack.trimmed_on_path;
                self.feedback.d.next = SprayFeedback::Trimmed;
                self.timed_out.d.next = false;
                if !self.window.busy.val() {
                    if timer {
                        self.step.d.next = LossStep::FindInFlight;
                    } else {
                        let lost = nack.trimmed | nack.recoverable;
                        self.stats.next.nack_fatal = nack.fatal;
                        self.stats.next.nack_trimmed = nack.trimmed;
                        self.stats.next.lost_on_path = nack.trimmed_on_path;
                        self.stats.next.nack_recoverable = nack.recoverable;
                        self.stats.next.nack_ignored = !nack.fatal & !lost;
                        if lost {
                            self.step.d.next = LossStep::MarkLost;
                        } else {
                            self.refused.d.next = nack.fatal;
                            self.step.d.next = LossStep::End;
                        }
                    }
                }
            }
            LossStep::FindInFlight => {
                self.window.start.next = true;
                self.step.d.next = LossStep::ComputeExpiry;
            }
            LossStep::ComputeExpiry => {
                self.psn.d.next = window.psn;
                self.from.d.next = window.psn + 1;
                self.sent.d.next = window.sent;
                self.reports_path.d.next = true;
                self.feedback.d.next = SprayFeedback::Timeout;
                self.timed_out.d.next = true;
                if !self.window.busy.val() {
                    if window.found {
                        self.step.d.next = LossStep::CheckExpiry;
                    } else {
                        self.step.d.next = LossStep::End;
                    }
                }
            }
            LossStep::CheckExpiry => {
                if late {
                    self.stats.next.timeout = true;
                    self.stats.next.lost_on_path = true;
                    self.step.d.next = LossStep::MarkLost;
                } else if probes & sent.is_retransmit & exhausts {
                    self.exhausted.d.next = true;
                    self.step.d.next = LossStep::End;
                } else if probes {
                    // Something may find a packet lost each time before its timeout. That must end, too.
                    if sent.is_retransmit & spends_retry {
                        self.state.d.next.retries = state.retries + 1;
                        self.state.d.next.next_retry = self.times.next_retry.val();
                    }
                    self.may_probe.d.next = false;
                    self.state.d.next.delays = delays_after_probe;
                    if is_lost_without_probe(state, sent) {
                        self.stats.next.early_loss = true;
                        self.stats.next.lost_on_path = true;
                        self.reports_path.d.next = false;
                        self.timed_out.d.next = false;
                        self.step.d.next = LossStep::MarkLost;
                    } else {
                        self.step.d.next = LossStep::RequestPath;
                    }
                } else if sent.is_retransmit {
                    self.may_probe.d.next = false;
                    self.state.d.next = rearmed;
                    self.step.d.next = LossStep::FindInFlight;
                } else if may_ask {
                    self.asks.d.next = true;
                    self.state.d.next = rearmed;
                    self.step.d.next = LossStep::RequestPath;
                } else {
                    self.done.next = true;
                    self.result.next.state = rearmed;
                    self.step.d.next = LossStep::Idle;
                }
            }
            LossStep::MarkLost => {
                if !self.spray.busy.val() {
                    self.spray.start.next = self.reports_path.q.val();
                    if exhausts {
                        self.exhausted.d.next = true;
                        self.step.d.next = LossStep::End;
                    } else {
                        if spends_retry {
                            self.state.d.next.retries = state.retries + 1;
                            self.state.d.next.next_retry = self.times.next_retry.val();
                        }
                        if timer {
                            self.state.d.next.losses = lost(state.losses, plane_up, here);
                        }
                        self.window.start.next = true;
                        self.step.d.next = LossStep::ReportLossToCc;
                    }
                }
            }
            LossStep::RequestPath => {
                if !self.spray.busy.val() {
                    self.spray.start.next = takes_path;
                    self.step.d.next = LossStep::TakePath;
                }
            }
            LossStep::TakePath => {
                if !self.spray.busy.val() & asks {
                    self.state.d.next = question;
                    self.step.d.next = LossStep::End;
                } else if !self.spray.busy.val() {
                    self.state.d.next = if takes_path { tail_probe } else { rechecked };
                    self.step.d.next = if sent.is_retransmit {
                        LossStep::FindInFlight
                    } else {
                        LossStep::End
                    };
                }
            }
            LossStep::ReportLossToCc => {
                if !self.window.busy.val() & !self.nscc.busy.val() {
                    self.nscc.start.next = true;
                    if is_tail {
                        self.state.d.next = awaited;
                    }
                    if timer {
                        self.step.d.next = LossStep::FindInFlight;
                    } else {
                        self.step.d.next = LossStep::End;
                    }
                }
            }
            LossStep::End => {
                self.done.next = true;
                self.step.d.next = LossStep::Idle;
            }
        }
        if self.reset.val() {
            self.step.d.next = LossStep::Idle;
        }
    }
}
