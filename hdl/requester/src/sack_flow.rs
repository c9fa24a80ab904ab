//! Processes a SACK (reference: `MrcRequester::on_sack`).

use hdl_congestion::saturated_rtt;
use hdl_macros::{clock_reset, hdl, hdl_fn};
use hdl_primitives::{FlowSrc, Src};
use hdl_spray_engine::entropy_lookup::Reflected;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest};
use stellar_wire::hw::messages::{MessageOp, MessageRequest, MessageResponse};
use stellar_wire::hw::requester::ControlPacket;
use stellar_wire::hw::spray::{PathAckRecord, SprayFeedback, SprayOp, SprayRequest};
use stellar_wire::hw::tx::TxSeth;
use stellar_wire::hw::window::{
    PacketState, SackVerdict, SentPacket, WindowOp, WindowRequest, WindowResponse,
};
use stellar_wire::hw::Psn;
use stellar_wire::mrc::PathHint;
use stellar_wire::mtu::LENGTH_BITS;

use crate::bundles::{CallSrc, UnitSrc};
use crate::deadline::reached;
use crate::delay_estimate::{DelayEstimate, REORDERING_BITS};
use crate::probe_answer::probe_answer;
use crate::records::{NextAction, Op, OpResult, RequesterState, StatPulses};
use crate::silent_plane::{heard, lost};

/// Step of the flow.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// The window processes the SACK.
    ApplyToWindow,
    /// Reports path feedback, once the FIFO has space, and a sample to congestion control, once that is free.
    ReportFeedback,
    /// The SACK responds to a probe: reports that the probed entropy value works.
    ReportProbe,
    /// The probe was marked: reports that too.
    ReportProbeMark,
    /// Early loss detection: requests the next packet in flight.
    FindInFlight,
    /// Checks whether it is lost.
    CheckEarlyLoss,
    /// The window marks it lost.
    MarkLost,
    /// Reports the loss to congestion control, once that is free.
    ReportLossToCc,
    /// The queue pair fails: a message that was completed in the background has failed.
    Fail,
}

/// log2 of the unit of the MPR field: 128 packets.
const MPR_SHIFT: u64 = 7;

/// Adds a signed offset to a PSN. Levels: a carry chain.
#[hdl_fn]
pub fn offset(psn: Psn, by: Bits<16>) -> Psn {
    let sign = if by.get_bit(15) {
        bits::<24>(0xff_0000)
    } else {
        bits::<24>(0)
    };
    psn + (bit_cast::<24, 16>(by) | sign)
}

/// Returns the PSN that caused the SACK. A response to a probe names none, because its offset field holds the probe's identifier. Levels: 1 behind a carry
/// chain.
#[hdl_fn]
fn answered_psn(seth: TxSeth) -> Psn {
    if seth.probe_response {
        seth.cack_psn
    } else {
        offset(seth.cack_psn, seth.ack_psn_offset)
    }
}

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
    step: DFF<Step>,
    state: DFF<RequesterState>,
    accepted: DFF<Bit>,
    /// The SACK moved `una`, so messages may complete.
    una_moved: DFF<Bit>,
    /// Messages complete up to `una`. It waits a cycle, because it is known late.
    completes: DFF<Bit>,
    /// Feedback had space, and none was sent, in the cycle before. The end of an operation depends on it, and much on that in the same cycle.
    feedback_free: DFF<Bit>,
    /// The packet that is answered does not come before the first one that is not acknowledged.
    is_ahead: DFF<Bit>,
    answered: DFF<Bit>,
    /// Send time of the packet or probe that caused the SACK.
    at: DFF<Bits<32>>,
    /// Send time of the probe that the SACK answers, if it does.
    probed_at: DFF<Bits<32>>,
    /// The packet had been sent again.
    is_retransmit: DFF<Bit>,
    reordering: DFF<Bits<REORDERING_BITS>>,
    /// What was sent after this is not lost, however late it is.
    horizon: DFF<Bits<32>>,
    /// What the SACK shows to be missing: this PSN, those before the limit, and those of the bitmap.
    first_missing: DFF<Psn>,
    limit: DFF<Psn>,
    base: DFF<Psn>,
    /// The burst when early loss detection requested a packet.
    beside_burst: DFF<Bit>,
    burst_first: DFF<Psn>,
    una: DFF<Psn>,
    in_flight: DFF<Bits<24>>,
    next_psn: DFF<Psn>,
    /// Packets that are acknowledged for the first time.
    packets: DFF<Bits<13>>,
    /// Congestion control gets a sample.
    sample: DFF<Bit>,
    bytes: DFF<Bits<24>>,
    rtt: DFF<Bits<32>>,
    /// First PSN that early loss detection has not checked.
    from: DFF<Psn>,
    candidate: DFF<SentPacket>,
}

impl Logic for SackFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            state,
            accepted,
            una_moved,
            completes,
            feedback_free,
            answered,
            at,
            una,
            in_flight,
            sample
        );
        dff_setup!(self, clock, bytes, rtt, from, candidate, next_psn, packets);
        dff_setup!(self, clock, probed_at, is_retransmit, reordering, horizon);
        dff_setup!(
            self,
            clock,
            first_missing,
            limit,
            base,
            beside_burst,
            burst_first,
            is_ahead
        );
        clock_reset!(self, estimate);
        let op = self.op.val();
        let seth = op.control.seth;
        let step = self.step.q.val();
        let window = self.window.response.val();
        let candidate = self.candidate.q.val();
        let una = self.una.q.val();

        // select the SACK that the window gets
        let window_control = if step == Step::ReportFeedback {
            self.next_control.val()
        } else {
            op.control
        };

        // decode
        let acked = answered_psn(seth);
        let marked = seth.path_hint == (PathHint::SkipOnce.code() as u64);
        let good = seth.path_hint == (PathHint::Good.code() as u64);
        let hint = if good {
            SprayFeedback::Good
        } else if marked {
            SprayFeedback::Skip
        } else {
            SprayFeedback::AlwaysSkip
        };
        let accepted = self.accepted.q.val();
        let probe = probe_answer(seth);
        let probe_works = seth.probe_response & probe.works & accepted;

        // limit the MPR
        let sack_mpr = bit_cast::<16, 8>(seth.mpr) << MPR_SHIFT;
        let limit = op.settings.mpr;
        let mpr = if sack_mpr < bit_cast::<16, 13>(limit) {
            sack_mpr.get_bits::<13>(0)
        } else {
            limit
        };

        // estimate delays
        let state = self.state.q.val();
        let chains = (step == Step::ReportFeedback) & self.chains_next.val();
        self.estimate.restart.next = (step == Step::Idle) | chains;
        self.estimate.state.next = state.delays;
        self.estimate.rto.next = op.settings.rto;
        let folded = self.estimate.folded.val();
        let rtt = self.rtt.q.val();
        let sample = saturated_rtt(rtt);
        let mut sampled = state;
        sampled.delays.sampled = self.answered.q.val();
        sampled.delays.sample = sample;
        let recorded = if accepted { sampled } else { state };

        // detect early loss: what was sent before the horizon, and the SACK shows to be missing
        let threshold = op.settings.early_loss;
        let stamp = op.control.cc_state.timestamp;
        let flight_time = op.now.get_bits::<16>(0) - stamp;
        self.probed_at.d.next = op.now - bit_cast::<32, 16>(flight_time);
        self.horizon.d.next =
            self.at.q.val() - bit_cast::<32, REORDERING_BITS>(self.reordering.q.val());
        self.first_missing.d.next = seth.cack_psn + 1;
        self.limit.d.next = acked - bit_cast::<24, 10>(threshold);
        self.base.d.next = offset(seth.cack_psn, seth.sack_offset);
        // If nothing before the packet is outstanding, what is in flight left after it. That holds for a first transmission.
        let tells = (self.answered.q.val() & (self.is_retransmit.q.val() | self.is_ahead.q.val()))
            | (accepted & seth.probe_response & probe.is_tail);
        let checks_early_loss = tells & threshold.any() & state.delays.known;
        let burst_distance = window.psn - self.burst_first.q.val();
        let is_told = window.found & !(self.beside_burst.q.val() & !burst_distance.get_bit(23));
        let is_old = reached(self.horizon.q.val(), window.sent.at);
        let base = self.base.q.val();
        let past_base = window.psn - base;
        let past_limit = self.limit.q.val() - window.psn;
        let unsent_base = base - window.next_psn;
        let shows_missing = (window.psn == self.first_missing.q.val())
            | !past_base.get_bits::<18>(6).any()
            | !past_limit.get_bit(23);
        let skips = past_base.get_bit(23) & unsent_base.get_bit(23);

        self.feedback.valid.next = false;
        self.feedback.record.next = SprayRequest {
            op: if (step == Step::ReportProbe) | (step == Step::ReportProbeMark) {
                SprayOp::Feedback
            } else {
                SprayOp::Ack
            },
            qp: op.qp,
            index: probe.index,
            feedback: if step == Step::ReportProbe {
                SprayFeedback::ProbeAnswered
            } else {
                SprayFeedback::Skip
            },
            ack: PathAckRecord {
                entropy: op.control.reflected,
                hint,
                sampled: self.answered.q.val(),
                round_trip: if seth.probe_response {
                    flight_time
                } else {
                    sample
                },
                packets: self.packets.q.val(),
                una,
                next_psn: self.next_psn.q.val(),
                in_flight: self.in_flight.q.val(),
            },
            now: op.now,
            ..SprayRequest::default()
        };
        let tells_path = accepted & !seth.probe_response & (!good | state.path_policy.hears_all);
        self.reverse_ev.valid.next = false;
        self.reverse_ev.record.next = Reflected {
            qp: op.qp,
            entropy: op.control.reflected,
            marked,
        };
        self.nscc.start.next = false;
        self.nscc.request.next = NsccRequest {
            op: if step == Step::ReportFeedback {
                NsccOp::Ack
            } else {
                NsccOp::Loss
            },
            qp: op.qp,
            now: op.now,
            sample: self.sample.q.val(),
            bytes: if step == Step::ReportFeedback {
                self.bytes.q.val()
            } else {
                bit_cast::<24, LENGTH_BITS>(candidate.length)
            },
            rtt_valid: self.answered.q.val(),
            rtt: self.rtt.q.val(),
            ecn: marked,
            in_flight: self.in_flight.q.val(),
            penalty: op.control.cc_state.rcv_cwnd_pen,
            ..NsccRequest::default()
        };
        self.window.start.next = false;
        self.window.request.next = WindowRequest {
            op: match step {
                Step::Idle | Step::ReportFeedback => WindowOp::Sack,
                Step::FindInFlight => WindowOp::NextInFlight,
                _ => WindowOp::MarkLost,
            },
            qp: op.qp,
            psn: if step == Step::FindInFlight {
                self.from.q.val()
            } else {
                window.psn
            },
            sent: window.sent,
            count: bits::<6>(0),
            bytes: bits::<24>(0),
            cack: window_control.seth.cack_psn,
            acked: answered_psn(window_control.seth),
            base: offset(
                window_control.seth.cack_psn,
                window_control.seth.sack_offset,
            ),
            bitmap: window_control.seth.bitmap,
            stamp: window_control.cc_state.timestamp,
        };

        self.feedback_free.d.next = self.feedback.ready.val();
        self.completes.d.next = false;
        self.messages.start.next = self.completes.q.val();
        self.messages.request.next = MessageRequest {
            op: MessageOp::Complete,
            qp: op.qp,
            psn: una,
            ..MessageRequest::default()
        };

        self.done.next = false;
        self.may_chain.next = false;
        self.result.next = OpResult {
            state,
            packet_sent: false,
            tried_again: false,
            next_action: if self.una_moved.q.val() {
                NextAction::Completing
            } else {
                NextAction::Nothing
            },
            una,
            failed_slot_valid: true,
            slot: self.messages.response.val().slot,
            status: self.messages.response.val().status,
        };
        self.stats.next = StatPulses::default();
        self.stats.next.lost_index = if step == Step::CheckEarlyLoss {
            window.sent.ev
        } else {
            bits::<8>(0)
        };

        match step {
            Step::Idle => {
                if self.start.val() {
                    self.state.d.next = op.state;
                    self.window.start.next = true;
                    self.step.d.next = Step::ApplyToWindow;
                }
            }
            Step::ApplyToWindow => {
                let is_accepted = window.verdict == SackVerdict::Accepted;
                let moves = is_accepted & (window.una != self.state.q.val().una);
                self.accepted.d.next = is_accepted;
                self.una_moved.d.next = moves;
                self.answered.d.next = is_accepted & window.answered & !seth.probe_response;
                self.at.d.next = if seth.probe_response {
                    self.probed_at.q.val()
                } else {
                    window.sent.at
                };
                self.is_retransmit.d.next = window.sent.is_retransmit;
                self.reordering.d.next = self.estimate.reordering.val();
                let outstanding =
                    (window.state == PacketState::InFlight) | (window.state == PacketState::Lost);
                let not_last = if outstanding {
                    !window.answered
                } else {
                    stamp.any()
                };
                let any_new = window.packets.any();
                let ordinary = any_new & !seth.probe_response;
                self.una.d.next = window.una;
                self.is_ahead.d.next = !(acked - window.una).get_bit(23);
                self.from.d.next = window.una;
                self.in_flight.d.next = window.in_flight;
                self.next_psn.d.next = window.next_psn;
                self.packets.d.next = window.packets;
                self.sample.d.next = window.packets.any() | (window.state != PacketState::Free);
                self.bytes.d.next = window.bytes;
                self.rtt.d.next = op.now - window.sent.at;
                if self.window.busy.val() | self.messages.busy.val() | !self.estimate.valid.val() {
                    self.step.d.next = Step::ApplyToWindow;
                } else if self.completing.val() & self.messages.response.val().found {
                    self.step.d.next = Step::Fail;
                } else {
                    self.completes.d.next = moves;
                    self.stats.next.sack = is_accepted;
                    self.stats.next.sack_out_of_window = window.verdict == SackVerdict::OutOfWindow;
                    self.stats.next.sack_inconsistent = window.verdict == SackVerdict::Inconsistent;
                    self.stats.next.stale_sack =
                        is_accepted & window.overtaken & !window.packets.any();
                    self.stats.next.ecn_mark = is_accepted & marked & !seth.probe_response;
                    self.stats.next.probe_answer = is_accepted & seth.probe_response;
                    if is_accepted {
                        self.stats.next.spurious = window.spurious;
                        self.state.d.next.una = window.una;
                        // Progress restores the retry budget.
                        if moves {
                            self.state.d.next.retries = bits::<8>(0);
                        }
                        if window.answered & !seth.probe_response {
                            self.state.d.next.losses =
                                heard(state.losses, window.sent.ev.get_bit(0));
                        }
                        self.state.d.next.delays = folded;
                        self.state.d.next.delays.spurious =
                            window.spurious.any() | (not_last & !seth.probe_response);
                        self.state.d.next.delays.spent = folded.spent & !any_new;
                        if ordinary & folded.shift.any() {
                            self.state.d.next.delays.shift = folded.shift - 1;
                        }
                        if seth.mpr.any() {
                            self.state.d.next.mpr = mpr;
                        }
                    }
                    self.step.d.next = Step::ReportFeedback;
                }
            }
            Step::ReportFeedback => {
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
                        self.step.d.next = Step::ReportProbe;
                    } else if checks_early_loss {
                        self.step.d.next = Step::FindInFlight;
                    } else {
                        self.done.next = true;
                        self.may_chain.next = true;
                        self.window.start.next = self.chains_next.val();
                        self.step.d.next = if self.chains_next.val() {
                            Step::ApplyToWindow
                        } else {
                            Step::Idle
                        };
                    }
                }
            }
            Step::ReportProbe | Step::ReportProbeMark => {
                if self.feedback_free.q.val() {
                    self.feedback.valid.next = true;
                    self.feedback_free.d.next = false;
                    if (step == Step::ReportProbe) & marked {
                        self.step.d.next = Step::ReportProbeMark;
                    } else if checks_early_loss {
                        self.step.d.next = Step::FindInFlight;
                    } else {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::FindInFlight => {
                self.beside_burst.d.next = self.burst_active.val();
                self.burst_first.d.next = self.burst_first_psn.val();
                self.window.start.next = true;
                self.step.d.next = Step::CheckEarlyLoss;
            }
            Step::CheckEarlyLoss => {
                self.candidate.d.next = window.sent;
                self.from.d.next = window.psn + 1;
                if !self.window.busy.val() {
                    if is_told & is_old & shows_missing {
                        self.window.start.next = true;
                        self.stats.next.early_loss = true;
                        self.stats.next.lost_on_path = true;
                        self.state.d.next.delays.shift = bits::<3>(0);
                        self.state.d.next.losses =
                            lost(state.losses, self.plane_up.val(), window.sent.ev.get_bit(0));
                        self.step.d.next = Step::MarkLost;
                    } else if is_told & is_old & skips {
                        // Nothing between this packet and the bitmap is told.
                        self.from.d.next = base;
                        self.step.d.next = Step::FindInFlight;
                    } else if is_told & !is_old & window.sent.is_retransmit {
                        self.step.d.next = Step::FindInFlight;
                    } else {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::MarkLost => {
                if !self.window.busy.val() {
                    self.step.d.next = Step::ReportLossToCc;
                }
            }
            Step::ReportLossToCc => {
                if !self.nscc.busy.val() {
                    self.nscc.start.next = true;
                    self.step.d.next = Step::FindInFlight;
                }
            }
            Step::Fail => {
                self.done.next = true;
                self.result.next.next_action = NextAction::Fail;
                self.step.d.next = Step::Idle;
            }
        }
        self.fails.next = step == Step::Fail;
        if self.reset.val() {
            self.completes.d.next = false;
            self.feedback_free.d.next = false;
            self.step.d.next = Step::Idle;
        }
    }
}
