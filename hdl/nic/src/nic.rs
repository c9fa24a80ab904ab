//! The card: two lanes of 1,024 bits around one transport core.

use hdl_emtt::LocalTranslate;
use hdl_host_if::{
    AdminQueue, DoorbellWriteSnk, Doorbells, HostQueues, RegisterReadSnk, RegisterWriteSnk,
    Registers,
};
use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::read::DmaRead1024;
use hdl_pcie::share::{ReadShare, WriteShare};
use hdl_primitives::{CompletionSnk, MacRxSnk, MacTxSrc, Src, TlpSrc, VerdictSrc};
use hdl_requester::StatPulses;
use hdl_responder::Responder;
use hdl_tx_pipeline::TxLane1024;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::CongestionSample;
use stellar_wire::hw::read::ReadTlpHeader;
use stellar_wire::hw::requester::ControlKind;

use crate::nic_config::NicConfig;
use crate::requester_pair::RequesterPair;
use crate::rx_lanes::RxLanes1024;
use crate::table_bits::{EMTT_BANK_BITS, EMTT_BITS, MR_BITS};

/// 1,024 queue pairs.
const Q: usize = 10;
/// 16 stashed immediates per queue pair.
const I: usize = 4;
/// Address bits of the stashes of all queue pairs.
const STASH_BITS: usize = Q + I;

/// Cycles from the end of a reset until the card has cleared its memories: one row of every queue pair per cycle, and a few cycles to begin.
pub const RESET_CLOCKS: usize = (1 << Q) + 16;

/// Outputs of [`Nic`] that only simulation reads: a card of silicon leaves them out.
pub const VERIFICATION_PORTS: &[&str] = &[
    "counted0_qp",
    "counted0",
    "counted1_qp",
    "counted1",
    "sampled0",
    "sampled1",
    "doorbell_out_of_range",
    "verdict_valid",
    "verdict_reason",
    "payload_mismatch",
];

/// The NIC with both lanes. Lane p is port p and PCIe endpoint p; the host's rings are read and written by endpoint 0.
#[derive(LogicBlock, Default)]
pub struct Nic {
    pub clock: Signal<In, Clock>,
    /// Function-level reset: clears control state. Software has to write the tables again.
    pub reset: Signal<In, Bit>,
    /// Bit p: the link of port p is up.
    pub port_up: Signal<In, Bits<2>>,

    // BAR0: registers of the physical function (`stellar_wire::host::registers`).
    pub bar0_write: RegisterWriteSnk,
    pub bar0_read: RegisterReadSnk,
    // BAR2: doorbell pages of 4 KiB.
    pub bar2_write: DoorbellWriteSnk,
    pub bar2_ready: Signal<Out, Bit>,

    // Frames of both ports, from their MACs and to them.
    pub rx: [MacRxSnk<1024>; 2],
    pub tx: [MacTxSrc<1024>; 2],
    // Memory writes, read requests and completions of both PCIe endpoints.
    pub write: [TlpSrc<1024>; 2],
    pub read: [Src<ReadTlpHeader>; 2],
    pub completion: [CompletionSnk<1024>; 2],
    // For simulation only: see `VERIFICATION_PORTS`.
    /// Statistics pulses of the requester of even queue pairs (0) and of odd ones (1), and the queue pair that they and `doorbell_out_of_range` are about.
    pub counted0_qp: Signal<Out, Bits<10>>,
    pub counted0: Signal<Out, StatPulses>,
    pub counted1_qp: Signal<Out, Bits<10>>,
    pub counted1: Signal<Out, StatPulses>,
    /// Congestion window, bytes in flight and round trip after each SACK, of even queue pairs (0) and of odd ones (1).
    pub sampled: [Signal<Out, CongestionSample>; 2],
    /// Bit e: the requester e refused a producer index.
    pub doorbell_out_of_range: Signal<Out, Bits<2>>,
    pub verdict: VerdictSrc,
    /// A transmit lane received a payload of another length than it requested. A correct card never raises it.
    pub payload_mismatch: Signal<Out, Bit>,

    registers: Registers<Q, MR_BITS, EMTT_BITS>,
    admin: AdminQueue<Q, MR_BITS, EMTT_BITS>,
    doorbells: Doorbells<Q>,
    nic_config: NicConfig,
    receive: RxLanes1024,
    responder: Responder<Q, I, STASH_BITS>,
    engine: RequesterPair,
    locate: LocalTranslate<MR_BITS, EMTT_BANK_BITS>,
    queues: HostQueues<Q, 1024>,
    lanes: [TxLane1024; 2],
    read_share: [ReadShare<1024>; 2],
    dma_read: [DmaRead1024; 2],
    /// Of endpoint 0: writes of the receive lane and of the host's queues.
    write_share: WriteShare<1024>,

    /// Time in cycles of 4 ns; bits 32:1 are ticks of 8 ns.
    clocks: DFF<Bits<33>>,
    /// The failure at the head of the queue has been reported to the host, and to the receive core.
    host_told: DFF<Bit>,
    core_told: DFF<Bit>,
    counter: DFF<Bits<48>>,
}

impl Logic for Nic {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, clocks, host_told, core_told, counter);
        clock_reset!(
            self,
            registers,
            admin,
            doorbells,
            nic_config,
            receive,
            responder,
            engine,
            locate,
            queues,
            lanes[..],
            read_share[..],
            dma_read[..],
            write_share
        );

        // time: ticks of 8 ns
        self.clocks.d.next = self.clocks.q.val() + 1;
        self.engine.now.next = self.clocks.q.val().get_bits::<32>(1);

        // registers and doorbells
        join!(
            self,
            bar0_write => registers.write,
            bar0_read => registers.read,
            bar2_write => doorbells.write,
            doorbells.ready => bar2_ready,
            port_up => registers.port_up,
            port_up => responder.plane_up,
            port_up => engine.plane_up,
            queues.interrupt_pending => registers.interrupt_pending,
            registers.udp_port => receive.udp_port,
            registers.mps_code => receive.mps_code,
            registers.fence => receive.fence,
            receive.fence_done => registers.fence_done,
            registers.arm => responder.arm,
            registers.event_consumer => queues.event_consumer,
            doorbells.doorbell => engine.doorbell,
            doorbells.consumer => queues.consumer,
            doorbells.refused_valid => queues.doorbell_refused.valid,
            doorbells.refused_page => queues.doorbell_refused.page,
            doorbells.refused_qp => queues.doorbell_refused.qp,
            queues.doorbell_refused.ready => doorbells.refused_ready,
        );
        self.receive.counter_select.next = self.registers.counter_select.val().get_bits::<6>(0);
        self.counter.d.next = self.receive.counter_value.val();
        self.registers.counter_value.next = self.counter.q.val();

        // tables
        join!(
            self,
            registers.admin_ring => admin.ring,
            registers.admin_producer => admin.producer,
            admin.done => registers.admin_done,
            admin.error => registers.admin_error,
            registers.config_valid => admin.direct.valid,
            registers.settings => admin.direct.record,
            admin.direct.ready => registers.config_ready,
            admin.config_valid => nic_config.config_valid,
            admin.settings => nic_config.settings,
            nic_config.config_ready => admin.config_ready,
            nic_config.table => receive.table,
            nic_config.table_taken => locate.table_valid,
            nic_config.table.write => locate.table_write,
            nic_config.configure.valid => engine.configure.valid,
            nic_config.configure.record => engine.configure.record,
            nic_config.row => engine.configure.qp,
            engine.configure.ready => nic_config.configure.ready,
            nic_config.requester => engine.requester_settings,
            nic_config.queue => engine.queue_settings,
            nic_config.spray => engine.spray_settings,
            nic_config.nscc => engine.nscc_settings,
            nic_config.profile.valid => engine.profile.valid,
            nic_config.profile.record => engine.profile.record,
            nic_config.owner_valid => doorbells.owner_valid,
            nic_config.row => doorbells.owner_qp,
            doorbells.owner_ready => nic_config.owner_ready,
            nic_config.peer.valid => receive.peer.valid,
            nic_config.row => receive.peer.qp,
            nic_config.peer.record => receive.peer.record,
            nic_config.responder.valid => responder.config_valid,
            nic_config.row => responder.config_qp,
            nic_config.responder.record => responder.settings,
            responder.config_ready => nic_config.responder.ready,
            nic_config.completion_valid => queues.completion_config_valid,
            nic_config.row => queues.completion_config_qp,
            nic_config.ring => queues.completion_config,
            queues.completion_config_ready => nic_config.completion_ready,
            nic_config.event_valid => queues.event_config_valid,
            nic_config.ring => queues.event_config,
            queues.event_config_ready => nic_config.event_ready,
            nic_config.interrupt => queues.interrupt_config,
        );
        self.engine.profile.index.next = self.nic_config.row.val().get_bits::<3>(0);
        self.queues.interrupt_config_vector.next = self.nic_config.row.val().get_bits::<6>(0);
        self.doorbells.owner_present.next = self.nic_config.requester.val().valid;
        self.doorbells.owner_page.next = self.nic_config.requester.val().page;

        // receive
        join!(
            self,
            rx => receive.mac,
            receive.outcome => responder.outcome,
            receive.verdict => verdict,
            receive.fault => queues.page_fault,
        );
        // Probes come as outcomes too, which the responder answers.
        let control = self.receive.control.record.val();
        let for_engine = control.kind != ControlKind::Probe;
        self.engine.control.valid.next = self.receive.control.valid.val() & for_engine;
        self.engine.control.record.next = control;
        self.receive.control.ready.next = self.engine.control.ready.val() | !for_engine;

        // responder
        let answer = self.responder.answer.record.val();
        self.lanes[0].answer.valid.next = self.responder.answer.valid.val() & !answer.port;
        self.lanes[1].answer.valid.next = self.responder.answer.valid.val() & answer.port;
        self.responder.answer.ready.next = if answer.port {
            self.lanes[1].answer.ready.val()
        } else {
            self.lanes[0].answer.ready.val()
        };
        join!(
            self,
            responder.completion => queues.receive,
            responder.threshold => queues.imm_threshold,
            responder.failed => engine.flush,
            engine.reverse_ev => responder.good,
        );

        // requester
        join!(
            self,
            engine.xlate_req => locate.request,
            locate.response => engine.xlate_rsp,
            engine.cqe => queues.send,
            engine.sampled => sampled,
            engine.event0_qp => counted0_qp,
            engine.stats0 => counted0,
            engine.event1_qp => counted1_qp,
            engine.stats1 => counted1,
            engine.refused => doorbell_out_of_range,
        );
        let fault0 = self.lanes[0].fault.valid.val();
        self.engine.fault.valid.next = fault0 | self.lanes[1].fault.valid.val();
        self.engine.fault.qp.next = if fault0 {
            self.lanes[0].fault.qp.val()
        } else {
            self.lanes[1].fault.qp.val()
        };
        self.engine.fault.slot.next = if fault0 {
            self.lanes[0].fault.slot.val()
        } else {
            self.lanes[1].fault.slot.val()
        };
        self.lanes[0].fault.ready.next = self.engine.fault.ready.val();
        self.lanes[1].fault.ready.next = self.engine.fault.ready.val() & !fault0;

        // failures: each is reported to the host and to the receive core
        let fails = self.engine.failure.valid.val();
        let failure = self.engine.failure.record.val();
        let host_told = self.host_told.q.val() | self.queues.qp_error.ready.val();
        let core_told = self.core_told.q.val() | self.receive.error.ready.val();
        let all_told = host_told & core_told;
        self.queues.qp_error.valid.next = fails & !self.host_told.q.val();
        self.queues.qp_error.qp.next = failure.qp;
        self.queues.qp_error.status.next = failure.status;
        self.receive.error.valid.next = fails & !self.core_told.q.val();
        self.receive.error.qp.next = failure.qp;
        self.engine.failure.ready.next = all_told;
        self.host_told.d.next = fails & host_told & !all_told;
        self.core_told.d.next = fails & core_told & !all_told;

        // transmit lanes, and the reads of the endpoints for them
        for p in 0..2 {
            self.lanes[p].address_valid.next = self.nic_config.address_valid.val().get_bit(p);
            self.lanes[p].answer.record.next = answer;
            self.read_share[p].read[1].valid.next = false;
            self.read_share[p].read[1].record.next = self.lanes[p].read.record.val();
            self.read_share[p].payload1_ready.next = true;
            join!(
                self,
                nic_config.row => lanes[p].address_qp,
                nic_config.address => lanes[p].address,
                nic_config.port[p] => lanes[p].port_config,
                engine.tx[p] => lanes[p].request,
                lanes[p].mac => tx[p],
                lanes[p].read => read_share[p].read[0],
                read_share[p].payload0_valid => lanes[p].payload.valid,
                read_share[p].payload_data => lanes[p].payload.data,
                read_share[p].payload_beat => lanes[p].payload.beat,
                lanes[p].payload.ready => read_share[p].payload0_ready,
                registers.mrrs_code => dma_read[p].mrrs_code,
                registers.read_timeout => dma_read[p].timeout,
                read_share[p].command => dma_read[p].command,
                dma_read[p].out => read_share[p].in_,
                dma_read[p].request => read[p],
                completion[p] => dma_read[p].completion,
            );
        }
        self.payload_mismatch.next =
            self.lanes[0].payload_mismatch.val() | self.lanes[1].payload_mismatch.val();

        // PCIe: endpoint 0 fetches work requests and writes the host's rings, endpoint 1 fetches for the admin queue
        join!(
            self,
            engine.fetch => read_share[0].fetch,
            read_share[0].fetched => engine.fetched,
            admin.fetch => read_share[1].fetch,
            read_share[1].fetched => admin.fetched,
            receive.tlp[0] => write_share.in0,
            queues.tlp => write_share.in1,
            queues.tlp.data => write_share.in2.data,
            queues.tlp.header => write_share.in2.header,
            queues.tlp.first => write_share.in2.first,
            queues.tlp.last => write_share.in2.last,
            write_share.tlp => write[0],
            receive.tlp[1] => write[1],
        );
        self.write_share.in2.valid.next = false;

        if self.reset.val() {
            self.host_told.d.next = false;
            self.core_told.d.next = false;
        }
    }
}
