//! What concerns a queue pair's messages: doorbells, completion, failure; and its configuration.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest};
use stellar_wire::hw::messages::{MessageOp, MessageRequest, MessageResponse};
use stellar_wire::hw::spray::{SprayOp, SprayRequest};
use stellar_wire::hw::window::{WindowOp, WindowRequest};

use crate::records::{ConfigureKind, Job, JobKind, Next, Outcome, RcState, RequesterState};

/// Where the flow is. What is asked of a server is answered in the step after.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// The server of a configuration is asked, once all are free.
    Configure,
    Configured,
    /// The message table has heard of a doorbell or a fault.
    Acted,
    /// Messages complete in order.
    Complete,
    Completed,
    /// Which message is the oldest now?
    Blame,
    Blamed,
    /// Everything that is left is flushed.
    Flush,
    Flushed,
}

/// Does a job by itself (`Doorbell`, `Fault`, `Flush`, `Configure`), or ends one that another flow began: that flow's outcome says how.
#[derive(LogicBlock, Default)]
pub struct ManageFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // The sequencer.
    pub start: Signal<In, Bit>,
    /// With `start`: ends a job whose flow came to `came_to`.
    pub ends: Signal<In, Bit>,
    pub came_to: Signal<In, Outcome>,
    pub job: Signal<In, Job>,
    /// The policy that comes with a configuration of the spray engine is one that probes.
    pub may_probe: Signal<In, Bit>,
    pub done: Signal<Out, Bit>,
    pub state: Signal<Out, RequesterState>,
    /// With `done`: a doorbell was taken, so the queue pair may have work.
    pub wakes: Signal<Out, Bit>,
    /// With `done`: a doorbell was refused.
    pub refused: Signal<Out, Bit>,
    /// One clock: the queue pair went to error now, for this status.
    pub failed: Signal<Out, Bit>,
    pub failed_status: Signal<Out, Bits<8>>,

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
    pub messages_start: Signal<Out, Bit>,
    pub messages_request: Signal<Out, MessageRequest>,
    pub messages_busy: Signal<In, Bit>,
    pub messages: Signal<In, MessageResponse>,

    step: DFF<Step>,
    now: DFF<RequesterState>,
    una: DFF<Bits<24>>,
    fails_oldest: DFF<Bit>,
    blame: DFF<Bit>,
    slot: DFF<Bits<16>>,
    status: DFF<Bits<8>>,
}

impl Logic for ManageFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            now,
            una,
            fails_oldest,
            blame,
            slot,
            status
        );
        let job = self.job.val();
        let came_to = self.came_to.val();
        let step = self.step.q.val();
        let now = self.now.q.val();
        let messages = self.messages.val();
        let free = !self.spray_busy.val()
            & !self.nscc_busy.val()
            & !self.window_busy.val()
            & !self.messages_busy.val();

        self.spray_start.next = false;
        self.spray_request.next = SprayRequest {
            op: SprayOp::Configure,
            qp: job.qp,
            now: job.now,
            ..SprayRequest::default()
        };
        self.nscc_start.next = false;
        self.nscc_request.next = NsccRequest {
            op: NsccOp::Configure,
            qp: job.qp,
            now: job.now,
            ..NsccRequest::default()
        };
        self.window_start.next = false;
        self.window_request.next = WindowRequest {
            op: WindowOp::Configure,
            qp: job.qp,
            psn: job.settings.first_psn,
            ..WindowRequest::default()
        };
        self.messages_start.next = false;
        self.messages_request.next = MessageRequest {
            op: match step {
                Step::Configure => MessageOp::Configure,
                Step::Idle => {
                    if job.kind == JobKind::Doorbell {
                        MessageOp::Doorbell
                    } else {
                        MessageOp::Fault
                    }
                }
                Step::Complete => MessageOp::Complete,
                Step::Blame => MessageOp::Holding,
                _ => MessageOp::Flush,
            },
            qp: job.qp,
            psn: self.una.q.val(),
            slot: if step == Step::Idle {
                job.slot
            } else {
                self.slot.q.val()
            },
            failed: self.blame.q.val(),
            status: if step == Step::Idle {
                bits::<8>(WcStatus::LocProtErr.code() as u64)
            } else {
                self.status.q.val()
            },
        };
        self.done.next = false;
        self.state.next = now;
        self.wakes.next = false;
        self.refused.next = false;
        self.failed.next = false;
        self.failed_status.next = self.status.q.val();

        match step {
            Step::Idle => {
                if self.start.val() {
                    if self.ends.val() {
                        self.now.d.next = came_to.state;
                        self.una.d.next = came_to.una;
                        self.blame.d.next = came_to.blame;
                        self.slot.d.next = came_to.slot;
                        self.status.d.next = came_to.status;
                        self.fails_oldest.d.next = came_to.then == Next::FailOldest;
                        self.step.d.next = match came_to.then {
                            Next::Fail => Step::Flush,
                            Next::Completing => Step::Completed,
                            _ => Step::Complete,
                        };
                    } else {
                        self.now.d.next = job.state;
                        self.una.d.next = job.state.una;
                        self.fails_oldest.d.next = false;
                        self.slot.d.next = job.slot;
                        self.blame.d.next = false;
                        self.status.d.next = if job.kind == JobKind::Fault {
                            bits::<8>(WcStatus::LocProtErr.code() as u64)
                        } else {
                            bits::<8>(WcStatus::WrFlushErr.code() as u64)
                        };
                        self.messages_start.next =
                            (job.kind == JobKind::Doorbell) | (job.kind == JobKind::Fault);
                        self.step.d.next = match job.kind {
                            JobKind::Configure => Step::Configure,
                            JobKind::Flush => Step::Flush,
                            _ => Step::Acted,
                        };
                    }
                }
            }
            Step::Configure => {
                if free {
                    match job.configure {
                        ConfigureKind::Requester => {
                            self.window_start.next = true;
                            self.now.d.next = RequesterState {
                                failed: false,
                                una: job.settings.first_psn,
                                mpr: job.settings.mpr,
                                armed: false,
                                deadline: bits(0),
                                probe: false,
                                probe_index: bits(0),
                                probe_entropy: bits(0),
                                may_probe: now.may_probe,
                                rc: RcState {
                                    to_send: job.settings.first_psn,
                                    sent: job.settings.first_psn,
                                    retries: bits(0),
                                    silent: bits(0),
                                },
                            };
                        }
                        ConfigureKind::SendQueue => {
                            self.messages_start.next = true;
                        }
                        ConfigureKind::Spray => {
                            self.spray_start.next = true;
                            self.now.d.next.may_probe = self.may_probe.val();
                        }
                        ConfigureKind::Nscc => {
                            self.nscc_start.next = true;
                        }
                    }
                    self.step.d.next = Step::Configured;
                }
            }
            Step::Configured => {
                if free {
                    self.done.next = true;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Acted => {
                if !self.messages_busy.val() {
                    if job.kind == JobKind::Doorbell {
                        self.done.next = true;
                        self.wakes.next = messages.found & !now.failed;
                        self.refused.next = !messages.found;
                        self.step.d.next = Step::Idle;
                    } else {
                        self.step.d.next = Step::Complete;
                    }
                }
            }
            Step::Complete => {
                self.messages_start.next = true;
                self.step.d.next = Step::Completed;
            }
            Step::Completed => {
                if !self.messages_busy.val() {
                    if messages.found & !now.failed {
                        self.blame.d.next = true;
                        self.slot.d.next = messages.slot;
                        self.status.d.next = messages.status;
                        self.step.d.next = Step::Flush;
                    } else if self.fails_oldest.q.val() {
                        self.step.d.next = Step::Blame;
                    } else {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::Blame => {
                self.messages_start.next = true;
                self.step.d.next = Step::Blamed;
            }
            Step::Blamed => {
                self.blame.d.next = messages.found;
                self.slot.d.next = messages.slot;
                if !self.messages_busy.val() {
                    self.step.d.next = Step::Flush;
                }
            }
            Step::Flush => {
                self.messages_start.next = true;
                self.now.d.next.failed = true;
                self.now.d.next.armed = false;
                self.failed.next = !now.failed;
                self.step.d.next = Step::Flushed;
            }
            Step::Flushed => {
                if !self.messages_busy.val() {
                    self.done.next = true;
                    self.step.d.next = Step::Idle;
                }
            }
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
