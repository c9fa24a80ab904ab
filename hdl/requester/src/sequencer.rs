//! The sequencer of a requester engine: executes one operation after the other (`docs/requester.md`).

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::bundles::{QpSnk, ReadFaultSnk};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc, Snk, Src};
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
use crate::loss_flow::LossFlow;
use crate::op_control::OpControl;
use crate::op_pick::OpPick;
use crate::op_rows::OpRows;
use crate::op_stats::op_stats;
use crate::qp_admin_flow::QpAdminFlow;
use crate::rc_flow::RcFlow;
use crate::records::{PathPolicy, StatPulses};
use crate::sack_flow::SackFlow;
use crate::transmit_flow::TransmitFlow;
use crate::unit_access::UnitAccess;

/// Sequencer of an engine with 2^`Q` queue pairs. `OpPick` chooses an operation, one cycle before or earlier. `OpControl` takes it, starts its flow, and writes back the state that the flow
/// leaves; `OpRows` has the operation and the rows of the queue pairs. The flows use the functional units through `UnitAccess`.
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
    steps: OpControl,
    rows: OpRows<Q>,
    transmit: TransmitFlow,
    sack: SackFlow,
    loss: LossFlow,
    rc: RcFlow,
    admin: QpAdminFlow,
    units: UnitAccess,
}

impl<const Q: usize> Logic for Sequencer<Q> {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, pick, steps, rows, transmit, sack, loss, rc, admin, units);
        let op = self.rows.op.val();
        let rc = op.settings.rc;

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
            units.transmit_messages.busy => pick.messages_busy,
            steps.pick_starts => pick.starts,
            steps.chains => pick.chains,
            steps.written => pick.arms,
            steps.turns => pick.turns,
            steps.served => pick.served,
        );

        // read and write rows
        join!(
            self,
            now => rows.now,
            control.record => rows.control,
            settings => rows.settings,
            pick.next_qp => rows.next_qp,
            pick.pick => rows.pick,
            pick.chained => rows.chained,
            steps.takes => rows.takes,
            steps.written => rows.writes_state,
            steps.state_after => rows.state_after,
            steps.writes_settings => rows.writes_settings,
        );

        // execute
        join!(
            self,
            pick.pick => steps.pick,
            pick.valid => steps.pick_valid,
            pick.sack_valid => steps.sack_valid,
            rows.op => steps.op,
            transmit.done => steps.transmit_done,
            transmit.needs_admin => steps.transmit_needs_admin,
            transmit.result => steps.transmit_result,
            sack.done => steps.sack_done,
            sack.fails => steps.sack_fails,
            sack.may_chain => steps.sack_may_chain,
            sack.result => steps.sack_result,
            loss.done => steps.loss_done,
            loss.fails => steps.loss_fails,
            loss.result => steps.loss_result,
            rc.done => steps.rc_done,
            rc.result => steps.rc_result,
            admin.done => steps.admin_done,
            admin.state => steps.admin_state,
            admin.goes_on => steps.admin_goes_on,
            admin.reschedule => steps.admin_reschedule,
            units.sack_window.busy => steps.window_busy,
            units.sack_messages.busy => steps.messages_busy,
            units.sack_messages.response => steps.messages_response,
            steps.configured => configure.ready,
            steps.rotate => rotate,
            steps.deactivate => deactivate,
            steps.served => serving.heads,
            steps.schedule => schedule,
            steps.deadline => deadline,
        );

        // transmit
        join!(
            self,
            rows.op => transmit.op,
            steps.transmit_start => transmit.start,
            steps.completing => transmit.completing,
            plane_up => transmit.plane_up,
            transmit.background.active => serving.burst_active,
            transmit.background.qp => serving.burst_qp,
            transmit.background.port => serving.burst_port,
            transmit.starved => starved,
            transmit.cost => cost,
            transmit.tx => tx,
            spray_response => transmit.path,
            messages_response => transmit.taken,
            transmit.sent_packet => sent_packet,
            transmit.xlate_req => xlate_req,
            xlate_rsp => transmit.xlate_rsp,
            transmit.dropped => dropped,
        );

        // process SACKs, losses and RC acknowledgements
        self.sack.burst_active.next =
            self.transmit.background.active.val() & (self.transmit.background.qp.val() == op.qp);
        join!(
            self,
            rows.op => sack.op,
            steps.sack_start => sack.start,
            steps.chains => sack.chains_next,
            steps.completing => sack.completing,
            control.record => sack.next_control,
            plane_up => sack.plane_up,
            transmit.background.first_psn => sack.burst_first_psn,
            sack.reverse_ev => reverse_ev,
            rows.op => loss.op,
            steps.loss_start => loss.start,
            plane_up => loss.plane_up,
            rows.op => rc.op,
            steps.rc_start => rc.start,
        );

        // administer
        join!(
            self,
            rows.op => admin.op,
            steps.admin_start => admin.start,
            steps.admin_op_done => admin.op_done,
            steps.admin_op_result => admin.op_result,
            steps.admin_handed => admin.handed,
            path_policy => admin.path_policy,
            path_use => admin.path_use,
            messages_response => admin.answer,
            admin.failed => failed,
            admin.failed_status => failed_status,
            admin.refused => refused,
        );

        // use the functional units
        self.units.qp.next = op.qp;
        self.units.feedback.valid.next =
            self.sack.feedback.valid.val() | self.rc.feedback.valid.val();
        self.units.feedback.record.next = if rc {
            self.rc.feedback.record.val()
        } else {
            self.sack.feedback.record.val()
        };
        join!(
            self,
            steps.active => units.active,
            transmit.spray => units.transmit_spray,
            transmit.nscc => units.transmit_nscc,
            transmit.window => units.transmit_window,
            transmit.messages => units.transmit_messages,
            transmit.paths_pending => units.paths_pending,
            transmit.paths_follow => units.paths_follow,
            units.spray_asked => transmit.spray_asked,
            units.spray_frees => transmit.spray_frees,
            units.cwnd_cached => transmit.cwnd_cached,
            sack.nscc => units.sack_nscc,
            sack.window => units.sack_window,
            sack.messages => units.sack_messages,
            loss.spray => units.loss_spray,
            loss.nscc => units.loss_nscc,
            loss.window => units.loss_window,
            admin.spray => units.admin_spray,
            admin.nscc => units.admin_nscc,
            admin.window => units.admin_window,
            admin.messages => units.admin_messages,
            units.feedback.ready => sack.feedback.ready,
            units.feedback.ready => rc.feedback.ready,
            units.spray_request => spray_request,
            spray_response => units.spray_response,
            units.nscc_request => nscc_request,
            nscc_response => units.nscc_response,
            units.window_request => window_request,
            window_response => units.window_response,
            units.messages_request => messages_request,
            messages_response => units.messages_response,
        );

        // count
        self.event_qp.next = op.qp;
        self.stats.next = op_stats(
            self.steps.route.val(),
            rc,
            self.transmit.stats.val(),
            self.sack.stats.val(),
            self.rc.stats.val(),
            self.loss.stats.val(),
        );
    }
}
