//! Processes a SACK (reference: `MrcRequester::on_sack`).

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{FlowSrc, Src};
use hdl_spray_engine::entropy_lookup::Reflected;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::NsccRequest;
use stellar_wire::hw::messages::{MessageRequest, MessageResponse};
use stellar_wire::hw::requester::ControlPacket;
use stellar_wire::hw::spray::{SprayFeedback, SprayRequest};
use stellar_wire::hw::window::{WindowRequest, WindowResponse};
use stellar_wire::hw::Psn;

use crate::applied_sack::{applied_sack, may_show_losses, with_sample, AppliedSack};
use crate::bundles::{CallSrc, UnitSrc};
use crate::burst_requests::completion_request;
use crate::delay_estimate::{DelayEstimate, REORDERING_BITS};
use crate::early_loss_search::EarlyLossSearch;
use crate::probe_answer::probe_answer;
use crate::records::{NextAction, Op, OpResult, RequesterState, StatPulses};
use crate::sack_effect::{sack_stats, state_after_sack};
use crate::sack_fields::{path_hint, sack_request};
use crate::sack_reports::{congestion_report, path_report, ProbeReport};
use crate::sack_step::SackStep;
use crate::silent_plane::{heard, lost};

/// Processes the SACK `op.control`.
#[derive(LogicBlock, Default)]
pub struct SackFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Sequencer.
    pub start: Signal<In, Bit>,
    pub op: Signal<In, Op>,
    /// Valid with `done`: the next operation is the SACK `next_control` of the same queue pair, and starts in this cycle.
    pub chains_next: Signal<In, Bit>,
    pub next_control: Signal<In, ControlPacket>,
    pub done: Signal<Out, Bit>,
    /// High with `done` if the queue pair fails. It comes early in a cycle, `done` late.
    pub fails: Signal<Out, Bit>,
    /// Valid with `done`: the next SACK may start in this cycle.
    pub may_chain: Signal<Out, Bit>,
    pub result: Signal<Out, OpResult>,
    pub stats: Signal<Out, StatPulses>,

    // Functional units.
    pub nscc: CallSrc<NsccRequest>,
    pub window: UnitSrc<WindowRequest, WindowResponse>,
    /// The flow does not wait for the response.
    pub messages: UnitSrc<MessageRequest, MessageResponse>,
    /// The message table still processes the previous SACK. If that moves the queue pair to the error state, this SACK changes nothing.
    pub completing: Signal<In, Bit>,

    /// Bit p: port p can send.
    pub plane_up: Signal<In, Bits<2>>,

    /// A burst of the queue pair is sent in the background, from this PSN on. The records of its packets are not written yet.
    pub burst_active: Signal<In, Bit>,
    pub burst_first_psn: Signal<In, Psn>,

    // Path feedback. The spray engine may be busy with a burst, so the feedback goes through a FIFO. It is accepted when valid and ready are high.
    pub feedback: Src<SprayRequest>,
    /// High for one cycle: the SACK reflects this entropy value as good, or a packet's with a mark.
    pub reverse_ev: FlowSrc<Reflected>,

    estimate: DelayEstimate,
    search: EarlyLossSearch,
    step: DFF<SackStep>,
    state: DFF<RequesterState>,
    /// The SACK, as the window has processed it.
    sack: DFF<AppliedSack>,
    /// Messages complete up to `una`. It waits a cycle, because it is known late.
    completes: DFF<Bit>,
    /// Feedback had space, and none was sent, in the cycle before. The end of an operation depends on it, and much on that in the same cycle.
    feedback_free: DFF<Bit>,
    /// Send time of the probe that the SACK answers, if it does.
    probed_at: DFF<Bits<32>>,
    reordering: DFF<Bits<REORDERING_BITS>>,
}

impl Logic for SackFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            state,
            sack,
            completes,
            feedback_free,
            probed_at,
            reordering
        );
        clock_reset!(self, estimate, search);
        let op = self.op.val();
        let seth = op.control.seth;
        let step = self.step.q.val();
        let window = self.window.response.val();
        let sack = self.sack.q.val();
        let accepted = sack.accepted;
        let state = self.state.q.val();

        // decode
        let hint = path_hint(seth);
        let marked = hint == SprayFeedback::Skip;
        let good = hint == SprayFeedback::Good;
        let probe = probe_answer(seth);
        let probe_works = seth.probe_response & probe.works & accepted;
        let flight_time = op.now.get_bits::<16>(0) - op.control.cc_state.timestamp;

        // estimate delays
        let chains = (step == SackStep::ReportFeedback) & self.chains_next.val();
        self.estimate.restart.next = (step == SackStep::Idle) | chains;
        self.estimate.state.next = state.delays;
        self.estimate.rto.next = op.settings.rto;
        let recorded = with_sample(state, sack);

        // detect early loss
        self.probed_at.d.next = op.now - bit_cast::<32, 16>(flight_time);
        let checks_early_loss = may_show_losses(op, sack, probe, state.delays.known);
        self.search.at.next = sack.at;
        self.search.first.next = sack.una;
        self.search.start.next = false;
        self.search.nscc_free.next = !self.nscc.busy.val();
        join!(
            self,
            op => search.op,
            reordering.q => search.reordering,
            burst_active => search.burst_active,
            burst_first_psn => search.burst_first_psn,
            window.busy => search.window.busy,
            window.response => search.window.response,
        );

        // report
        self.feedback.valid.next = false;
        let of_probe = ProbeReport {
            answered: step == SackStep::ReportProbe,
            marked: step == SackStep::ReportProbeMark,
            index: probe.index,
        };
        self.feedback.record.next = path_report(op, sack, of_probe, flight_time);
        let tells_path = accepted & !seth.probe_response & (!good | state.path_policy.hears_all);
        self.reverse_ev.valid.next = false;
        self.reverse_ev.record.next = Reflected {
            qp: op.qp,
            entropy: op.control.reflected,
            marked,
        };
        self.nscc.start.next = self.search.reports.val();
        self.nscc.request.next = congestion_report(
            op,
            sack,
            self.search.in_progress.val(),
            self.search.lost.val(),
        );

        // The window gets this SACK, or the next one at once.
        let window_control = if step == SackStep::ReportFeedback {
            self.next_control.val()
        } else {
            op.control
        };
        let search_request = self.search.window.request.val();
        self.window.start.next = self.search.window.start.val();
        self.window.request.next = sack_request(op.qp, window_control);
        self.window.request.next.psn = search_request.psn;
        self.window.request.next.sent = search_request.sent;
        if self.search.in_progress.val() {
            self.window.request.next.op = search_request.op;
        }

        self.feedback_free.d.next = self.feedback.ready.val();
        self.completes.d.next = false;
        self.messages.start.next = self.completes.q.val();
        self.messages.request.next = completion_request(op, sack.una);

        self.done.next = false;
        self.may_chain.next = false;
        self.result.next = OpResult {
            state,
            packet_sent: false,
            tried_again: false,
            next_action: if sack.una_moved {
                NextAction::Completing
            } else {
                NextAction::Nothing
            },
            una: sack.una,
            failed_slot_valid: true,
            slot: self.messages.response.val().slot,
            status: self.messages.response.val().status,
        };
        self.stats.next = StatPulses::default();
        self.stats.next.lost_index = if self.search.checks.val() {
            window.sent.ev
        } else {
            bits::<8>(0)
        };

        let applied = applied_sack(op, state, window, self.probed_at.q.val());
        let sack_stats = sack_stats(op, window);
        let state_after_sack = state_after_sack(op, state, window, self.estimate.folded.val());
        let losses_with_last = lost(state.losses, self.plane_up.val(), window.sent.ev.get_bit(0));
        match step {
            SackStep::Idle => {
                if self.start.val() {
                    self.state.d.next = op.state;
                    self.window.start.next = true;
                    self.step.d.next = SackStep::ApplyToWindow;
                }
            }
            SackStep::ApplyToWindow => {
                self.sack.d.next = applied;
                self.reordering.d.next = self.estimate.reordering.val();
                if self.window.busy.val() | self.messages.busy.val() | !self.estimate.valid.val() {
                    self.step.d.next = SackStep::ApplyToWindow;
                } else if self.completing.val() & self.messages.response.val().found {
                    self.step.d.next = SackStep::Fail;
                } else {
                    self.completes.d.next = applied.una_moved;
                    self.stats.next = sack_stats;
                    if applied.accepted {
                        self.state.d.next = state_after_sack;
                    }
                    self.step.d.next = SackStep::ReportFeedback;
                }
            }
            SackStep::ReportFeedback => {
                self.state.d.next = recorded;
                self.result.next.state = recorded;
                if self.feedback_free.q.val() & (!accepted | !self.nscc.busy.val()) {
                    self.feedback.valid.next = tells_path;
                    self.feedback_free.d.next = false;
                    self.reverse_ev.valid.next =
                        accepted & (good | (marked & !seth.probe_response));
                    self.nscc.start.next = accepted;
                    if probe_works & probe.known {
                        self.state.d.next.losses = heard(state.losses, probe.index.get_bit(0));
                        self.step.d.next = SackStep::ReportProbe;
                    } else if checks_early_loss {
                        self.search.start.next = true;
                        self.step.d.next = SackStep::DetectEarlyLoss;
                    } else {
                        self.done.next = true;
                        self.may_chain.next = true;
                        self.window.start.next = self.chains_next.val();
                        self.step.d.next = if self.chains_next.val() {
                            SackStep::ApplyToWindow
                        } else {
                            SackStep::Idle
                        };
                    }
                }
            }
            SackStep::ReportProbe | SackStep::ReportProbeMark => {
                if self.feedback_free.q.val() {
                    self.feedback.valid.next = true;
                    self.feedback_free.d.next = false;
                    if (step == SackStep::ReportProbe) & marked {
                        self.step.d.next = SackStep::ReportProbeMark;
                    } else if checks_early_loss {
                        self.search.start.next = true;
                        self.step.d.next = SackStep::DetectEarlyLoss;
                    } else {
                        self.done.next = true;
                        self.step.d.next = SackStep::Idle;
                    }
                }
            }
            SackStep::DetectEarlyLoss => {
                if self.search.finds.val() {
                    self.stats.next.early_loss = true;
                    self.stats.next.lost_on_path = true;
                    self.state.d.next.delays.shift = bits::<3>(0);
                    self.state.d.next.losses = losses_with_last;
                }
                if self.search.done.val() {
                    self.done.next = true;
                    self.step.d.next = SackStep::Idle;
                }
            }
            SackStep::Fail => {
                self.done.next = true;
                self.result.next.next_action = NextAction::Fail;
                self.step.d.next = SackStep::Idle;
            }
        }
        self.fails.next = step == SackStep::Fail;
        if self.reset.val() {
            self.completes.d.next = false;
            self.feedback_free.d.next = false;
            self.step.d.next = SackStep::Idle;
        }
    }
}
