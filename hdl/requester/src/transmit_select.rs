//! Selects what a port sends for a queue pair (reference: the beginning of `MrcRequester::transmit_each` and of `RcRequester::transmit_each`).

use hdl_macros::hdl;
use hdl_primitives::FlowSrc;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::WindowChange;
use stellar_wire::hw::messages::{MessageRequest, MessageResponse};
use stellar_wire::hw::requester::TxRequest;
use stellar_wire::hw::spray::{SprayRequest, SprayResponse};
use stellar_wire::hw::window::{WindowRequest, WindowResponse};

use crate::bundles::{UnitSrc, WindowSpaceSrc};
use crate::choice::{choose, probe_packet, with_due_probe};
use crate::mrc_action::{mrc_action, Hindrances, MrcAction};
use crate::rc_space::rc_space;
use crate::rc_turn::rc_turn;
use crate::records::{NextAction, Op, OpResult};
use crate::select_requests::{message_question, spray_question, window_question};
use crate::select_result::select_result;
use crate::select_step::{ends_at_once, first_step, launches_at_once, SelectStep};
use crate::selected::{selected_at_start, Selected};
use crate::timer_state::armed_until;

/// Sends a probe, or selects a lost packet or new packets for `BurstFlow`, and requests the message of the first one. RC uses no transmit window, and the spray engine only with a
/// path policy. Then the spray engine gives the path of the whole burst before the message is looked up, and its response stays until the burst has left.
///
/// Only a policy that probes has a probe due or holds the queue pair, and only lost packets need to know which planes are usable. Otherwise the spray engine is not queried.
#[derive(LogicBlock, Default)]
pub struct TransmitSelect {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Sequencer.
    pub start: Signal<In, Bit>,
    pub op: Signal<In, Op>,
    /// Bit p: port p can send.
    pub plane_up: Signal<In, Bits<2>>,
    /// The message table still processes the previous SACK. If that moves the queue pair to the error state, nothing is sent.
    pub completing: Signal<In, Bit>,
    /// An operation is in progress.
    pub in_progress: Signal<Out, Bit>,
    /// High for one cycle: the operation is done without a burst, with this result.
    pub done: Signal<Out, Bit>,
    /// High with `done` if messages complete or fail.
    pub needs_admin: Signal<Out, Bit>,
    pub result: Signal<Out, OpResult>,
    pub probe: FlowSrc<TxRequest>,
    /// A probe may leave in this step, and no packet of a burst does.
    pub may_probe: Signal<Out, Bit>,

    // The burst in the background: see `Bursts`.
    pub burst_active: Signal<In, Bit>,
    pub is_stopped: Signal<In, Bit>,
    pub may_follow: Signal<In, Bit>,

    // The burst to send.
    pub selected: Signal<Out, Selected>,
    pub space: WindowSpaceSrc,
    /// High for one cycle: the first message is requested; or nothing is sent, so messages complete.
    pub launches: Signal<Out, Bit>,
    pub sends_nothing: Signal<Out, Bit>,
    pub burst_done: Signal<In, Bit>,

    // Functional units.
    pub spray: UnitSrc<SprayRequest, SprayResponse>,
    /// The spray engine has not answered the query of this flow. Other than its `busy`, this does not depend on paths of a burst that it has to return.
    pub spray_asked: Signal<In, Bit>,
    pub window: UnitSrc<WindowRequest, WindowResponse>,
    pub messages: UnitSrc<MessageRequest, MessageResponse>,
    /// Congestion control is free to change the window as `spray` tells.
    pub cwnd_known: Signal<In, Bit>,
    pub changes_cwnd: Signal<Out, Bit>,

    /// MRC: what is done, once all units have answered.
    action: Signal<Local, MrcAction>,
    step: DFF<SelectStep>,
    held: DFF<Selected>,
    /// The spray engine was queried.
    spray_requested: DFF<Bit>,
    /// The window was changed as the last response of the spray engine tells; the spray engine knows that nothing is in flight.
    cwnd_changed: DFF<Bit>,
    told_empty: DFF<Bit>,
    /// RC: nothing is in flight, which does not change in an operation that sends nothing yet.
    rc_empty: DFF<Bit>,
}

impl Logic for TransmitSelect {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, held);
        dff_setup!(
            self,
            clock,
            spray_requested,
            cwnd_changed,
            told_empty,
            rc_empty
        );
        let op = self.op.val();
        let rc = op.settings.rc;
        let plane_up = self.plane_up.val();
        let step = self.step.q.val();
        let held = self.held.q.val();
        let state = held.state;
        let spray = self.spray.response.val();
        let window = self.window.response.val();
        let messages = self.messages.response.val();
        let burst_active = self.burst_active.val();
        let spray_busy = self.spray.busy.val();
        let spray_requested = self.spray_requested.q.val();
        let told_empty = self.told_empty.q.val();
        let asks_policy = step == SelectStep::AskPolicy;
        let selects = step == SelectStep::Select;

        // RC: what may be sent
        let rc_space = rc_space(op.settings, op.state);
        let ends_at_once = ends_at_once(op);
        let first_step = first_step(op, burst_active, spray_busy);
        self.rc_empty.d.next = op.state.una == op.state.rc.sent;
        let rc_empty = self.rc_empty.q.val();
        let turn = rc_turn(
            state,
            spray,
            held.is_retransmit,
            rc_empty,
            told_empty,
            op.port,
        );

        // MRC: what is sent
        let due = with_due_probe(state, spray, spray_requested);
        let choice = choose(due, plane_up, op.port, spray, window);
        let held_back = state.path_policy.probes & spray.held;
        let empty = window.is_empty;
        let needs_spray_query = !spray_requested & window.lost.any();
        let units_ready = !self.window.busy.val()
            & !needs_spray_query
            & !(spray_requested & self.spray_asked.val())
            & !self.messages.busy.val();
        assert!(
            !selects | !spray_requested | (spray_busy == self.spray_asked.val()),
            "the spray engine has paths to return while it is queried"
        );
        let hindrances = Hindrances {
            fails: self.completing.val() & messages.found,
            changes_cwnd: spray_requested
                & (spray.window != WindowChange::Keep)
                & !self.cwnd_changed.q.val(),
            tells_empty: held_back & spray.drains & empty & !told_empty,
            is_stopped: self.is_stopped.val(),
            held: held_back,
            drains: spray.drains,
        };
        self.action.next = mrc_action(choice, hindrances);
        // The timer schedules a queue pair again that the policy holds back.
        let until_policy_allows = armed_until(due, spray.until);

        // The first message is requested: at once over RC, or when the path is there; over MRC when new packets may be sent, or the record of the lost one has been read.
        let starts = self.start.val();
        let begins = (starts & !ends_at_once) | ((step == SelectStep::WaitForUnits) & !starts);
        let launches_at_once = launches_at_once(op, burst_active);
        assert!(
            (step != SelectStep::Idle)
                | !starts
                | (launches_at_once == (begins & (first_step == SelectStep::Burst))),
            "an operation launches at once, and its first step is another one"
        );
        let launches = match step {
            SelectStep::Idle => starts & launches_at_once,
            SelectStep::WaitForUnits => begins & (first_step == SelectStep::Burst),
            SelectStep::AwaitPath => !spray_busy & spray.found,
            SelectStep::Select => {
                units_ready & (self.action.val() == MrcAction::SendNew) & self.may_follow.val()
            }
            SelectStep::ReadSentPacket => !self.window.busy.val(),
            _ => false,
        };

        // Requests. Whether they are issued is decided below.
        let at_start = selected_at_start(op, rc_space, plane_up);
        let probe_waits = if step == SelectStep::Idle {
            at_start.state.probe
        } else {
            state.probe
        };
        self.spray.start.next = false;
        self.spray.request.next = spray_question(step, op, turn, probe_waits, empty);
        self.window.start.next = false;
        self.window.request.next = window_question(step, op, held.psn);
        self.messages.start.next = launches;
        self.messages.request.next = message_question(step, op, rc_space.is_retransmit, window);
        self.changes_cwnd.next = false;

        // What the burst gets.
        self.launches.next = launches;
        self.sends_nothing.next = false;
        self.selected.next = held;
        self.space.known.next = selects | starts;
        self.space.packets.next = if selects {
            choice.window_space
        } else {
            rc_space.packets
        };
        self.space.blocks.next = if selects { window.room } else { bits::<6>(63) };

        // send a probe, but not beside a burst
        let probe_after = if rc { state.rc.sent } else { window.next_psn };
        let probing = if rc { turn.state } else { due };
        let probes = match step {
            SelectStep::AskPolicy => !spray_busy & !turn.tells_empty & turn.probes,
            SelectStep::Select => {
                units_ready & (self.action.val() == MrcAction::SendProbe) & !burst_active
            }
            _ => false,
        };
        self.may_probe.next = (selects & !burst_active) | asks_policy;
        self.probe.valid.next = probes;
        self.probe.record.next = probe_packet(op, probe_after, probing);

        // Result. When it is valid is decided below.
        let state_after = match step {
            SelectStep::Idle => op.state,
            SelectStep::AskPolicy => turn.state,
            SelectStep::Select => due,
            _ => state,
        };
        let una = if selects { window.una } else { held.una };
        self.in_progress.next = step != SelectStep::Idle;
        self.done.next = false;
        self.needs_admin.next = false;
        self.result.next = select_result(state_after, probes, una, messages);

        match step {
            SelectStep::Idle | SelectStep::WaitForUnits => {
                if starts {
                    self.held.d.next = at_start;
                    self.spray_requested.d.next = op.state.path_policy.probes;
                    self.cwnd_changed.d.next = false;
                    self.told_empty.d.next = false;
                }
                self.done.next = starts & ends_at_once;
                if begins {
                    self.window.start.next = first_step == SelectStep::Select;
                    self.spray.start.next = (first_step == SelectStep::AskPolicy)
                        | ((first_step == SelectStep::Select) & op.state.path_policy.probes);
                    self.step.d.next = first_step;
                }
            }
            SelectStep::AskPolicy => {
                if !spray_busy {
                    self.held.d.next.state = turn.state;
                    if turn.tells_empty {
                        self.spray.start.next = true;
                        self.told_empty.d.next = true;
                    } else if turn.probes | turn.held_back {
                        // The timer schedules a queue pair again that is held back.
                        self.done.next = true;
                        self.step.d.next = SelectStep::Idle;
                    } else {
                        self.spray.start.next = true;
                        self.step.d.next = SelectStep::AwaitPath;
                    }
                }
            }
            SelectStep::AwaitPath => {
                if !spray_busy & !spray.found {
                    self.done.next = true;
                    self.step.d.next = SelectStep::Idle;
                }
            }
            SelectStep::Select => {
                self.held.d.next.una = window.una;
                self.held.d.next.starves = choice.starves;
                self.held.d.next.in_flight = window.in_flight;
                if needs_spray_query & !self.window.busy.val() & !spray_busy {
                    self.spray.start.next = true;
                    self.spray_requested.d.next = true;
                }
                if units_ready {
                    self.held.d.next.state = due;
                    match self.action.val() {
                        MrcAction::Fail => {
                            self.result.next.next_action = NextAction::Fail;
                            self.needs_admin.next = true;
                            self.done.next = true;
                            self.step.d.next = SelectStep::Idle;
                        }
                        MrcAction::ChangeCwnd => {
                            self.changes_cwnd.next = self.cwnd_known.val();
                            self.cwnd_changed.d.next = self.cwnd_known.val();
                        }
                        MrcAction::TellEmpty => {
                            self.spray.start.next = true;
                            self.told_empty.d.next = true;
                            self.cwnd_changed.d.next = false;
                        }
                        MrcAction::TryAgain => {
                            self.result.next.tried_again = true;
                            self.done.next = true;
                            self.step.d.next = SelectStep::Idle;
                        }
                        MrcAction::HoldBack => {
                            self.held.d.next.state = until_policy_allows;
                            self.sends_nothing.next = true;
                            self.step.d.next = SelectStep::Burst;
                        }
                        MrcAction::SendNew => self.held.d.next.psn = window.next_psn,
                        MrcAction::SendProbe => {
                            if probes {
                                self.result.next.next_action = NextAction::Complete;
                                self.needs_admin.next = true;
                                self.done.next = true;
                                self.step.d.next = SelectStep::Idle;
                            }
                        }
                        // No lost packet is sent beside a burst.
                        MrcAction::Retransmit => {
                            if !burst_active {
                                if held_back {
                                    self.held.d.next.state = until_policy_allows;
                                }
                                self.held.d.next.is_retransmit = true;
                                self.held.d.next.psn = choice.lost_psn;
                                self.step.d.next = SelectStep::AskSentPacket;
                            }
                        }
                    }
                }
            }
            SelectStep::AskSentPacket => {
                self.window.start.next = true;
                self.step.d.next = SelectStep::ReadSentPacket;
            }
            SelectStep::ReadSentPacket => self.held.d.next.last_sent = window.sent,
            SelectStep::Burst => {
                if self.burst_done.val() {
                    self.step.d.next = SelectStep::Idle;
                }
            }
        }
        if launches {
            self.step.d.next = SelectStep::Burst;
        }
        if self.reset.val() {
            self.step.d.next = SelectStep::Idle;
        }
    }
}
