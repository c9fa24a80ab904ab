//! Administers a queue pair: doorbells, completion of messages, failure, configuration.

use hdl_macros::hdl;
use hdl_primitives::FlowSnk;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest};
use stellar_wire::hw::messages::{MessageOp, MessageRequest, MessageResponse};
use stellar_wire::hw::spray::{PathUse, SprayRequest, SprayResponse};
use stellar_wire::hw::window::{WindowOp, WindowRequest};
use stellar_wire::hw::{Psn, SqIndex};

use crate::bundles::{CallSrc, UnitSrc};
use crate::configured_state::{after_path_use, configured_state, path_use_request};
use crate::records::{ConfigureKind, NextAction, Op, OpKind, OpResult, PathPolicy, RequesterState};

/// Step of the flow. A step that issues a request is followed by one that waits for the response.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// Configures the unit, once all units are free.
    ConfigureUnit,
    WaitConfigured,
    /// Waits for the response to a doorbell, and takes it as it arrives.
    WaitDoorbell,
    /// Waits for the response to a fault.
    WaitFault,
    /// Completes messages in order.
    Complete,
    WaitCompleted,
    /// Looks up the oldest message.
    LookupOldest,
    WaitOldest,
    /// Flushes all remaining messages.
    Flush,
    WaitFlushed,
}

/// Executes `Doorbell`, `Fault`, `Flush` and `Configure`. For an operation of another flow it executes the `next_action` of its result.
#[derive(LogicBlock, Default)]
pub struct QpAdminFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Sequencer.
    /// Executes `op`.
    pub start: Signal<In, Bit>,
    /// Another flow has executed the operation, with the result `op_result`. It comes late in a cycle, so no request depends on it in that cycle.
    pub op_done: Signal<In, Bit>,
    pub op_result: Signal<In, OpResult>,
    /// State of the queue pair, in the cycle after `start` or `op_done`: that of `op_result` comes too late in its cycle.
    pub handed: Signal<In, RequesterState>,
    pub op: Signal<In, Op>,
    /// Valid with a configuration of the spray engine.
    pub path_policy: Signal<In, PathPolicy>,
    /// Valid with a change of one path.
    pub path_use: Signal<In, PathUse>,
    pub done: Signal<Out, Bit>,
    pub state: Signal<Out, RequesterState>,
    /// The flow is done, and the queue pair has not failed. This does not wait for `done`, which depends on whether it has.
    pub goes_on: Signal<Out, Bit>,
    /// Valid with `goes_on`: a doorbell was accepted, or a path was allowed or denied, so the queue pair may have work for a port.
    pub reschedule: Signal<Out, Bit>,
    /// Valid with `done`: a doorbell was refused.
    pub refused: Signal<Out, Bit>,
    /// High for one cycle when the queue pair moves to the error state, with the status.
    pub failed: Signal<Out, Bit>,
    pub failed_status: Signal<Out, Bits<8>>,

    // Functional units.
    pub spray: UnitSrc<SprayRequest, SprayResponse>,
    pub nscc: CallSrc<NsccRequest>,
    pub window: CallSrc<WindowRequest>,
    pub messages: UnitSrc<MessageRequest, MessageResponse>,
    /// Responses as they arrive.
    pub answer: FlowSnk<MessageResponse>,

    step: DFF<Step>,
    /// The first cycle behind `Idle`.
    begins: DFF<Bit>,
    state_after: DFF<RequesterState>,
    una: DFF<Psn>,
    fails_oldest: DFF<Bit>,
    failed_slot_valid: DFF<Bit>,
    slot: DFF<SqIndex>,
    status: DFF<Bits<8>>,
}

impl Logic for QpAdminFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, begins, state_after, una, fails_oldest);
        dff_setup!(self, clock, failed_slot_valid, slot, status);
        let op = self.op.val();
        let op_result = self.op_result.val();
        let step = self.step.q.val();
        let state_after = if self.begins.q.val() {
            self.handed.val()
        } else {
            self.state_after.q.val()
        };
        let messages = self.messages.response.val();
        let free = !self.spray.busy.val()
            & !self.nscc.busy.val()
            & !self.window.busy.val()
            & !self.messages.busy.val();

        assert!(
            !self.start.val() | !self.op_done.val(),
            "an operation starts while another one is done"
        );

        self.spray.start.next = false;
        let path_use = self.path_use.val();
        let changes_path = op.configure == ConfigureKind::PathUse;
        self.spray.request.next = path_use_request(op, path_use);
        self.nscc.start.next = false;
        self.nscc.request.next = NsccRequest {
            op: NsccOp::Configure,
            qp: op.qp,
            now: op.now,
            ..NsccRequest::default()
        };
        self.window.start.next = false;
        self.window.request.next = WindowRequest {
            op: WindowOp::Configure,
            qp: op.qp,
            psn: op.settings.first_psn,
            ..WindowRequest::default()
        };
        self.messages.start.next = false;
        self.messages.request.next = MessageRequest {
            op: match step {
                Step::ConfigureUnit => MessageOp::Configure,
                Step::Idle => {
                    if op.kind == OpKind::Doorbell {
                        MessageOp::Doorbell
                    } else {
                        MessageOp::Fault
                    }
                }
                Step::Complete => MessageOp::Complete,
                Step::LookupOldest => MessageOp::LookupByPsn,
                _ => MessageOp::Flush,
            },
            qp: op.qp,
            psn: self.una.q.val(),
            count: bits::<6>(0),
            slot: if step == Step::Idle {
                op.slot
            } else {
                self.slot.q.val()
            },
            failed: self.failed_slot_valid.q.val(),
            status: if step == Step::Idle {
                bits::<8>(WcStatus::LocProtErr.code() as u64)
            } else {
                self.status.q.val()
            },
            ..MessageRequest::default()
        };
        self.done.next = false;
        self.begins.d.next = step == Step::Idle;
        self.state_after.d.next = state_after;
        self.state.next = state_after;
        let ends_unless_failed = match step {
            Step::WaitConfigured => free,
            Step::WaitDoorbell => self.answer.valid.val(),
            Step::WaitCompleted => {
                !self.messages.busy.val() & !messages.found & !self.fails_oldest.q.val()
            }
            _ => false,
        };
        self.goes_on.next = ends_unless_failed & !state_after.failed;
        self.reschedule.next = false;
        self.refused.next = false;
        self.failed.next = false;
        self.failed_status.next = self.status.q.val();

        match step {
            Step::Idle => {
                // Loaded in every cycle, because `op_done` comes late: the last cycle counts. Only an operation of this flow has `start`.
                if self.start.val() {
                    self.una.d.next = op.state.una;
                    self.fails_oldest.d.next = false;
                    self.slot.d.next = op.slot;
                    self.failed_slot_valid.d.next = false;
                    self.status.d.next = if op.kind == OpKind::Fault {
                        bits::<8>(WcStatus::LocProtErr.code() as u64)
                    } else {
                        bits::<8>(WcStatus::WrFlushErr.code() as u64)
                    };
                } else {
                    self.una.d.next = op_result.una;
                    self.failed_slot_valid.d.next = op_result.failed_slot_valid;
                    self.slot.d.next = op_result.slot;
                    self.status.d.next = op_result.status;
                    self.fails_oldest.d.next = op_result.next_action == NextAction::FailOldest;
                }
                // `start` and `op_done` exclude each other, so the request need not wait for the latter.
                self.messages.start.next =
                    self.start.val() & ((op.kind == OpKind::Doorbell) | (op.kind == OpKind::Fault));
                if self.op_done.val() {
                    self.step.d.next = match op_result.next_action {
                        NextAction::Fail => Step::Flush,
                        NextAction::Completing => Step::WaitCompleted,
                        _ => Step::Complete,
                    };
                } else if self.start.val() {
                    self.step.d.next = match op.kind {
                        OpKind::Configure => Step::ConfigureUnit,
                        OpKind::Flush => Step::Flush,
                        OpKind::Doorbell => Step::WaitDoorbell,
                        _ => Step::WaitFault,
                    };
                }
            }
            Step::ConfigureUnit => {
                if free {
                    match op.configure {
                        ConfigureKind::Requester => {
                            self.window.start.next = true;
                            self.state_after.d.next =
                                configured_state(op.settings, state_after.path_policy);
                        }
                        ConfigureKind::SendQueue => {
                            self.messages.start.next = true;
                        }
                        ConfigureKind::Spray => {
                            self.spray.start.next = true;
                            self.state_after.d.next.path_policy = self.path_policy.val();
                        }
                        ConfigureKind::Nscc => {
                            self.nscc.start.next = true;
                        }
                        ConfigureKind::PathUse => {
                            self.spray.start.next = true;
                        }
                    }
                    self.step.d.next = Step::WaitConfigured;
                }
            }
            Step::WaitConfigured => {
                if free {
                    self.done.next = true;
                    if changes_path {
                        self.state.next =
                            after_path_use(state_after, path_use, self.spray.response.val());
                        self.reschedule.next = true;
                    }
                    self.step.d.next = Step::Idle;
                }
            }
            Step::WaitDoorbell => {
                let answer = self.answer.record.val();
                if self.answer.valid.val() {
                    self.done.next = true;
                    self.reschedule.next = answer.found & !answer.waits;
                    self.refused.next = !answer.found;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::WaitFault => {
                if !self.messages.busy.val() {
                    self.step.d.next = Step::Complete;
                }
            }
            Step::Complete => {
                self.messages.start.next = true;
                self.step.d.next = Step::WaitCompleted;
            }
            Step::WaitCompleted => {
                if !self.messages.busy.val() {
                    if messages.found & !state_after.failed {
                        self.failed_slot_valid.d.next = true;
                        self.slot.d.next = messages.slot;
                        self.status.d.next = messages.status;
                        self.step.d.next = Step::Flush;
                    } else if self.fails_oldest.q.val() {
                        self.step.d.next = Step::LookupOldest;
                    } else {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::LookupOldest => {
                self.messages.start.next = true;
                self.step.d.next = Step::WaitOldest;
            }
            Step::WaitOldest => {
                self.failed_slot_valid.d.next = messages.found;
                self.slot.d.next = messages.slot;
                if !self.messages.busy.val() {
                    self.step.d.next = Step::Flush;
                }
            }
            Step::Flush => {
                self.messages.start.next = true;
                self.state_after.d.next.failed = true;
                self.state_after.d.next.armed = false;
                self.state_after.d.next.rc.paths.held = false;
                self.failed.next = !state_after.failed;
                self.step.d.next = Step::WaitFlushed;
            }
            Step::WaitFlushed => {
                if !self.messages.busy.val() {
                    self.done.next = true;
                    self.step.d.next = Step::Idle;
                }
            }
        }
        assert!(
            self.goes_on.val() == (self.done.val() & !self.state.val().failed),
            "a flow is done for a queue pair that has not failed, and does not say so"
        );
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
