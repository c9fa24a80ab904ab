//! What a NACK and passing time change (reference: `MrcRequester::on_nack`, `on_timer`).

use hdl_macros::hdl;
use hdl_tx_window::answer::is_answered_by;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest};
use stellar_wire::hw::spray::{SprayFeedback, SprayOp, SprayRequest};
use stellar_wire::hw::window::{PacketState, SentPacket, WindowOp, WindowRequest, WindowResponse};
use stellar_wire::mrc::NackReason;
use stellar_wire::mtu::LENGTH_BITS;

use crate::deadline::{earlier, reached, timeout};
use crate::records::{Counted, Job, JobKind, Next, Outcome, RequesterState};

/// Where the flow is.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// The packet that a NACK is about comes, or where the window stands.
    Read,
    /// The next packet in flight is asked for.
    Seek,
    /// It comes, and its timeout with it.
    Found,
    /// Whether it is late.
    Judge,
    /// The path is told, once the spray engine is free, and the window.
    Lose,
    /// Congestion control is told, once it is free.
    Mourn,
}

/// Takes in the NACK `job.control`, or expires the packets that are late, lowest PSN first.
#[derive(LogicBlock, Default)]
pub struct LossFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // The sequencer.
    pub start: Signal<In, Bit>,
    pub job: Signal<In, Job>,
    pub done: Signal<Out, Bit>,
    pub outcome: Signal<Out, Outcome>,
    pub counted: Signal<Out, Counted>,

    // Calls.
    pub spray_start: Signal<Out, Bit>,
    pub spray_request: Signal<Out, SprayRequest>,
    pub spray_busy: Signal<In, Bit>,
    pub nscc_start: Signal<Out, Bit>,
    pub nscc_request: Signal<Out, NsccRequest>,
    pub nscc_busy: Signal<In, Bit>,
    pub window_start: Signal<Out, Bit>,
    pub window_request: Signal<Out, WindowRequest>,
    pub window_busy: Signal<In, Bit>,
    pub window: Signal<In, WindowResponse>,

    step: DFF<Step>,
    state: DFF<RequesterState>,
    from: DFF<Bits<24>>,
    psn: DFF<Bits<24>>,
    sent: DFF<SentPacket>,
    due: DFF<Bits<32>>,
    /// The path hears something.
    tells_path: DFF<Bit>,
    feedback: DFF<SprayFeedback>,
    /// The loss costs a retry.
    costs: DFF<Bit>,
}

impl Logic for LossFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, state, from, psn, sent, due, tells_path, feedback, costs);
        let job = self.job.val();
        let neth = job.control.neth;
        let step = self.step.q.val();
        let state = self.state.q.val();
        let sent = self.sent.q.val();
        let window = self.window.val();
        let timer = job.kind == JobKind::Timer;

        // judge_nack
        let known = window.state != PacketState::Free;
        let current =
            (window.state == PacketState::InFlight) & is_answered_by(window.sent, neth.timestamp);
        let fatal = known & (neth.reason == (NackReason::UnexpectedEvent.to_byte() as u64));
        let trimmed = current
            & ((neth.reason == (NackReason::Trimmed.to_byte() as u64))
                | (neth.reason == (NackReason::TrimmedLastHop.to_byte() as u64)));
        let recoverable = current
            & ((neth.reason == (NackReason::NoBitmap.to_byte() as u64))
                | (neth.reason == (NackReason::NoPktBuffer.to_byte() as u64))
                | (neth.reason == (NackReason::NoResource.to_byte() as u64))
                | (neth.reason == (NackReason::PsnOutOfWindow.to_byte() as u64)));

        // judge_timer
        let late = reached(job.now, self.due.q.val());

        let exhausted = self.costs.q.val() & (sent.retries >= job.settings.retry_budget);
        let retries = if self.costs.q.val() {
            sent.retries + 1
        } else {
            sent.retries
        };

        self.spray_start.next = false;
        self.spray_request.next = SprayRequest {
            op: SprayOp::Feedback,
            qp: job.qp,
            index: sent.ev,
            feedback: self.feedback.q.val(),
            now: job.now,
            ..SprayRequest::default()
        };
        self.nscc_start.next = false;
        self.nscc_request.next = NsccRequest {
            op: NsccOp::Loss,
            qp: job.qp,
            now: job.now,
            bytes: bit_cast::<24, LENGTH_BITS>(sent.length),
            ..NsccRequest::default()
        };
        self.window_start.next = false;
        self.window_request.next = WindowRequest {
            op: match step {
                Step::Idle => {
                    if timer {
                        WindowOp::Query
                    } else {
                        WindowOp::Read
                    }
                }
                Step::Seek => WindowOp::NextInFlight,
                _ => WindowOp::Lose,
            },
            qp: job.qp,
            psn: match step {
                Step::Idle => neth.nack_psn,
                Step::Seek => self.from.q.val(),
                _ => self.psn.q.val(),
            },
            sent: SentPacket { retries, ..sent },
            ..WindowRequest::default()
        };

        self.done.next = false;
        self.outcome.next = Outcome {
            state,
            served: false,
            told: false,
            then: Next::Nothing,
            una: bits(0),
            blame: true,
            slot: sent.slot,
            status: bits::<8>(WcStatus::RetryExcErr.code() as u64),
        };
        self.counted.next = Counted::default();

        match step {
            Step::Idle => {
                if self.start.val() {
                    self.state.d.next = job.state;
                    if timer {
                        self.state.d.next.armed = false;
                    }
                    self.window_start.next = true;
                    self.step.d.next = Step::Read;
                }
            }
            Step::Read => {
                self.from.d.next = window.una;
                self.psn.d.next = window.psn;
                self.sent.d.next = window.sent;
                self.tells_path.d.next = trimmed;
                self.feedback.d.next = SprayFeedback::Skip;
                self.costs.d.next = recoverable;
                if !self.window_busy.val() {
                    if timer {
                        self.step.d.next = Step::Seek;
                    } else {
                        self.counted.next.nack_fatal = fatal;
                        self.counted.next.nack_trimmed = trimmed;
                        self.counted.next.nack_recoverable = recoverable;
                        self.counted.next.nack_ignored = !fatal & !trimmed & !recoverable;
                        if trimmed | recoverable {
                            self.step.d.next = Step::Lose;
                        } else {
                            self.done.next = true;
                            self.step.d.next = Step::Idle;
                            if fatal {
                                self.outcome.next.then = Next::Fail;
                                self.outcome.next.slot = window.sent.slot;
                                self.outcome.next.status =
                                    bits::<8>(WcStatus::RemOpErr.code() as u64);
                            }
                        }
                    }
                }
            }
            Step::Seek => {
                self.window_start.next = true;
                self.step.d.next = Step::Found;
            }
            Step::Found => {
                self.psn.d.next = window.psn;
                self.from.d.next = window.psn + 1;
                self.sent.d.next = window.sent;
                self.due.d.next = window.sent.at + timeout(job.settings, window.sent.retries);
                self.tells_path.d.next = true;
                self.feedback.d.next = SprayFeedback::Timeout;
                self.costs.d.next = true;
                if !self.window_busy.val() {
                    if window.found {
                        self.step.d.next = Step::Judge;
                    } else {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::Judge => {
                if late {
                    self.counted.next.timeout = true;
                    self.step.d.next = Step::Lose;
                } else {
                    self.state.d.next.armed = true;
                    self.state.d.next.deadline =
                        earlier(state.armed, state.deadline, self.due.q.val());
                    self.step.d.next = Step::Seek;
                }
            }
            Step::Lose => {
                if !self.spray_busy.val() {
                    self.spray_start.next = self.tells_path.q.val();
                    if exhausted {
                        self.done.next = true;
                        self.outcome.next.then = Next::Fail;
                        self.step.d.next = Step::Idle;
                    } else {
                        self.window_start.next = true;
                        self.step.d.next = Step::Mourn;
                    }
                }
            }
            Step::Mourn => {
                if !self.window_busy.val() & !self.nscc_busy.val() {
                    self.nscc_start.next = true;
                    if timer {
                        self.step.d.next = Step::Seek;
                    } else {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
