//! Processes a NACK or an expired timer of an MRC queue pair (reference: `MrcRequester::on_nack`, `on_timer`).

use hdl_macros::hdl;
use hdl_tx_window::result::stamp_matches;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest};
use stellar_wire::hw::spray::{SprayFeedback, SprayOp, SprayRequest, SprayResponse};
use stellar_wire::hw::window::{PacketState, SentPacket, WindowOp, WindowRequest, WindowResponse};
use stellar_wire::hw::Psn;
use stellar_wire::mrc::NackReason;
use stellar_wire::mtu::LENGTH_BITS;

use crate::bundles::{CallSrc, UnitSrc};
use crate::deadline::{earlier, longest_tail, reached, timeout};
use crate::ports::of_port;
use crate::records::{NextAction, Op, OpKind, OpResult, RequesterState, StatPulses, TAIL_BITS};
use crate::silent_plane::{avoids, lost};

/// Step of the flow.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// Waits for the window: the state of the packet that the NACK names, or the position of the window.
    ReadState,
    /// Requests the next packet in flight.
    FindInFlight,
    /// Receives it, and computes when it expires.
    ComputeExpiry,
    /// Checks whether it has expired.
    CheckExpiry,
    /// Reports the loss to the spray engine, once that is free, and to the window.
    MarkLost,
    /// Reports the loss to congestion control, once that is free.
    ReportLossToCc,
    /// A tail probe is due, or a silent plane is asked: requests a path for the probe, once the spray engine is free.
    RequestPath,
    /// The probe waits for the port of its path.
    TakePath,
    /// The operation is done, but that of a timer with nothing late, which ends when that is known. A step of its own, because much depends on the end in the same cycle.
    End,
}

/// Largest log2 of the factor of the time before a tail probe.
const MOST_SHIFT: u64 = 4;

/// Processes the NACK `op.control`, or expires all packets that are late, lowest PSN first. A packet that was sent once and is not late ends the search:
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

    step: DFF<Step>,
    state: DFF<RequesterState>,
    from: DFF<Psn>,
    psn: DFF<Psn>,
    sent: DFF<SentPacket>,
    expires_at: DFF<Bits<32>>,
    /// The queue pair fails, because its peer refused the packet or because its retries are spent.
    refused: DFF<Bit>,
    exhausted: DFF<Bit>,
    /// The loss is reported to the spray engine.
    reports_path: DFF<Bit>,
    feedback: DFF<SprayFeedback>,
    /// The packet was late.
    timed_out: DFF<Bit>,
    /// The next loss spends a retry of the queue pair: it has spent none, or the last one was a timeout ago.
    spends_retry: DFF<Bit>,
    /// If it does, the next one is spent from this time on.
    next_retry: DFF<Bits<32>>,
    /// The probe asks a silent plane for a sign of life.
    asks: DFF<Bit>,
    /// No packet was examined yet that is not late.
    may_probe: DFF<Bit>,
    /// A tail probe that asks for the packet is due.
    probe_at: DFF<Bits<32>>,
    /// The next one is due, if this one is sent now.
    next_probe_at: DFF<Bits<32>>,
}

impl Logic for LossFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            state,
            from,
            psn,
            sent,
            expires_at,
            refused,
            exhausted,
            reports_path,
            feedback,
            timed_out,
            spends_retry,
            next_retry,
            asks,
            may_probe,
            probe_at,
            next_probe_at
        );
        let op = self.op.val();
        let neth = op.control.neth;
        let step = self.step.q.val();
        let state = self.state.q.val();
        let sent = self.sent.q.val();
        let window = self.window.response.val();
        let timer = op.kind == OpKind::Timer;

        // classify the NACK
        let known = window.state != PacketState::Free;
        let current =
            (window.state == PacketState::InFlight) & stamp_matches(window.sent, neth.timestamp);
        let fatal = known & (neth.reason == (NackReason::UnexpectedEvent.to_byte() as u64));
        // At the last hop every path ends in the same queue, so the path is not to blame.
        let trimmed_on_path = current & (neth.reason == (NackReason::Trimmed.to_byte() as u64));
        let trimmed = trimmed_on_path
            | (current & (neth.reason == (NackReason::TrimmedLastHop.to_byte() as u64)));
        let recoverable = current
            & ((neth.reason == (NackReason::NoBitmap.to_byte() as u64))
                | (neth.reason == (NackReason::NoPktBuffer.to_byte() as u64))
                | (neth.reason == (NackReason::NoResource.to_byte() as u64))
                | (neth.reason == (NackReason::PsnOutOfWindow.to_byte() as u64)));

        // check the timer
        let expires_at = self.expires_at.q.val();
        let late = reached(op.now, expires_at);
        let delays = state.delays;
        let may_probe = self.may_probe.q.val() & !delays.spent;
        let probe_at = self.probe_at.q.val();
        let probes = may_probe & reached(op.now, probe_at);
        // The packet is lost, and no probe asks for it: the policy keeps all paths, no probe was in vain of late, and nothing was ever taken for lost too early.
        let trusts_tail = state.path_policy.keeps_all_paths
            & delays.known
            & !delays.wary
            & !delays.spurious
            & !delays.shift.any()
            & !sent.is_retransmit;
        // A tail probe is due before the packet expires. Whether one is comes later than both times.
        let or_probe = earlier(state.armed, state.deadline, probe_at);
        let or_expiry = earlier(state.armed, state.deadline, expires_at);
        let rearmed = RequesterState {
            armed: true,
            deadline: if may_probe { or_probe } else { or_expiry },
            ..state
        };

        // send a tail probe: the next one waits twice as long
        let longest = longest_tail(op.settings.rto);
        let doubled = bit_cast::<21, TAIL_BITS>(delays.tail) << 1;
        let is_last = delays.tail >= longest;
        let tail = if doubled < bit_cast::<21, TAIL_BITS>(longest) {
            doubled.get_bits::<TAIL_BITS>(0)
        } else {
            longest
        };
        let shift = if delays.shift < MOST_SHIFT {
            delays.shift + 1
        } else {
            delays.shift
        };
        let here = sent.ev.get_bit(0);
        let plane_up = self.plane_up.val();
        let other_up = of_port(plane_up, !here) & !avoids(state, plane_up, !here);
        let path = self.spray.response.val();
        let next_check = if delays.spent {
            expires_at
        } else {
            earlier(true, self.next_probe_at.q.val(), expires_at)
        };
        let takes_path = !state.probe;

        // ask a silent plane, if no probe waits
        let asks = self.asks.q.val();
        let asks_plane_1 = avoids(state, plane_up, true) & plane_up.get_bit(1);
        let asks_plane_0 = avoids(state, plane_up, false) & plane_up.get_bit(0);
        let may_ask = (asks_plane_0 | asks_plane_1) & takes_path;
        let asked = RequesterState {
            probe: path.found,
            probe_index: path.index,
            probe_entropy: path.entropy,
            probe_is_tail: false,
            ..state
        };
        let awaited = RequesterState {
            armed: true,
            deadline: next_check,
            ..state
        };
        // A probe that waits already serves as the tail probe.
        let rechecked = RequesterState {
            probe_is_tail: true,
            ..awaited
        };
        let with_path = RequesterState {
            probe: path.found,
            probe_index: path.index,
            probe_entropy: path.entropy,
            ..rechecked
        };
        let probed = if takes_path { with_path } else { rechecked };

        // Spend a retry, except for a packet that was not late. It covers what is lost until the next one is due. State and time have been stable for a cycle when a packet is
        // marked lost.
        let is_tail = timer & !self.timed_out.q.val();
        let spends_retry = self.spends_retry.q.val() & !is_tail;
        let exhausts = spends_retry & (state.retries >= op.settings.retry_budget);
        self.spends_retry.d.next = !state.retries.any() | reached(op.now, state.next_retry);
        self.next_retry.d.next = op.now + timeout(op.settings, state.retries + 1);
        let retries = if self.timed_out.q.val() & !sent.retries.all() {
            sent.retries + 1
        } else {
            sent.retries
        };

        self.spray.start.next = false;
        self.spray.request.next = SprayRequest {
            op: if step == Step::RequestPath {
                SprayOp::Choose
            } else {
                SprayOp::Feedback
            },
            qp: op.qp,
            plane: if asks { asks_plane_1 } else { here ^ other_up },
            count: bits::<6>(1),
            avoid_valid: !asks,
            avoid: sent.ev,
            index: sent.ev,
            feedback: self.feedback.q.val(),
            now: op.now,
            ..SprayRequest::default()
        };
        self.nscc.start.next = false;
        self.nscc.request.next = NsccRequest {
            op: NsccOp::Loss,
            qp: op.qp,
            now: op.now,
            bytes: bit_cast::<24, LENGTH_BITS>(sent.length),
            ..NsccRequest::default()
        };
        self.window.start.next = false;
        self.window.request.next = WindowRequest {
            op: match step {
                Step::Idle => {
                    if timer {
                        WindowOp::Query
                    } else {
                        WindowOp::Read
                    }
                }
                Step::FindInFlight => WindowOp::NextInFlight,
                _ => WindowOp::MarkLost,
            },
            qp: op.qp,
            psn: match step {
                Step::Idle => neth.nack_psn,
                Step::FindInFlight => self.from.q.val(),
                _ => self.psn.q.val(),
            },
            sent: SentPacket { retries, ..sent },
            ..WindowRequest::default()
        };

        let fails = self.refused.q.val() | self.exhausted.q.val();
        self.done.next = false;
        self.fails.next = (step == Step::End) & fails;
        self.result.next = OpResult {
            state,
            packet_sent: false,
            tried_again: false,
            next_action: if fails {
                NextAction::Fail
            } else {
                NextAction::Nothing
            },
            una: bits(0),
            failed_slot_valid: true,
            slot: sent.slot,
            status: if self.refused.q.val() {
                bits::<8>(WcStatus::RemOpErr.code() as u64)
            } else {
                bits::<8>(WcStatus::RetryExcErr.code() as u64)
            },
        };
        self.stats.next = StatPulses::default();
        self.stats.next.lost_index = match step {
            Step::ReadState => window.sent.ev,
            Step::CheckExpiry => sent.ev,
            _ => bits::<8>(0),
        };

        match step {
            Step::Idle => {
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
                    self.step.d.next = Step::ReadState;
                }
            }
            Step::ReadState => {
                self.from.d.next = window.una;
                self.psn.d.next = window.psn;
                self.sent.d.next = window.sent;
                self.reports_path.d.next = trimmed_on_path;
                self.feedback.d.next = SprayFeedback::Trimmed;
                self.timed_out.d.next = false;
                if !self.window.busy.val() {
                    if timer {
                        self.step.d.next = Step::FindInFlight;
                    } else {
                        self.stats.next.nack_fatal = fatal;
                        self.stats.next.nack_trimmed = trimmed;
                        self.stats.next.lost_on_path = trimmed_on_path;
                        self.stats.next.nack_recoverable = recoverable;
                        self.stats.next.nack_ignored = !fatal & !trimmed & !recoverable;
                        if trimmed | recoverable {
                            self.step.d.next = Step::MarkLost;
                        } else {
                            self.refused.d.next = fatal;
                            self.step.d.next = Step::End;
                        }
                    }
                }
            }
            Step::FindInFlight => {
                self.window.start.next = true;
                self.step.d.next = Step::ComputeExpiry;
            }
            Step::ComputeExpiry => {
                self.psn.d.next = window.psn;
                self.from.d.next = window.psn + 1;
                self.sent.d.next = window.sent;
                self.expires_at.d.next = window.sent.at + timeout(op.settings, window.sent.retries);
                self.probe_at.d.next =
                    window.sent.at + bit_cast::<32, TAIL_BITS>(state.delays.tail);
                self.reports_path.d.next = true;
                self.feedback.d.next = SprayFeedback::Timeout;
                self.timed_out.d.next = true;
                if !self.window.busy.val() {
                    if window.found {
                        self.step.d.next = Step::CheckExpiry;
                    } else {
                        self.step.d.next = Step::End;
                    }
                }
            }
            Step::CheckExpiry => {
                if late {
                    self.stats.next.timeout = true;
                    self.stats.next.lost_on_path = true;
                    self.step.d.next = Step::MarkLost;
                } else if probes & sent.is_retransmit & exhausts {
                    self.exhausted.d.next = true;
                    self.step.d.next = Step::End;
                } else if probes {
                    // Something may find a packet lost each time before its timeout. That must end, too.
                    if sent.is_retransmit & spends_retry {
                        self.state.d.next.retries = state.retries + 1;
                        self.state.d.next.next_retry = self.next_retry.q.val();
                    }
                    self.may_probe.d.next = false;
                    self.state.d.next.delays.spent = is_last;
                    self.state.d.next.delays.tail = tail;
                    self.state.d.next.delays.shift = shift;
                    if trusts_tail {
                        self.stats.next.early_loss = true;
                        self.stats.next.lost_on_path = true;
                        self.reports_path.d.next = false;
                        self.timed_out.d.next = false;
                        self.step.d.next = Step::MarkLost;
                    } else {
                        self.step.d.next = Step::RequestPath;
                    }
                } else if sent.is_retransmit {
                    self.may_probe.d.next = false;
                    self.state.d.next = rearmed;
                    self.step.d.next = Step::FindInFlight;
                } else if may_ask {
                    self.asks.d.next = true;
                    self.state.d.next = rearmed;
                    self.step.d.next = Step::RequestPath;
                } else {
                    self.done.next = true;
                    self.result.next.state = rearmed;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::MarkLost => {
                if !self.spray.busy.val() {
                    self.spray.start.next = self.reports_path.q.val();
                    if exhausts {
                        self.exhausted.d.next = true;
                        self.step.d.next = Step::End;
                    } else {
                        if spends_retry {
                            self.state.d.next.retries = state.retries + 1;
                            self.state.d.next.next_retry = self.next_retry.q.val();
                        }
                        if timer {
                            self.state.d.next.losses = lost(state.losses, plane_up, here);
                        }
                        self.window.start.next = true;
                        self.step.d.next = Step::ReportLossToCc;
                    }
                }
            }
            Step::RequestPath => {
                if !self.spray.busy.val() {
                    self.spray.start.next = takes_path;
                    self.step.d.next = Step::TakePath;
                }
            }
            Step::TakePath => {
                if !self.spray.busy.val() & asks {
                    self.state.d.next = asked;
                    self.step.d.next = Step::End;
                } else if !self.spray.busy.val() {
                    self.state.d.next = probed;
                    self.step.d.next = if sent.is_retransmit {
                        Step::FindInFlight
                    } else {
                        Step::End
                    };
                }
            }
            Step::ReportLossToCc => {
                if !self.window.busy.val() & !self.nscc.busy.val() {
                    self.nscc.start.next = true;
                    if is_tail {
                        self.state.d.next = awaited;
                    }
                    if timer {
                        self.step.d.next = Step::FindInFlight;
                    } else {
                        self.step.d.next = Step::End;
                    }
                }
            }
            Step::End => {
                self.done.next = true;
                self.step.d.next = Step::Idle;
            }
        }
        self.next_probe_at.d.next = op.now + bit_cast::<32, TAIL_BITS>(delays.tail);
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
