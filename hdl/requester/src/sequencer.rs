//! The sequencer of a requester engine: executes one operation after the other (`docs/requester.md`).

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::bundles::{QpSnk, ReadFaultSnk};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc, RowRam, Snk, Src};
use hdl_spray_engine::entropy_lookup::Reflected;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccRequest, NsccResponse};
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{MessageRequest, MessageResponse};
use stellar_wire::hw::requester::{
    ControlPacket, RequesterConfig, TranslateRequest, TranslateResponse, TxRequest,
};
use stellar_wire::hw::spray::{PathUse, SprayRequest, SprayResponse};
use stellar_wire::hw::tenant::COST_BITS;
use stellar_wire::hw::window::{SentPacket, WindowRequest, WindowResponse};
use stellar_wire::hw::Qpn;

use crate::bundles::{ConfigureSnk, DeadlineSrc, DueSnk, ProducerSnk, ScheduleSrc, ServingSrc};
use crate::deadline::earlier;
use crate::loss_flow::LossFlow;
use crate::op_pick::OpPick;
use crate::ports::pair;
use crate::qp_admin_flow::QpAdminFlow;
use crate::rc_flow::RcFlow;
use crate::rc_turn::has_paths;
use crate::records::{
    ConfigureKind, NextAction, Op, OpKind, OpResult, PathPolicy, RequesterState, StatPulses,
};
use crate::sack_flow::SackFlow;
use crate::spray_feedback_fifo::SprayFeedbackFifo;
use crate::transmit_flow::TransmitFlow;
use crate::unit_client::UnitClient;

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

/// Sequencer of an engine with 2^`Q` queue pairs. It takes an operation, reads the rows of the queue pair, runs the flow of the operation, and writes the
/// state back.
///
/// `OpPick` has chosen the operation one cycle before or earlier. The rows of the queue pair that enters its register are read in that cycle, so they are at the read ports
/// whenever the operation is taken. A row that is written in the cycle in which it is read, or a cycle later, is that of the last operation, and its rows stay beside it: `op`
/// changes only when an operation is taken, and in the cycle after that nothing is chosen.
#[derive(LogicBlock, Default)]
pub struct Sequencer<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    /// After reset, queue pairs have to be configured again.
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,
    /// Bit p: port p can send.
    pub plane_up: Signal<In, Bits<2>>,

    /// Starts no operation: the queue of failures is nearly full.
    pub hold: Signal<In, Bit>,

    // Configuration. The settings of a functional unit go to that unit directly. All inputs are stable until `configure_ready`.
    pub configure: ConfigureSnk,
    pub settings: Signal<In, RequesterConfig>,
    /// Valid with `ConfigureKind::Spray`.
    pub path_policy: Signal<In, PathPolicy>,
    /// Valid with `ConfigureKind::PathUse`.
    pub path_use: Signal<In, PathUse>,

    // Control packets, doorbells, payload faults, flushes, and wake-ups. Each is accepted when valid and ready are high.
    /// SACK, NACK or RC acknowledgement.
    pub control: Snk<ControlPacket>,
    /// Many control packets are queued: they have priority over the next burst.
    pub control_almost_full: Signal<In, Bit>,
    pub doorbell: ProducerSnk,
    /// The payload of a packet of this message cannot be read.
    pub fault: ReadFaultSnk,
    /// The receive side failed.
    pub flush: QpSnk,
    /// The queue pair may have something to send: an entry of its send queue arrived, or a port came up.
    pub wake: QpSnk,

    // Schedulers of the ports: bit p belongs to port p.
    pub head_valid: Signal<In, Bits<2>>,
    pub head0_qp: Signal<In, Qpn>,
    pub head1_qp: Signal<In, Qpn>,
    /// The head sent a packet, or has nothing to send. One cycle after the flow is done.
    pub rotate: Signal<Out, Bits<2>>,
    pub deactivate: Signal<Out, Bits<2>>,
    /// Bytes on the wire of what was sent. Valid in the cycle after `rotate`.
    pub cost: Signal<Out, Bits<COST_BITS>>,
    pub serving: ServingSrc,
    /// Schedules a queue pair at both ports.
    pub schedule: ScheduleSrc,

    // Timers.
    pub due: DueSnk,
    pub deadline: DeadlineSrc,

    // Packets. Bit p of `tx_space`: the queue of port p has space for 32 packets.
    pub tx_space: Signal<In, Bits<2>>,
    pub tx: FlowSrc<TxRequest>,

    // Pulses.
    /// A SACK reflected this entropy value without a mark.
    pub reverse_ev: FlowSrc<Reflected>,
    pub failed: Signal<Out, Bit>,
    /// A queue pair without a block of the window's pool has something to send, and found none.
    pub starved: Signal<Out, Bit>,
    /// Queue pair of `failed`, `refused`, `starved` and `stats`.
    pub event_qp: Signal<Out, Qpn>,
    pub failed_status: Signal<Out, Bits<8>>,
    /// A producer index was refused.
    pub refused: Signal<Out, Bit>,
    pub stats: Signal<Out, StatPulses>,

    // Functional units and local translation.
    pub spray_request: Src<SprayRequest>,
    pub spray_response: FlowSnk<SprayResponse>,
    pub nscc_request: Src<NsccRequest>,
    pub nscc_response: FlowSnk<NsccResponse>,
    pub window_request: Src<WindowRequest>,
    pub window_response: FlowSnk<WindowResponse>,
    /// Records of the packets of an `Allocate`, as they are sent.
    pub sent_packet: FlowSrc<SentPacket>,
    pub messages_request: Src<MessageRequest>,
    pub messages_response: FlowSnk<MessageResponse>,
    pub xlate_req: OfferSrc<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,
    /// The location of a payload is dropped: its packet is not sent.
    pub dropped: Signal<Out, EpochEnd>,

    pick: OpPick,
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
    configs: RowRam<RequesterConfig, Q>,
    states: RowRam<RequesterState, Q>,
    step: DFF<Step>,
    /// The operation and its queue pair's rows, which stay when it is done. They are valid once a flow has started after a reset.
    op: DFF<Op>,
    /// The state that the operation leaves, if it was done in the last cycle (`arms`). Whether it is done comes late, so this loads in every cycle of an operation, and
    /// `op` and the memory have it a cycle later.
    state_after: DFF<RequesterState>,
    /// The last cycle left the state of the operation as it was.
    keeps_state: DFF<Bit>,
    rows_loaded: DFF<Bit>,
    /// Outputs of the last cycle. Results of flows come late in a cycle.
    rotate_held: DFF<Bits<2>>,
    deactivate_held: DFF<Bits<2>>,
    arms: DFF<Bit>,
    /// The message table processes the completions of the SACK `current`.
    completing: DFF<Bit>,
    /// The last request to congestion control was about this queue pair, so the unit's client holds its window.
    cwnd_cache_valid: DFF<Bit>,
    cwnd_cache_qp: DFF<Qpn>,
    /// The current SACK is done, and the next one may start in this cycle.
    chains_next: Signal<Local, Bit>,
}

impl<const Q: usize> Logic for Sequencer<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            op,
            state_after,
            keeps_state,
            rows_loaded,
            rotate_held,
            deactivate_held,
            arms,
            completing
        );
        dff_setup!(self, clock, cwnd_cache_valid, cwnd_cache_qp);
        clock_reset!(
            self,
            pick,
            transmit,
            sack,
            loss,
            rc,
            admin,
            spray,
            nscc,
            window,
            messages,
            spray_feedback_fifo
        );
        clock!(self, clock, configs, states);

        // choose
        join!(
            self,
            hold => pick.hold,
            configure.valid => pick.configure_valid,
            configure.record => pick.configure,
            configure.qp => pick.configure_qp,
            control => pick.control,
            control_almost_full => pick.control_almost_full,
            due => pick.due,
            fault => pick.fault,
            flush => pick.flush,
            doorbell => pick.doorbell,
            wake => pick.wake,
            schedule.ready => pick.schedule_ready,
            head_valid => pick.head_valid,
            tx_space => pick.tx_space,
            head0_qp => pick.head0_qp,
            head1_qp => pick.head1_qp,
            transmit.unreadable => pick.unreadable,
            transmit.background => pick.burst,
        );
        let bg_burst_active = self.transmit.background.active.val();
        let control = self.control.record.val();
        let pick = self.pick.pick.val();
        let step = self.step.q.val();
        let current = self.op.q.val();
        let written = self.arms.q.val();
        let left_state = if written {
            self.state_after.q.val()
        } else {
            current.state
        };
        // A SACK that completes messages may move the queue pair to the error state. Until the message table responds, only operations of the same queue pair
        // start that respect this.
        let completing = self.completing.q.val();
        let answered = completing & !self.messages.busy.val();
        let completed = self.messages.response.val();
        let deferred_fail = (step == Step::Take) & answered & completed.found;
        let same_qp = pick.qp == current.qp;
        let same_qp_allowed = same_qp
            & ((pick.kind == OpKind::Sack)
                | (pick.kind == OpKind::Transmit)
                | (pick.kind == OpKind::Wake));
        let offered = self.pick.valid.val();
        let chains = self.pick.sack_valid.val() & same_qp & self.chains_next.val();
        let starts_next = (step == Step::Take) & (!completing | same_qp_allowed) & !deferred_fail;
        let take = offered & starts_next;
        self.pick.starts.next = starts_next;
        self.pick.chains.next = chains;
        self.pick.messages_busy.next = self.messages.busy.val();
        self.pick.arms.next = self.arms.q.val();
        // The head of a transmission is that of the next one only if it was not rotated.
        let serves = (current.kind == OpKind::Transmit) & (step != Step::Take);
        self.pick.turns.next = self.rotate_held.q.val() | self.deactivate_held.q.val();
        let served = pair(serves & !current.port, serves & current.port);
        self.pick.served.next = served;
        self.serving.heads.next = served;
        join!(
            self,
            transmit.background.active => serving.burst_active,
            transmit.background.qp => serving.burst_qp,
            transmit.background.port => serving.burst_port,
        );

        // Rows are read while an operation is chosen.
        let row = self.pick.next_qp.val().get_bits::<Q>(0);
        self.configs.read_address.next = row;
        self.states.read_address.next = row;
        let has_rows = self.rows_loaded.q.val() & same_qp;
        let brings_settings =
            (pick.kind == OpKind::Configure) & (pick.configure == ConfigureKind::Requester);
        let read_settings = self.configs.read_data.val();
        let read_state = self.states.read_data.val();
        let configures_requester =
            (current.kind == OpKind::Configure) & (current.configure == ConfigureKind::Requester);
        let op = current;
        self.sack.chains_next.next = chains;
        self.sack.next_control.next = control;
        self.sack.burst_active.next =
            bg_burst_active & (self.transmit.background.qp.val() == current.qp);
        self.sack.burst_first_psn.next = self.transmit.background.first_psn.val();
        self.transmit.op.next = op;
        self.sack.op.next = op;
        self.loss.op.next = op;
        self.rc.op.next = op;
        self.admin.op.next = op;

        // start
        let is_transmit = current.kind == OpKind::Transmit;
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
        // A queue pair with paths also gets answers to its probes.
        let answers_probe = is_sack & has_paths(op.settings) & op.control.seth.probe_response;
        let runs_rc = (is_ack | is_timer | answers_probe) & rc;
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
        let sent = self.transmit.done.val();
        let event_done = self.sack.done.val() | self.loss.done.val() | self.rc.done.val();
        let flow_done = sent | event_done;
        let admin_done = self.admin.done.val();
        let event_result = if runs_sack {
            self.sack.result.val()
        } else if rc {
            self.rc.result.val()
        } else {
            self.loss.result.val()
        };
        let sent_result = self.transmit.result.val();
        let result = if is_transmit {
            sent_result
        } else {
            event_result
        };
        let runs_admin = step == Step::RunAdmin;
        assert!(
            runs_admin | !admin_done,
            "the administrative flow is done beside another one"
        );
        if step != Step::Take {
            self.state_after.d.next = if runs_admin {
                self.admin.state.val()
            } else {
                result.state
            };
        }
        let completes_in_background =
            runs_sack & (event_result.next_action == NextAction::Completing);
        // Whether an event needs more does not depend on the transmit flow, whose result comes last, nor on when a SACK or a loss is done. A SACK that fails nothing completes messages in
        // the background.
        let rc_needs_admin =
            self.rc.done.val() & (self.rc.result.val().next_action != NextAction::Nothing);
        let event_needs_admin = self.sack.fails.val() | self.loss.fails.val() | rc_needs_admin;
        let needs_admin =
            event_needs_admin | (sent & (sent_result.next_action != NextAction::Nothing));
        self.admin.start.next = starts & is_admin;
        self.admin.op_done.next = needs_admin | deferred_fail;
        self.admin.op_result.next = if deferred_fail {
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
        self.keeps_state.d.next = (step == Step::Take) | starts;
        self.admin.handed.next = if self.keeps_state.q.val() {
            current.state
        } else {
            self.state_after.q.val()
        };
        self.admin.path_policy.next = self.path_policy.val();
        self.admin.path_use.next = self.path_use.val();
        self.admin.spray_response.next = self.spray.response.val();
        if flow_done {
            self.completing.d.next = completes_in_background;
        } else if (step == Step::Take) & answered {
            self.completing.d.next = false;
        }
        self.chains_next.next = self.sack.may_chain.val() & self.schedule.ready.val();
        let writes = flow_done | admin_done;
        self.states.write_enable.next = written;
        self.states.write_address.next = current.qp.get_bits::<Q>(0);
        self.states.write_data.next = self.state_after.q.val();
        self.configs.write_enable.next = admin_done & configures_requester;
        self.configs.write_address.next = current.qp.get_bits::<Q>(0);
        self.configs.write_data.next = current.settings;
        self.configure.ready.next = admin_done & (current.kind == OpKind::Configure);
        self.arms.d.next = writes;
        // A pause of the path policy has a deadline of its own.
        let left = self.state_after.q.val();
        let pause = left.rc.paths;
        self.deadline.valid.next = written;
        self.deadline.qp.next = current.qp;
        self.deadline.armed.next = left.armed | pause.held;
        self.deadline.record.next = if pause.held {
            earlier(left.armed, left.deadline, pause.held_until)
        } else {
            left.deadline
        };

        // report
        let rotate = sent & sent_result.packet_sent;
        let deactivate = sent & !sent_result.packet_sent & !sent_result.tried_again;
        self.rotate_held.d.next = pair(rotate & !current.port, rotate & current.port);
        self.deactivate_held.d.next = pair(deactivate & !current.port, deactivate & current.port);
        self.rotate.next = self.rotate_held.q.val();
        self.deactivate.next = self.deactivate_held.q.val();
        let reschedule = if admin_done {
            (is_event | self.admin.reschedule.val()) & !self.admin.state.val().failed
        } else {
            (event_done & !event_needs_admin) | (starts & is_wake & !op.state.failed)
        };
        self.schedule.valid.next = reschedule | (step == Step::Reschedule);
        self.schedule.page.next = op.settings.page;
        self.schedule.qp.next = current.qp;
        join!(
            self,
            plane_up => transmit.plane_up,
            transmit.tx => tx,
            transmit.cost => cost,
            sack.reverse_ev => reverse_ev,
        );
        self.failed.next = self.admin.failed.val();
        self.failed_status.next = self.admin.failed_status.val();
        self.event_qp.next = current.qp;
        self.refused.next = self.admin.refused.val();
        self.starved.next = self.transmit.starved.val();
        self.stats.next = if is_transmit {
            self.transmit.stats.val()
        } else if runs_sack {
            self.sack.stats.val()
        } else if rc {
            self.rc.stats.val()
        } else {
            self.loss.stats.val()
        };
        let sent_stats = self.transmit.stats.val();
        self.stats.next.packet = sent_stats.packet;
        self.stats.next.retransmission = sent_stats.retransmission;
        self.stats.next.sent_qp = sent_stats.sent_qp;
        self.stats.next.bytes = sent_stats.bytes;
        self.stats.next.on_path = sent_stats.on_path;
        self.stats.next.sent_index = sent_stats.sent_index;

        // next step
        let after_reschedule = if self.schedule.ready.val() {
            Step::Take
        } else {
            Step::Reschedule
        };
        let taken_op = Op {
            kind: pick.kind,
            qp: pick.qp,
            port: pick.port,
            slot: pick.slot,
            configure: pick.configure,
            now: self.now.val(),
            control,
            settings: if brings_settings {
                self.settings.val()
            } else if has_rows {
                current.settings
            } else {
                read_settings
            },
            state: if has_rows { left_state } else { read_state },
        };
        if written {
            self.op.d.next.state = self.state_after.q.val();
        }
        // The window has begun with a SACK that follows another one; the flow needs the rest of it later.
        if self.pick.chained.val() {
            self.op.d.next.now = self.now.val();
            self.op.d.next.control = control;
        }
        match step {
            Step::Take => {
                if take {
                    self.op.d.next = taken_op;
                    self.rows_loaded.d.next = true;
                    self.step.d.next = Step::StartFlow;
                } else if deferred_fail {
                    self.step.d.next = Step::RunAdmin;
                }
            }
            Step::StartFlow | Step::RunFlow => {
                if chains {
                    self.step.d.next = Step::RunFlow;
                } else if needs_admin | (starts & is_admin) {
                    self.step.d.next = Step::RunAdmin;
                } else if reschedule {
                    self.step.d.next = after_reschedule;
                } else if flow_done | (starts & ignored) {
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

        // Functional units: only the flow of the operation issues requests, and `spray_feedback_fifo`. A flow that needs the spray engine waits until the feedback
        // has been processed. Whose request it is does not depend on `start`, which comes late.
        let flow_is_transmit = is_transmit & !runs_admin;
        let flow_is_sack = runs_sack & !runs_admin;
        let flow_is_loss = runs_loss & !runs_admin;
        assert!(
            flow_is_transmit
                | !(self.transmit.spray.start.val()
                    | self.transmit.nscc.start.val()
                    | self.transmit.window.start.val()
                    | self.transmit.messages.start.val()),
            "the transmit flow issues a request in another operation"
        );
        assert!(
            flow_is_sack
                | !(self.sack.nscc.start.val()
                    | self.sack.window.start.val()
                    | self.sack.messages.start.val()),
            "the SACK flow issues a request in another operation"
        );
        assert!(
            flow_is_loss
                | !(self.loss.spray.start.val()
                    | self.loss.nscc.start.val()
                    | self.loss.window.start.val()),
            "the loss flow issues a request in another operation"
        );
        assert!(
            !(flow_is_transmit | flow_is_sack | flow_is_loss)
                | !(self.admin.spray.start.val()
                    | self.admin.nscc.start.val()
                    | self.admin.window.start.val()
                    | self.admin.messages.start.val()),
            "the administrative flow issues a request in the operation of another flow"
        );
        assert!(
            !self.spray_feedback_fifo.pending.val()
                | !(self.transmit.spray.start.val()
                    | self.loss.spray.start.val()
                    | self.admin.spray.start.val()),
            "a flow issues a request to the spray engine before the feedback is processed"
        );
        let spray_in_use = self.spray.busy.val() | self.transmit.paths_pending.val();
        let spray_busy = spray_in_use | self.spray_feedback_fifo.pending.val();
        self.spray_feedback_fifo.feedback.valid.next =
            self.sack.feedback.valid.val() | self.rc.feedback.valid.val();
        self.spray_feedback_fifo.feedback.record.next = if rc {
            self.rc.feedback.record.val()
        } else {
            self.sack.feedback.record.val()
        };
        let feedback_ready = self.spray_feedback_fifo.feedback.ready.val();
        self.sack.feedback.ready.next = feedback_ready;
        self.rc.feedback.ready.next = feedback_ready;
        self.spray_feedback_fifo.spray.busy.next = spray_in_use;
        self.spray.start.next = self.transmit.spray.start.val()
            | self.spray_feedback_fifo.spray.start.val()
            | self.loss.spray.start.val()
            | self.admin.spray.start.val();
        self.spray.request.next = if self.spray_feedback_fifo.pending.val() {
            self.spray_feedback_fifo.spray.request.val()
        } else if flow_is_transmit {
            self.transmit.spray.request.val()
        } else if flow_is_loss {
            self.loss.spray.request.val()
        } else {
            self.admin.spray.request.val()
        };
        self.transmit.spray.busy.next = spray_busy;
        self.transmit.spray_asked.next = self.spray.busy.val();
        let spray_responds = self.spray_response.valid.val();
        self.transmit.spray_frees.next = !(self.spray.busy.val() & !spray_responds)
            & !self.transmit.paths_follow.val()
            & !self.spray_feedback_fifo.pending.val();
        self.loss.spray.busy.next = spray_busy;
        self.admin.spray.busy.next = spray_busy;
        self.transmit.spray.response.next = self.spray.response.val();
        join!(
            self,
            spray.unit_request => spray_request,
            spray_response => spray.unit_response,
        );
        let uses_nscc = self.transmit.nscc.start.val()
            | self.sack.nscc.start.val()
            | self.loss.nscc.start.val()
            | self.admin.nscc.start.val();
        self.nscc.start.next = uses_nscc;
        self.nscc.request.next = if flow_is_transmit {
            self.transmit.nscc.request.val()
        } else if flow_is_sack {
            self.sack.nscc.request.val()
        } else if flow_is_loss {
            self.loss.nscc.request.val()
        } else {
            self.admin.nscc.request.val()
        };
        if uses_nscc {
            self.cwnd_cache_valid.d.next = true;
            self.cwnd_cache_qp.d.next = current.qp;
        }
        self.transmit.cwnd_cached.next =
            self.cwnd_cache_valid.q.val() & (self.cwnd_cache_qp.q.val() == current.qp);
        self.transmit.nscc.busy.next = self.nscc.busy.val();
        self.sack.nscc.busy.next = self.nscc.busy.val();
        self.loss.spray_response.next = self.spray.response.val();
        self.loss.plane_up.next = self.plane_up.val();
        self.sack.plane_up.next = self.plane_up.val();
        self.loss.nscc.busy.next = self.nscc.busy.val();
        self.admin.nscc.busy.next = self.nscc.busy.val();
        self.transmit.nscc.response.next = self.nscc.response.val();
        join!(
            self,
            nscc.unit_request => nscc_request,
            nscc_response => nscc.unit_response,
        );
        self.window.start.next = self.transmit.window.start.val()
            | self.sack.window.start.val()
            | self.loss.window.start.val()
            | self.admin.window.start.val();
        self.window.request.next = if flow_is_transmit {
            self.transmit.window.request.val()
        } else if flow_is_sack {
            self.sack.window.request.val()
        } else if flow_is_loss {
            self.loss.window.request.val()
        } else {
            self.admin.window.request.val()
        };
        self.transmit.window.busy.next = self.window.busy.val();
        self.sack.window.busy.next = self.window.busy.val();
        self.loss.window.busy.next = self.window.busy.val();
        self.admin.window.busy.next = self.window.busy.val();
        self.transmit.window.response.next = self.window.response.val();
        self.sack.window_response.next = self.window.response.val();
        self.loss.window_response.next = self.window.response.val();
        join!(
            self,
            window.unit_request => window_request,
            window_response => window.unit_response,
        );
        self.messages.start.next = self.transmit.messages.start.val()
            | self.sack.messages.start.val()
            | self.admin.messages.start.val();
        self.messages.request.next = if flow_is_transmit {
            self.transmit.messages.request.val()
        } else if flow_is_sack {
            self.sack.messages.request.val()
        } else {
            self.admin.messages.request.val()
        };
        self.sack.completing.next = completing;
        self.transmit.completing.next = completing;
        self.sack.messages.busy.next = self.messages.busy.val();
        self.sack.messages_response.next = self.messages.response.val();
        self.transmit.messages.busy.next = self.messages.busy.val();
        self.admin.messages.busy.next = self.messages.busy.val();
        self.transmit.messages.response.next = self.messages.response.val();
        self.admin.messages_response.next = self.messages.response.val();
        join!(
            self,
            messages.unit_request => messages_request,
            messages_response => messages.unit_response,
            spray_response => transmit.path,
            messages_response => transmit.taken,
            messages_response => admin.answer,
            transmit.sent_packet => sent_packet,
            transmit.xlate_req => xlate_req,
            xlate_rsp => transmit.xlate_rsp,
            transmit.dropped => dropped,
        );

        if self.reset.val() {
            self.arms.d.next = false;
            self.rotate_held.d.next = bits::<2>(0);
            self.deactivate_held.d.next = bits::<2>(0);
            self.rows_loaded.d.next = false;
            self.completing.d.next = false;
            self.cwnd_cache_valid.d.next = false;
            self.step.d.next = Step::Take;
        }
    }
}
