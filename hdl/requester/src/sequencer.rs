//! The sequencer of a requester engine: executes one operation after the other (`docs/requester.md`).

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::BlockRam;
use hdl_spray_engine::entropy_lookup::Reflected;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccRequest, NsccResponse};
use stellar_wire::hw::messages::{MessageRequest, MessageResponse};
use stellar_wire::hw::requester::{
    ControlKind, ControlPacket, RequesterConfig, TranslateRequest, TranslateResponse, TxRequest,
};
use stellar_wire::hw::spray::{SprayRequest, SprayResponse};
use stellar_wire::hw::tx::TxSeth;
use stellar_wire::hw::window::{SentPacket, WindowRequest, WindowResponse};
use stellar_wire::hw::{Psn, Qpn, SqIndex};

use crate::loss_flow::LossFlow;
use crate::op_arbiter::OpArbiter;
use crate::ports::pair;
use crate::qp_admin_flow::QpAdminFlow;
use crate::rc_flow::RcFlow;
use crate::records::{ConfigureKind, NextAction, Op, OpKind, OpResult, RequesterState, StatPulses};
use crate::sack_flow::{offset, SackFlow};
use crate::spray_feedback_fifo::SprayFeedbackFifo;
use crate::transmit_flow::TransmitFlow;
use crate::unit_client::UnitClient;

/// Step of the operation.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    /// No operation is in progress: arbitrates.
    Arbitrate,
    /// The rows of the queue pair have been read: starts the flow.
    StartFlow,
    /// Waits for the flow.
    RunFlow,
    /// `QpAdminFlow` completes or fails messages as a consequence.
    RunAdmin,
    /// Waits for the schedulers, which were not ready to schedule the queue pair.
    Reschedule,
}

/// Returns whether the SACK covers only PSNs before `psn`. Levels: two carry chains and 2.
#[hdl_fn]
fn names_only_before(seth: TxSeth, psn: Psn) -> Bit {
    let cumulative = seth.cack_psn - psn;
    let answered = offset(seth.cack_psn, seth.ack_psn_offset) - psn;
    let highest = offset(seth.cack_psn, seth.sack_offset) + bits::<24>(63) - psn;
    cumulative.get_bit(23) & answered.get_bit(23) & highest.get_bit(23)
}

/// Sequencer of an engine with 2^`Q` queue pairs. It selects an operation, reads the rows of the queue pair, runs the flow of the operation, and writes the
/// state back.
#[derive(LogicBlock, Default)]
pub struct Sequencer<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    /// After reset, queue pairs have to be configured again.
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,

    /// Starts no operation: the queue of failures is nearly full.
    pub hold: Signal<In, Bit>,

    // Configuration. The settings of a functional unit go to that unit directly. All inputs are stable until `configure_ready`.
    pub configure_valid: Signal<In, Bit>,
    pub configure: Signal<In, ConfigureKind>,
    pub configure_qp: Signal<In, Qpn>,
    pub settings: Signal<In, RequesterConfig>,
    /// Valid with `ConfigureKind::Spray`: the path policy sends probes.
    pub may_probe: Signal<In, Bit>,
    pub configure_ready: Signal<Out, Bit>,

    // Control packets, doorbells, payload faults, flushes, and wake-ups. Each is accepted when valid and ready are high.
    pub control_valid: Signal<In, Bit>,
    /// SACK, NACK or RC acknowledgement.
    pub control: Signal<In, ControlPacket>,
    pub control_ready: Signal<Out, Bit>,
    /// Many control packets are queued: they have priority over the next burst.
    pub control_almost_full: Signal<In, Bit>,
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_qp: Signal<In, Qpn>,
    pub doorbell_producer: Signal<In, SqIndex>,
    pub doorbell_ready: Signal<Out, Bit>,
    /// The payload of a packet of this message cannot be read.
    pub fault_valid: Signal<In, Bit>,
    pub fault_qp: Signal<In, Qpn>,
    pub fault_slot: Signal<In, SqIndex>,
    pub fault_ready: Signal<Out, Bit>,
    /// The receive side failed.
    pub flush_valid: Signal<In, Bit>,
    pub flush_qp: Signal<In, Qpn>,
    pub flush_ready: Signal<Out, Bit>,
    /// The queue pair may have something to send: an entry of its send queue arrived, or a port came up.
    pub wake_valid: Signal<In, Bit>,
    pub wake_qp: Signal<In, Qpn>,
    pub wake_ready: Signal<Out, Bit>,

    // Schedulers of the ports: bit p belongs to port p.
    pub head_valid: Signal<In, Bits<2>>,
    pub head0_qp: Signal<In, Qpn>,
    pub head1_qp: Signal<In, Qpn>,
    /// The head sent a packet, or has nothing to send.
    pub rotate: Signal<Out, Bits<2>>,
    pub deactivate: Signal<Out, Bits<2>>,
    /// Schedules a queue pair at both ports.
    pub schedule_valid: Signal<Out, Bit>,
    pub schedule_page: Signal<Out, Bits<16>>,
    pub schedule_qp: Signal<Out, Qpn>,
    pub schedule_ready: Signal<In, Bit>,

    // Timers.
    pub due_valid: Signal<In, Bit>,
    pub due_qp: Signal<In, Qpn>,
    pub due_ready: Signal<Out, Bit>,
    pub deadline_valid: Signal<Out, Bit>,
    pub deadline_qp: Signal<Out, Qpn>,
    pub deadline_armed: Signal<Out, Bit>,
    pub deadline: Signal<Out, Bits<32>>,

    // Packets. Bit p of `tx_space`: the queue of port p has space for 32 packets.
    pub tx_space: Signal<In, Bits<2>>,
    pub tx_valid: Signal<Out, Bit>,
    pub tx: Signal<Out, TxRequest>,

    // Pulses.
    /// A SACK reflected this entropy value without a mark.
    pub reverse_ev_valid: Signal<Out, Bit>,
    pub reverse_ev: Signal<Out, Reflected>,
    pub failed: Signal<Out, Bit>,
    /// Queue pair of `failed`, `refused` and `stats`.
    pub event_qp: Signal<Out, Qpn>,
    pub failed_status: Signal<Out, Bits<8>>,
    /// A producer index was refused.
    pub refused: Signal<Out, Bit>,
    pub stats: Signal<Out, StatPulses>,

    // Functional units and local translation.
    pub spray_request_valid: Signal<Out, Bit>,
    pub spray_request: Signal<Out, SprayRequest>,
    pub spray_request_ready: Signal<In, Bit>,
    pub spray_response_valid: Signal<In, Bit>,
    pub spray_response: Signal<In, SprayResponse>,
    pub nscc_request_valid: Signal<Out, Bit>,
    pub nscc_request: Signal<Out, NsccRequest>,
    pub nscc_request_ready: Signal<In, Bit>,
    pub nscc_response_valid: Signal<In, Bit>,
    pub nscc_response: Signal<In, NsccResponse>,
    pub window_request_valid: Signal<Out, Bit>,
    pub window_request: Signal<Out, WindowRequest>,
    pub window_request_ready: Signal<In, Bit>,
    pub window_response_valid: Signal<In, Bit>,
    pub window_response: Signal<In, WindowResponse>,
    /// Records of the packets of an `Allocate`, as they are sent.
    pub sent_packet_valid: Signal<Out, Bit>,
    pub sent_packet: Signal<Out, SentPacket>,
    pub messages_request_valid: Signal<Out, Bit>,
    pub messages_request: Signal<Out, MessageRequest>,
    pub messages_request_ready: Signal<In, Bit>,
    pub messages_response_valid: Signal<In, Bit>,
    pub messages_response: Signal<In, MessageResponse>,
    pub xlate_req_valid: Signal<Out, Bit>,
    pub xlate_req: Signal<Out, TranslateRequest>,
    pub xlate_req_ready: Signal<In, Bit>,
    pub xlate_rsp_valid: Signal<In, Bit>,
    pub xlate_rsp: Signal<In, TranslateResponse>,

    arbiter: OpArbiter,
    transmit: TransmitFlow,
    sack: SackFlow,
    loss: LossFlow,
    rc: RcFlow,
    admin: QpAdminFlow,
    spray_feedback_fifo: SprayFeedbackFifo,
    spray: UnitClient<SprayRequest, SprayResponse>,
    nscc: UnitClient<NsccRequest, NsccResponse>,
    window: UnitClient<WindowRequest, WindowResponse>,
    messages: UnitClient<MessageRequest, MessageResponse>,
    configs: BlockRam<RequesterConfig, Q>,
    states: BlockRam<RequesterState, Q>,
    step: DFF<Step>,
    op: DFF<Op>,
    /// The message table processes what the SACK `current` completes.
    completing: DFF<Bit>,
    /// The last request to congestion control was about this queue pair, so the unit's client holds its window.
    cwnd_cache_valid: DFF<Bit>,
    cwnd_cache_qp: DFF<Qpn>,
    /// The current SACK is done, and the next one may start in this cycle.
    chains_next: Signal<Local, Bit>,
    /// The pending control packet has been compared with the burst in flight; it covers none of its PSNs.
    control_checked: DFF<Bit>,
    control_before_burst: DFF<Bit>,
}

impl<const Q: usize> Logic for Sequencer<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            op,
            control_checked,
            control_before_burst,
            completing
        );
        dff_setup!(self, clock, cwnd_cache_valid, cwnd_cache_qp);
        clock!(self, clock, arbiter, transmit, sack, loss, rc, admin, configs, states);
        clock!(
            self,
            clock,
            spray,
            nscc,
            window,
            messages,
            spray_feedback_fifo
        );
        self.arbiter.reset.next = self.reset.val();
        self.transmit.reset.next = self.reset.val();
        self.sack.reset.next = self.reset.val();
        self.loss.reset.next = self.reset.val();
        self.rc.reset.next = self.reset.val();
        self.admin.reset.next = self.reset.val();
        self.spray_feedback_fifo.reset.next = self.reset.val();
        self.spray.reset.next = self.reset.val();
        self.nscc.reset.next = self.reset.val();
        self.window.reset.next = self.reset.val();
        self.messages.reset.next = self.reset.val();

        // arbitrate: while a burst is sent in the background, only SACKs that cannot cover its PSNs, doorbells and wake-ups start. Near its end the next
        // burst of the other port may start too, if nothing else is pending. A doorbell waits while the message table looks up the message of the burst.
        let bg_burst_active = self.transmit.bg_burst_active.val();
        let free = !bg_burst_active;
        let control = self.control.val();
        let is_sack = control.kind == ControlKind::Sack;
        let may_pass = self.control_checked.q.val() & self.control_before_burst.q.val() & is_sack;
        self.arbiter.now.next = self.now.val();
        self.arbiter.rollback_valid.next = self.transmit.ended_early.val();
        self.arbiter.rollback_qp.next = self.transmit.bg_burst_qp.val();
        self.arbiter.rollback_port.next = self.transmit.bg_burst_port.val();
        self.arbiter.configure_valid.next = self.configure_valid.val() & free;
        self.arbiter.configure.next = self.configure.val();
        self.arbiter.configure_qp.next = self.configure_qp.val();
        self.arbiter.control_valid.next = self.control_valid.val() & (free | may_pass);
        self.arbiter.control.next = control;
        self.arbiter.due_valid.next = self.due_valid.val() & free;
        self.arbiter.due_qp.next = self.due_qp.val();
        self.arbiter.fault_valid.next = self.fault_valid.val() & free;
        self.arbiter.fault_qp.next = self.fault_qp.val();
        self.arbiter.fault_slot.next = self.fault_slot.val();
        self.arbiter.flush_valid.next = self.flush_valid.val() & free;
        self.arbiter.flush_qp.next = self.flush_qp.val();
        self.arbiter.doorbell_valid.next = self.doorbell_valid.val() & !self.messages.busy.val();
        self.arbiter.doorbell_qp.next = self.doorbell_qp.val();
        self.arbiter.doorbell_producer.next = self.doorbell_producer.val();
        self.arbiter.wake_valid.next = self.wake_valid.val() & self.schedule_ready.val();
        self.arbiter.wake_qp.next = self.wake_qp.val();
        let heads = self.head_valid.val() & self.tx_space.val();
        let higher_prio_pending = self.configure_valid.val()
            | (self.control_valid.val() & !is_sack)
            | self.due_valid.val()
            | self.fault_valid.val()
            | self.flush_valid.val();
        let bg_burst_port = self.transmit.bg_burst_port.val();
        let other_port = pair(bg_burst_port, !bg_burst_port);
        let ends_soon = self.transmit.ends_soon.val() & !higher_prio_pending;
        self.arbiter.heads_first.next =
            (free | ends_soon) & is_sack & !self.control_almost_full.val();
        self.arbiter.heads.next = if free {
            heads
        } else if ends_soon {
            heads & other_port
        } else {
            bits::<2>(0)
        };
        self.arbiter.head0_qp.next = self.head0_qp.val();
        self.arbiter.head1_qp.next = self.head1_qp.val();
        let offered_op = self.arbiter.offer.val();
        let step = self.step.q.val();
        let current = self.op.q.val();
        // A SACK that completes messages may move the queue pair to the error state. Until the message table responds, only operations of the same queue pair
        // start that respect this.
        let completing = self.completing.q.val();
        let answered = completing & !self.messages.busy.val();
        let completed = self.messages.response.val();
        let deferred_fail = (step == Step::Arbitrate) & answered & completed.found;
        let same_qp = offered_op.qp == current.qp;
        let is_same_qp_sack = (offered_op.kind == OpKind::Sack) & same_qp;
        let same_qp_allowed = same_qp
            & ((offered_op.kind == OpKind::Sack)
                | (offered_op.kind == OpKind::Transmit)
                | (offered_op.kind == OpKind::Wake));
        let offered = self.arbiter.offer_valid.val() & !self.hold.val();
        let chains = offered & is_same_qp_sack & self.chains_next.val();
        let take = ((step == Step::Arbitrate)
            & offered
            & (!completing | same_qp_allowed)
            & !deferred_fail)
            | chains;
        self.arbiter.take.next = take;
        let control_goes = take
            & ((offered_op.kind == OpKind::Sack)
                | (offered_op.kind == OpKind::Nack)
                | (offered_op.kind == OpKind::Ack));
        self.control_ready.next = control_goes;
        self.control_checked.d.next = self.control_valid.val() & bg_burst_active & !control_goes;
        let other_qp = control.qp != self.transmit.bg_burst_qp.val();
        self.control_before_burst.d.next =
            other_qp | names_only_before(control.seth, self.transmit.bg_burst_first_psn.val());
        self.due_ready.next = take & (offered_op.kind == OpKind::Timer);
        self.fault_ready.next = take & (offered_op.kind == OpKind::Fault);
        self.flush_ready.next = take & (offered_op.kind == OpKind::Flush);
        self.doorbell_ready.next = take & (offered_op.kind == OpKind::Doorbell);
        self.wake_ready.next = take & (offered_op.kind == OpKind::Wake);

        // The read ports keep the addresses of the rows from the cycle after arbitration on.
        let row = if (step == Step::Arbitrate) & !completing {
            offered_op.qp.get_bits::<Q>(0)
        } else {
            current.qp.get_bits::<Q>(0)
        };
        self.configs.read_address.next = row;
        self.states.read_address.next = row;
        let configures_requester =
            (current.kind == OpKind::Configure) & (current.configure == ConfigureKind::Requester);
        let op = Op {
            settings: if configures_requester {
                self.settings.val()
            } else {
                self.configs.read_data.val()
            },
            state: self.states.read_data.val(),
            ..current
        };
        self.sack.chains_next.next = chains;
        self.sack.next_control.next = control;
        self.transmit.op.next = op;
        self.sack.op.next = op;
        self.loss.op.next = op;
        self.rc.op.next = op;
        self.admin.op.next = op;

        // start
        let is_transmit = (current.kind == OpKind::Transmit) | (current.kind == OpKind::Rollback);
        let is_wake = current.kind == OpKind::Wake;
        let is_timer = current.kind == OpKind::Timer;
        let is_ack = current.kind == OpKind::Ack;
        let is_sack = current.kind == OpKind::Sack;
        let is_nack = current.kind == OpKind::Nack;
        let is_event = is_ack | is_sack | is_nack | is_timer;
        let is_admin = !(is_transmit | is_event | is_wake);
        let rc = op.settings.rc;
        let runs_sack = is_sack & !rc;
        let runs_loss = (is_nack | is_timer) & !rc;
        let runs_rc = (is_ack | is_timer) & rc;
        // The window may still process a request of the previous operation.
        let starts = (step == Step::StartFlow) & !self.window.busy.val();
        // A queue pair ignores acknowledgements of the other transport. In the error state it ignores all of them; its message table still accepts doorbells,
        // to flush their entries.
        let accepted = runs_sack | runs_loss | runs_rc;
        let ignored = (is_event & !accepted) | (op.state.failed & (is_event | is_wake));
        self.transmit.start.next = starts & is_transmit;
        self.sack.start.next = starts & runs_sack & !ignored;
        self.loss.start.next = starts & runs_loss & !ignored;
        self.rc.start.next = starts & runs_rc & !ignored;
        // write back
        let flow_done = self.transmit.done.val()
            | self.sack.done.val()
            | self.loss.done.val()
            | self.rc.done.val();
        let admin_done = self.admin.done.val();
        let result = if is_transmit {
            self.transmit.result.val()
        } else if runs_sack {
            self.sack.result.val()
        } else if runs_rc {
            self.rc.result.val()
        } else {
            self.loss.result.val()
        };
        let state = if admin_done {
            self.admin.state.val()
        } else {
            result.state
        };
        let completes_in_background = runs_sack & (result.next_action == NextAction::Completing);
        let needs_admin =
            flow_done & (result.next_action != NextAction::Nothing) & !completes_in_background;
        self.admin.start.next = (starts & is_admin) | needs_admin | deferred_fail;
        self.admin.op_done.next = needs_admin | deferred_fail;
        self.admin.op_result.next = if deferred_fail {
            OpResult {
                state: op.state,
                next_action: NextAction::Fail,
                failed_slot_valid: true,
                slot: completed.slot,
                status: completed.status,
                ..OpResult::default()
            }
        } else {
            result
        };
        self.admin.may_probe.next = self.may_probe.val();
        if flow_done {
            self.completing.d.next = completes_in_background;
        } else if (step == Step::Arbitrate) & answered {
            self.completing.d.next = false;
        }
        self.chains_next.next = self.sack.may_chain.val() & self.schedule_ready.val();
        let writes = flow_done | admin_done;
        self.states.write_enable.next = writes;
        self.states.write_address.next = current.qp.get_bits::<Q>(0);
        self.states.write_data.next = state;
        self.configs.write_enable.next = admin_done & configures_requester;
        self.configs.write_address.next = current.qp.get_bits::<Q>(0);
        self.configs.write_data.next = self.settings.val();
        self.configure_ready.next = admin_done & (current.kind == OpKind::Configure);
        self.deadline_valid.next = writes;
        self.deadline_qp.next = current.qp;
        self.deadline_armed.next = state.armed;
        self.deadline.next = state.deadline;

        // report
        let sent = flow_done & is_transmit;
        let rotate = sent & result.packet_sent;
        let deactivate = sent & !result.packet_sent & !result.already_reported;
        let first_packet_leaves = self.transmit.first_packet_leaves.val();
        let first_port = self.transmit.bg_burst_port.val();
        self.rotate.next = pair(
            (rotate & !current.port) | (first_packet_leaves & !first_port),
            (rotate & current.port) | (first_packet_leaves & first_port),
        );
        self.deactivate.next = pair(deactivate & !current.port, deactivate & current.port);
        let reschedule = if admin_done {
            (is_event | self.admin.reschedule.val()) & !state.failed
        } else {
            (flow_done & !is_transmit & !needs_admin) | (starts & is_wake & !ignored)
        };
        self.schedule_valid.next = reschedule | (step == Step::Reschedule);
        self.schedule_page.next = op.settings.page;
        self.schedule_qp.next = current.qp;
        self.tx_valid.next = self.transmit.tx_valid.val();
        self.tx.next = self.transmit.tx.val();
        self.reverse_ev_valid.next = self.sack.reverse_ev_valid.val();
        self.reverse_ev.next = self.sack.reverse_ev.val();
        self.failed.next = self.admin.failed.val();
        self.failed_status.next = self.admin.failed_status.val();
        self.event_qp.next = current.qp;
        self.refused.next = self.admin.refused.val();
        self.stats.next = if is_transmit {
            self.transmit.stats.val()
        } else if runs_sack {
            self.sack.stats.val()
        } else if runs_rc {
            self.rc.stats.val()
        } else {
            self.loss.stats.val()
        };
        let sent_stats = self.transmit.stats.val();
        self.stats.next.packet = sent_stats.packet;
        self.stats.next.retransmission = sent_stats.retransmission;
        self.stats.next.sent_qp = sent_stats.sent_qp;

        // next step
        let after_reschedule = if self.schedule_ready.val() {
            Step::Arbitrate
        } else {
            Step::Reschedule
        };
        match step {
            Step::Arbitrate => {
                if take {
                    self.op.d.next = offered_op;
                    self.step.d.next = Step::StartFlow;
                } else if deferred_fail {
                    self.step.d.next = Step::RunAdmin;
                }
            }
            Step::StartFlow | Step::RunFlow => {
                if chains {
                    self.op.d.next = offered_op;
                    self.step.d.next = Step::RunFlow;
                } else if needs_admin | (starts & is_admin) {
                    self.step.d.next = Step::RunAdmin;
                } else if reschedule {
                    self.step.d.next = after_reschedule;
                } else if flow_done | (starts & ignored) {
                    self.step.d.next = Step::Arbitrate;
                } else if starts {
                    self.step.d.next = Step::RunFlow;
                }
            }
            Step::RunAdmin => {
                if admin_done {
                    self.step.d.next = if reschedule {
                        after_reschedule
                    } else {
                        Step::Arbitrate
                    };
                }
            }
            Step::Reschedule => self.step.d.next = after_reschedule,
        }

        // Functional units: only the flow of the operation issues requests, and `spray_feedback_fifo`. A flow that needs the spray engine waits until the feedback
        // has been processed.
        let spray_in_use = self.spray.busy.val() | self.transmit.paths_pending.val();
        let spray_busy = spray_in_use | self.spray_feedback_fifo.pending.val();
        self.spray_feedback_fifo.in_valid.next = self.sack.feedback_valid.val();
        self.spray_feedback_fifo.in_feedback.next = self.sack.feedback.val();
        self.sack.feedback_ready.next = self.spray_feedback_fifo.in_ready.val();
        self.spray_feedback_fifo.spray_busy.next = spray_in_use;
        self.spray.start.next = self.transmit.spray_start.val()
            | self.spray_feedback_fifo.spray_start.val()
            | self.loss.spray_start.val()
            | self.admin.spray_start.val();
        self.spray.request.next = if self.transmit.spray_start.val() {
            self.transmit.spray_request.val()
        } else if self.spray_feedback_fifo.spray_start.val() {
            self.spray_feedback_fifo.spray_request.val()
        } else if self.loss.spray_start.val() {
            self.loss.spray_request.val()
        } else {
            self.admin.spray_request.val()
        };
        self.transmit.spray_busy.next = spray_busy;
        self.loss.spray_busy.next = spray_busy;
        self.admin.spray_busy.next = spray_busy;
        self.transmit.spray.next = self.spray.response.val();
        self.spray_request_valid.next = self.spray.unit_request_valid.val();
        self.spray_request.next = self.spray.unit_request.val();
        self.spray.unit_request_ready.next = self.spray_request_ready.val();
        self.spray.unit_response_valid.next = self.spray_response_valid.val();
        self.spray.unit_response.next = self.spray_response.val();
        let uses_nscc = self.transmit.nscc_start.val()
            | self.sack.nscc_start.val()
            | self.loss.nscc_start.val()
            | self.admin.nscc_start.val();
        self.nscc.start.next = uses_nscc;
        self.nscc.request.next = if self.transmit.nscc_start.val() {
            self.transmit.nscc_request.val()
        } else if self.sack.nscc_start.val() {
            self.sack.nscc_request.val()
        } else if self.loss.nscc_start.val() {
            self.loss.nscc_request.val()
        } else {
            self.admin.nscc_request.val()
        };
        if uses_nscc {
            self.cwnd_cache_valid.d.next = true;
            self.cwnd_cache_qp.d.next = current.qp;
        }
        self.transmit.cwnd_cached.next =
            self.cwnd_cache_valid.q.val() & (self.cwnd_cache_qp.q.val() == current.qp);
        self.transmit.nscc_busy.next = self.nscc.busy.val();
        self.sack.nscc_busy.next = self.nscc.busy.val();
        self.loss.nscc_busy.next = self.nscc.busy.val();
        self.admin.nscc_busy.next = self.nscc.busy.val();
        self.transmit.nscc.next = self.nscc.response.val();
        self.nscc_request_valid.next = self.nscc.unit_request_valid.val();
        self.nscc_request.next = self.nscc.unit_request.val();
        self.nscc.unit_request_ready.next = self.nscc_request_ready.val();
        self.nscc.unit_response_valid.next = self.nscc_response_valid.val();
        self.nscc.unit_response.next = self.nscc_response.val();
        self.window.start.next = self.transmit.window_start.val()
            | self.sack.window_start.val()
            | self.loss.window_start.val()
            | self.admin.window_start.val();
        self.window.request.next = if self.transmit.window_start.val() {
            self.transmit.window_request.val()
        } else if self.sack.window_start.val() {
            self.sack.window_request.val()
        } else if self.loss.window_start.val() {
            self.loss.window_request.val()
        } else {
            self.admin.window_request.val()
        };
        self.transmit.window_busy.next = self.window.busy.val();
        self.sack.window_busy.next = self.window.busy.val();
        self.loss.window_busy.next = self.window.busy.val();
        self.admin.window_busy.next = self.window.busy.val();
        self.transmit.window.next = self.window.response.val();
        self.sack.window.next = self.window.response.val();
        self.loss.window.next = self.window.response.val();
        self.window_request_valid.next = self.window.unit_request_valid.val();
        self.window_request.next = self.window.unit_request.val();
        self.window.unit_request_ready.next = self.window_request_ready.val();
        self.window.unit_response_valid.next = self.window_response_valid.val();
        self.window.unit_response.next = self.window_response.val();
        self.messages.start.next = self.transmit.messages_start.val()
            | self.sack.messages_start.val()
            | self.admin.messages_start.val();
        self.messages.request.next = if self.transmit.messages_start.val() {
            self.transmit.messages_request.val()
        } else if self.sack.messages_start.val() {
            self.sack.messages_request.val()
        } else {
            self.admin.messages_request.val()
        };
        self.sack.completing.next = completing;
        self.transmit.completing.next = completing;
        self.sack.messages_busy.next = self.messages.busy.val();
        self.sack.messages.next = self.messages.response.val();
        self.transmit.messages_busy.next = self.messages.busy.val();
        self.admin.messages_busy.next = self.messages.busy.val();
        self.transmit.messages.next = self.messages.response.val();
        self.admin.messages.next = self.messages.response.val();
        self.messages_request_valid.next = self.messages.unit_request_valid.val();
        self.messages_request.next = self.messages.unit_request.val();
        self.messages.unit_request_ready.next = self.messages_request_ready.val();
        self.messages.unit_response_valid.next = self.messages_response_valid.val();
        self.messages.unit_response.next = self.messages_response.val();
        self.transmit.spray_response_valid.next = self.spray_response_valid.val();
        self.transmit.spray_response.next = self.spray_response.val();
        self.sent_packet_valid.next = self.transmit.sent_packet_valid.val();
        self.sent_packet.next = self.transmit.sent_packet.val();
        self.xlate_req_valid.next = self.transmit.xlate_req_valid.val();
        self.xlate_req.next = self.transmit.xlate_req.val();
        self.transmit.xlate_req_ready.next = self.xlate_req_ready.val();
        self.transmit.xlate_rsp_valid.next = self.xlate_rsp_valid.val();
        self.transmit.xlate_rsp.next = self.xlate_rsp.val();

        if self.reset.val() {
            self.control_checked.d.next = false;
            self.completing.d.next = false;
            self.cwnd_cache_valid.d.next = false;
            self.step.d.next = Step::Arbitrate;
        }
    }
}
