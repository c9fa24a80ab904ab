//! Steps of an operation, and what follows it.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::MessageResponse;

use crate::bundles::{DeadlineSrc, ScheduleSrc};
use crate::op_route::{op_route, ActiveFlow, OpRoute};
use crate::ports::pair;
use crate::records::{ConfigureKind, NextAction, Op, OpKind, OpResult, Pick, RequesterState};
use crate::timer_state::timer_state;

/// Step of the operation.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    /// No operation is in progress: takes the one that was chosen.
    Take,
    /// Starts the flow.
    StartFlow,
    /// Waits for the flow.
    RunFlow,
    /// `QpAdminFlow` completes or fails messages as a consequence.
    RunAdmin,
    /// Waits for the schedulers, which were not ready to schedule the queue pair.
    Reschedule,
}

/// Takes operations, starts their flows, writes back the state that they leave, and tells schedules and timers. Results of flows come late in a cycle, so the new state is written, and the
/// pulses to schedules and timers leave, one cycle after the end of the operation.
#[derive(LogicBlock, Default)]
pub struct OpControl {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Choice: see `OpPick`.
    pub pick: Signal<In, Pick>,
    pub pick_valid: Signal<In, Bit>,
    pub sack_valid: Signal<In, Bit>,
    pub pick_starts: Signal<Out, Bit>,
    pub chains: Signal<Out, Bit>,
    pub turns: Signal<Out, Bits<2>>,
    pub served: Signal<Out, Bits<2>>,

    // Rows: see `OpRows`.
    pub op: Signal<In, Op>,
    pub takes: Signal<Out, Bit>,
    pub written: Signal<Out, Bit>,
    pub state_after: Signal<Out, RequesterState>,
    pub writes_settings: Signal<Out, Bit>,
    /// A configuration is done.
    pub configured: Signal<Out, Bit>,

    // Flows.
    pub route: Signal<Out, OpRoute>,
    /// The flow that uses the functional units.
    pub active: Signal<Out, ActiveFlow>,
    pub transmit_start: Signal<Out, Bit>,
    pub transmit_done: Signal<In, Bit>,
    pub transmit_needs_admin: Signal<In, Bit>,
    pub transmit_result: Signal<In, OpResult>,
    pub sack_start: Signal<Out, Bit>,
    pub sack_done: Signal<In, Bit>,
    pub sack_fails: Signal<In, Bit>,
    pub sack_may_chain: Signal<In, Bit>,
    pub sack_result: Signal<In, OpResult>,
    pub loss_start: Signal<Out, Bit>,
    pub loss_done: Signal<In, Bit>,
    pub loss_fails: Signal<In, Bit>,
    pub loss_result: Signal<In, OpResult>,
    pub rc_start: Signal<Out, Bit>,
    pub rc_done: Signal<In, Bit>,
    pub rc_result: Signal<In, OpResult>,
    pub admin_start: Signal<Out, Bit>,
    pub admin_op_done: Signal<Out, Bit>,
    pub admin_op_result: Signal<Out, OpResult>,
    pub admin_handed: Signal<Out, RequesterState>,
    pub admin_done: Signal<In, Bit>,
    pub admin_state: Signal<In, RequesterState>,
    pub admin_goes_on: Signal<In, Bit>,
    pub admin_reschedule: Signal<In, Bit>,

    // Functional units.
    pub window_busy: Signal<In, Bit>,
    pub messages_busy: Signal<In, Bit>,
    pub messages_response: Signal<In, MessageResponse>,
    /// The message table processes the completions of the SACK `op`.
    pub completing: Signal<Out, Bit>,

    // Schedules and timers. Bit p belongs to port p.
    pub rotate: Signal<Out, Bits<2>>,
    pub deactivate: Signal<Out, Bits<2>>,
    pub schedule: ScheduleSrc,
    pub deadline: DeadlineSrc,

    step: DFF<Step>,
    /// The state that the operation leaves, if it was done in the last cycle (`arms`). Whether it is done comes late, so this loads in every cycle of an operation, and
    /// `op` and the memory have it a cycle later.
    left: DFF<RequesterState>,
    arms: DFF<Bit>,
    /// The last cycle left the state of the operation as it was.
    keeps_state: DFF<Bit>,
    rotate_held: DFF<Bits<2>>,
    deactivate_held: DFF<Bits<2>>,
    completes: DFF<Bit>,
}

impl Logic for OpControl {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, left, arms, keeps_state, completes);
        dff_setup!(self, clock, rotate_held, deactivate_held);
        let step = self.step.q.val();
        let op = self.op.val();
        let pick = self.pick.val();
        let route = op_route(op);
        let left = self.left.q.val();
        let written = self.arms.q.val();
        let runs_admin = step == Step::RunAdmin;
        let takes = step == Step::Take;

        // take. A SACK that completes messages may move the queue pair to the error state. Until the message table responds, only operations of the same queue pair start that
        // respect this.
        let completing = self.completes.q.val();
        let answered = completing & !self.messages_busy.val();
        let completed = self.messages_response.val();
        let deferred_fail = takes & answered & completed.found;
        let same_qp = pick.qp == op.qp;
        let same_qp_allowed = same_qp
            & ((pick.kind == OpKind::Sack)
                | (pick.kind == OpKind::Transmit)
                | (pick.kind == OpKind::Wake));
        let starts_next = takes & (!completing | same_qp_allowed) & !deferred_fail;
        let take = self.pick_valid.val() & starts_next;
        // The current SACK is done, and the next one starts in this cycle.
        let chains =
            self.sack_valid.val() & same_qp & self.sack_may_chain.val() & self.schedule.ready.val();
        self.pick_starts.next = starts_next;
        self.chains.next = chains;
        self.takes.next = take;
        self.completing.next = completing;
        // The head of a transmission is that of the next one only if it was not rotated.
        let serves = route.to_transmit & !takes;
        self.turns.next = self.rotate_held.q.val() | self.deactivate_held.q.val();
        self.served.next = pair(serves & !op.port, serves & op.port);

        // start. The window may still process a request of the previous operation.
        let starts = (step == Step::StartFlow) & !self.window_busy.val();
        self.route.next = route;
        self.active.next = ActiveFlow {
            transmit: route.to_transmit & !runs_admin,
            sack: route.to_sack & !runs_admin,
            loss: route.to_loss & !runs_admin,
        };
        self.transmit_start.next = starts & route.to_transmit;
        self.sack_start.next = starts & route.to_sack & !route.ignored;
        self.loss_start.next = starts & route.to_loss & !route.ignored;
        self.rc_start.next = starts & route.to_rc & !route.ignored;
        self.admin_start.next = starts & route.to_admin;

        // end
        let sent = self.transmit_done.val();
        let sent_result = self.transmit_result.val();
        let event_done = self.sack_done.val() | self.loss_done.val() | self.rc_done.val();
        let event_result = if route.to_sack {
            self.sack_result.val()
        } else if op.settings.rc {
            self.rc_result.val()
        } else {
            self.loss_result.val()
        };
        let result = if route.to_transmit {
            sent_result
        } else {
            event_result
        };
        let flow_done = sent | event_done;
        let admin_done = self.admin_done.val();
        assert!(
            !(runs_admin & event_done) & (runs_admin | !admin_done),
            "the administrative flow is done beside another one, or another one beside it"
        );
        // Whether an event needs more does not depend on the transmit flow, whose result comes last, nor on when a SACK or a loss is done. A SACK that fails nothing completes messages in
        // the background.
        let completes_in_background =
            route.to_sack & (event_result.next_action == NextAction::Completing);
        let rc_needs_admin =
            self.rc_done.val() & (self.rc_result.val().next_action != NextAction::Nothing);
        let event_needs_admin = self.sack_fails.val() | self.loss_fails.val() | rc_needs_admin;
        let needs_admin = event_needs_admin | self.transmit_needs_admin.val();
        assert!(
            self.transmit_needs_admin.val()
                == (sent & (sent_result.next_action != NextAction::Nothing)),
            "the transmit flow has a result, and does not say what is next"
        );
        self.admin_op_done.next = needs_admin | deferred_fail;
        self.admin_op_result.next = if deferred_fail {
            OpResult {
                next_action: NextAction::Fail,
                failed_slot_valid: true,
                slot: completed.slot,
                status: completed.status,
                ..OpResult::default()
            }
        } else {
            result
        };
        self.admin_handed.next = if self.keeps_state.q.val() {
            op.state
        } else {
            left
        };
        self.keeps_state.d.next = takes | starts;
        if flow_done {
            self.completes.d.next = completes_in_background;
        } else if takes & answered {
            self.completes.d.next = false;
        }

        // write back
        if !takes {
            self.left.d.next = if runs_admin {
                self.admin_state.val()
            } else {
                result.state
            };
        }
        self.arms.d.next = flow_done | admin_done;
        self.written.next = written;
        self.state_after.next = left;
        let configures = op.kind == OpKind::Configure;
        self.configured.next = admin_done & configures;
        self.writes_settings.next =
            admin_done & configures & (op.configure == ConfigureKind::Requester);
        let timer = timer_state(left);
        self.deadline.valid.next = written;
        self.deadline.qp.next = op.qp;
        self.deadline.armed.next = timer.armed;
        self.deadline.record.next = timer.deadline;

        // schedule
        let rotate = sent & sent_result.packet_sent;
        let deactivate = sent & !sent_result.packet_sent & !sent_result.tried_again;
        self.rotate_held.d.next = pair(rotate & !op.port, rotate & op.port);
        self.deactivate_held.d.next = pair(deactivate & !op.port, deactivate & op.port);
        self.rotate.next = self.rotate_held.q.val();
        self.deactivate.next = self.deactivate_held.q.val();
        let reschedule = if runs_admin {
            self.admin_goes_on.val() & (route.is_event | self.admin_reschedule.val())
        } else {
            (event_done & !event_needs_admin) | (starts & route.is_wake & !op.state.failed)
        };
        self.schedule.valid.next = reschedule | (step == Step::Reschedule);
        self.schedule.page.next = op.settings.page;
        self.schedule.qp.next = op.qp;

        // next step
        let after_reschedule = if self.schedule.ready.val() {
            Step::Take
        } else {
            Step::Reschedule
        };
        match step {
            Step::Take => {
                if take {
                    self.step.d.next = Step::StartFlow;
                } else if deferred_fail {
                    self.step.d.next = Step::RunAdmin;
                }
            }
            Step::StartFlow | Step::RunFlow => {
                if chains {
                    self.step.d.next = Step::RunFlow;
                } else if needs_admin | (starts & route.to_admin) {
                    self.step.d.next = Step::RunAdmin;
                } else if reschedule {
                    self.step.d.next = after_reschedule;
                } else if flow_done | (starts & route.ignored) {
                    self.step.d.next = Step::Take;
                } else if starts {
                    self.step.d.next = Step::RunFlow;
                }
            }
            Step::RunAdmin => {
                if admin_done {
                    self.step.d.next = if reschedule {
                        after_reschedule
                    } else {
                        Step::Take
                    };
                }
            }
            Step::Reschedule => self.step.d.next = after_reschedule,
        }
        if self.reset.val() {
            self.arms.d.next = false;
            self.rotate_held.d.next = bits::<2>(0);
            self.deactivate_held.d.next = bits::<2>(0);
            self.completes.d.next = false;
            self.step.d.next = Step::Take;
        }
    }
}
