//! The card: two lanes of 1,024 bits around one transport core.

use hdl_emtt::LocalTranslate;
use hdl_host_if::{AdminQueue, Doorbells, HostQueues, Registers};
use hdl_macros::hdl;
use hdl_pcie::read::DmaRead1024;
use hdl_pcie::share::{ReadShare, WriteShare};
use hdl_requester::StatPulses;
use hdl_responder::Responder;
use hdl_tx_pipeline::TxLane1024;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::CongestionSample;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::read::{CompletionHeader, ReadTlpHeader};
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
    pub bar0_write_valid: Signal<In, Bit>,
    pub bar0_write_address: Signal<In, Bits<16>>,
    pub bar0_write_data: Signal<In, Bits<64>>,
    pub bar0_write_enable: Signal<In, Bits<8>>,
    pub bar0_read_valid: Signal<In, Bit>,
    pub bar0_read_address: Signal<In, Bits<16>>,
    pub bar0_read_done: Signal<Out, Bit>,
    pub bar0_read_data: Signal<Out, Bits<64>>,
    // BAR2: doorbell pages of 4 KiB.
    pub bar2_write_valid: Signal<In, Bit>,
    pub bar2_write_page: Signal<In, Bits<16>>,
    pub bar2_write_offset: Signal<In, Bits<12>>,
    pub bar2_write_data: Signal<In, Bits<64>>,
    pub bar2_write_enable: Signal<In, Bits<8>>,
    pub bar2_ready: Signal<Out, Bit>,

    // Port 0: frames from the MAC, which accepts no back-pressure, and to the MAC.
    pub rx0_valid: Signal<In, Bit>,
    pub rx0_data: Signal<In, Bits<1024>>,
    pub rx0_bytes: Signal<In, Bits<8>>,
    pub rx0_last: Signal<In, Bit>,
    pub rx0_error: Signal<In, Bit>,
    pub tx0_valid: Signal<Out, Bit>,
    pub tx0_data: Signal<Out, Bits<1024>>,
    pub tx0_bytes: Signal<Out, Bits<8>>,
    pub tx0_last: Signal<Out, Bit>,
    pub tx0_ready: Signal<In, Bit>,
    // Port 1: frames from the MAC, which accepts no back-pressure, and to the MAC.
    pub rx1_valid: Signal<In, Bit>,
    pub rx1_data: Signal<In, Bits<1024>>,
    pub rx1_bytes: Signal<In, Bits<8>>,
    pub rx1_last: Signal<In, Bit>,
    pub rx1_error: Signal<In, Bit>,
    pub tx1_valid: Signal<Out, Bit>,
    pub tx1_data: Signal<Out, Bits<1024>>,
    pub tx1_bytes: Signal<Out, Bits<8>>,
    pub tx1_last: Signal<Out, Bit>,
    pub tx1_ready: Signal<In, Bit>,
    // PCIe endpoint 0: memory writes, read requests, completions.
    pub write0_valid: Signal<Out, Bit>,
    pub write0_ready: Signal<In, Bit>,
    pub write0_data: Signal<Out, Bits<1024>>,
    pub write0_header: Signal<Out, WriteTlpHeader>,
    pub write0_first: Signal<Out, Bit>,
    pub write0_last: Signal<Out, Bit>,
    pub read0_valid: Signal<Out, Bit>,
    pub read0: Signal<Out, ReadTlpHeader>,
    pub read0_ready: Signal<In, Bit>,
    pub completion0_valid: Signal<In, Bit>,
    pub completion0: Signal<In, CompletionHeader>,
    pub completion0_data: Signal<In, Bits<1024>>,
    pub completion0_last: Signal<In, Bit>,
    pub completion0_error: Signal<In, Bit>,
    // PCIe endpoint 1: memory writes, read requests, completions.
    pub write1_valid: Signal<Out, Bit>,
    pub write1_ready: Signal<In, Bit>,
    pub write1_data: Signal<Out, Bits<1024>>,
    pub write1_header: Signal<Out, WriteTlpHeader>,
    pub write1_first: Signal<Out, Bit>,
    pub write1_last: Signal<Out, Bit>,
    pub read1_valid: Signal<Out, Bit>,
    pub read1: Signal<Out, ReadTlpHeader>,
    pub read1_ready: Signal<In, Bit>,
    pub completion1_valid: Signal<In, Bit>,
    pub completion1: Signal<In, CompletionHeader>,
    pub completion1_data: Signal<In, Bits<1024>>,
    pub completion1_last: Signal<In, Bit>,
    pub completion1_error: Signal<In, Bit>,
    // For simulation only: see `VERIFICATION_PORTS`.
    /// Statistics pulses of the requester of even queue pairs (0) and of odd ones (1), and the queue pair that they and `doorbell_out_of_range` are about.
    pub counted0_qp: Signal<Out, Bits<10>>,
    pub counted0: Signal<Out, StatPulses>,
    pub counted1_qp: Signal<Out, Bits<10>>,
    pub counted1: Signal<Out, StatPulses>,
    /// Congestion window, bytes in flight and round trip after each SACK, of even queue pairs (0) and of odd ones (1).
    pub sampled0: Signal<Out, CongestionSample>,
    pub sampled1: Signal<Out, CongestionSample>,
    /// Bit e: the requester e refused a producer index.
    pub doorbell_out_of_range: Signal<Out, Bits<2>>,
    pub verdict_valid: Signal<Out, Bit>,
    pub verdict_reason: Signal<Out, DropReason>,
    /// A transmit lane received a payload of another length than it requested. A correct card never raises it.
    pub payload_mismatch: Signal<Out, Bit>,

    registers: Registers<Q, MR_BITS, EMTT_BITS>,
    admin: AdminQueue<Q, MR_BITS, EMTT_BITS>,
    doorbells: Doorbells<Q>,
    nic_config: NicConfig,
    rx: RxLanes1024,
    responder: Responder<Q, I, STASH_BITS>,
    engine: RequesterPair,
    locate: LocalTranslate<MR_BITS, EMTT_BANK_BITS>,
    queues: HostQueues<Q, 1024>,
    port0: TxLane1024,
    port1: TxLane1024,
    read_share0: ReadShare<1024>,
    read_share1: ReadShare<1024>,
    dma_read0: DmaRead1024,
    dma_read1: DmaRead1024,
    write_share0: WriteShare<1024>,

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
        clock!(
            self, clock, registers, admin, doorbells, nic_config, rx, responder, engine, locate,
            queues
        );
        clock!(
            self,
            clock,
            port0,
            port1,
            read_share0,
            read_share1,
            dma_read0,
            dma_read1,
            write_share0
        );
        self.registers.reset.next = self.reset.val();
        self.admin.reset.next = self.reset.val();
        self.doorbells.reset.next = self.reset.val();
        self.nic_config.reset.next = self.reset.val();
        self.rx.reset.next = self.reset.val();
        self.responder.reset.next = self.reset.val();
        self.engine.reset.next = self.reset.val();
        self.queues.reset.next = self.reset.val();
        self.locate.reset.next = self.reset.val();
        self.port0.reset.next = self.reset.val();
        self.port1.reset.next = self.reset.val();
        self.read_share0.reset.next = self.reset.val();
        self.read_share1.reset.next = self.reset.val();
        self.dma_read0.reset.next = self.reset.val();
        self.dma_read1.reset.next = self.reset.val();
        self.write_share0.reset.next = self.reset.val();

        // time: ticks of 8 ns
        self.clocks.d.next = self.clocks.q.val() + 1;
        self.engine.now.next = self.clocks.q.val().get_bits::<32>(1);
        self.responder.plane_up.next = self.port_up.val();
        self.engine.plane_up.next = self.port_up.val();

        // registers and doorbells
        self.registers.write_valid.next = self.bar0_write_valid.val();
        self.registers.write_address.next = self.bar0_write_address.val();
        self.registers.write_data.next = self.bar0_write_data.val();
        self.registers.write_enable.next = self.bar0_write_enable.val();
        self.registers.read_valid.next = self.bar0_read_valid.val();
        self.registers.read_address.next = self.bar0_read_address.val();
        self.bar0_read_done.next = self.registers.read_done.val();
        self.bar0_read_data.next = self.registers.read_data.val();
        self.doorbells.write_valid.next = self.bar2_write_valid.val();
        self.doorbells.write_page.next = self.bar2_write_page.val();
        self.doorbells.write_offset.next = self.bar2_write_offset.val();
        self.doorbells.write_data.next = self.bar2_write_data.val();
        self.doorbells.write_enable.next = self.bar2_write_enable.val();
        self.bar2_ready.next = self.doorbells.ready.val();
        self.registers.port_up.next = self.port_up.val();
        self.registers.interrupt_pending.next = self.queues.interrupt_pending.val();
        self.rx.counter_select.next = self.registers.counter_select.val().get_bits::<6>(0);
        self.counter.d.next = self.rx.counter_value.val();
        self.registers.counter_value.next = self.counter.q.val();
        self.rx.udp_port.next = self.registers.udp_port.val();
        self.rx.mps_code.next = self.registers.mps_code.val();
        self.dma_read0.mrrs_code.next = self.registers.mrrs_code.val();
        self.dma_read0.timeout.next = self.registers.read_timeout.val();
        self.dma_read1.mrrs_code.next = self.registers.mrrs_code.val();
        self.dma_read1.timeout.next = self.registers.read_timeout.val();
        self.rx.fence.valid.next = self.registers.fence_valid.val();
        self.registers.fence_ready.next = self.rx.fence.ready.val();
        self.registers.fence_done.next = self.rx.fence_done.val();
        self.responder.arm_valid.next = self.registers.arm_valid.val();
        self.responder.arm_qp.next = self.registers.arm_qp.val();
        self.responder.arm_threshold.next = self.registers.arm_threshold.val();
        self.registers.arm_ready.next = self.responder.arm_ready.val();
        self.queues.event_consumer_valid.next = self.registers.event_consumer_valid.val();
        self.queues.event_consumer_index.next = self.registers.event_consumer_index.val();
        self.queues.event_consumer_arm.next = self.registers.event_consumer_arm.val();
        self.engine.doorbell_valid.next = self.doorbells.doorbell_valid.val();
        self.engine.doorbell_qp.next = self.doorbells.doorbell_qp.val();
        self.engine.doorbell_producer.next = self.doorbells.doorbell_producer.val();
        self.engine.doorbell_pushed.next = self.doorbells.doorbell_pushed.val();
        self.engine.doorbell_entry.next = self.doorbells.doorbell_entry.val();
        self.doorbells.doorbell_ready.next = self.engine.doorbell_ready.val();
        self.queues.consumer_valid.next = self.doorbells.consumer_valid.val();
        self.queues.consumer_qp.next = self.doorbells.consumer_qp.val();
        self.queues.consumer_index.next = self.doorbells.consumer_index.val();
        self.queues.consumer_arm.next = self.doorbells.consumer_arm.val();
        self.doorbells.consumer_ready.next = self.queues.consumer_ready.val();
        self.queues.doorbell_refused_valid.next = self.doorbells.refused_valid.val();
        self.queues.doorbell_refused_page.next = self.doorbells.refused_page.val();
        self.queues.doorbell_refused_qp.next = self.doorbells.refused_qp.val();
        self.doorbells.refused_ready.next = self.queues.doorbell_refused_ready.val();

        // tables
        self.admin.ring_valid.next = self.registers.admin_ring_valid.val();
        self.admin.ring.next = self.registers.admin_ring.val();
        self.admin.producer_valid.next = self.registers.admin_producer_valid.val();
        self.admin.producer.next = self.registers.admin_producer.val();
        self.registers.admin_done.next = self.admin.done.val();
        self.registers.admin_error.next = self.admin.error.val();
        self.admin.direct_valid.next = self.registers.config_valid.val();
        self.admin.direct.next = self.registers.settings.val();
        self.registers.config_ready.next = self.admin.direct_ready.val();
        self.nic_config.config_valid.next = self.admin.config_valid.val();
        self.nic_config.settings.next = self.admin.settings.val();
        self.admin.config_ready.next = self.nic_config.config_ready.val();
        self.rx.table.valid.next = self.nic_config.table_valid.val();
        self.rx.table.write.next = self.nic_config.table_write.val();
        self.nic_config.table_ready.next = self.rx.table.ready.val();
        self.locate.table_valid.next = self.nic_config.table_taken.val();
        self.locate.table_write.next = self.nic_config.table_write.val();
        self.engine.configure_valid.next = self.nic_config.configure_valid.val();
        self.engine.configure.next = self.nic_config.configure.val();
        self.engine.configure_qp.next = self.nic_config.row.val();
        self.engine.requester_settings.next = self.nic_config.requester.val();
        self.engine.queue_settings.next = self.nic_config.queue.val();
        self.engine.spray_settings.next = self.nic_config.spray.val();
        self.engine.nscc_settings.next = self.nic_config.nscc.val();
        self.nic_config.configure_ready.next = self.engine.configure_ready.val();
        self.engine.profile_valid.next = self.nic_config.profile_valid.val();
        self.engine.profile_index.next = self.nic_config.row.val().get_bits::<3>(0);
        self.engine.profile.next = self.nic_config.profile.val();
        self.doorbells.owner_valid.next = self.nic_config.owner_valid.val();
        self.doorbells.owner_qp.next = self.nic_config.row.val();
        self.nic_config.owner_ready.next = self.doorbells.owner_ready.val();
        self.doorbells.owner_present.next = self.nic_config.requester.val().valid;
        self.doorbells.owner_page.next = self.nic_config.requester.val().page;
        self.port0.address_valid.next = self.nic_config.address_valid.val().get_bit(0);
        self.port0.address_qp.next = self.nic_config.row.val();
        self.port0.address.next = self.nic_config.address.val();
        self.port0.port_config.next = self.nic_config.port0.val();
        self.port1.address_valid.next = self.nic_config.address_valid.val().get_bit(1);
        self.port1.address_qp.next = self.nic_config.row.val();
        self.port1.address.next = self.nic_config.address.val();
        self.port1.port_config.next = self.nic_config.port1.val();
        self.rx.peer.valid.next = self.nic_config.peer_valid.val();
        self.rx.peer.qp.next = self.nic_config.row.val();
        self.rx.peer.record.next = self.nic_config.peer.val();
        self.responder.config_valid.next = self.nic_config.responder_valid.val();
        self.responder.config_qp.next = self.nic_config.row.val();
        self.responder.settings.next = self.nic_config.responder.val();
        self.nic_config.responder_ready.next = self.responder.config_ready.val();
        self.queues.completion_config_valid.next = self.nic_config.completion_valid.val();
        self.queues.completion_config_qp.next = self.nic_config.row.val();
        self.queues.completion_config.next = self.nic_config.ring.val();
        self.nic_config.completion_ready.next = self.queues.completion_config_ready.val();
        self.queues.event_config_valid.next = self.nic_config.event_valid.val();
        self.queues.event_config.next = self.nic_config.ring.val();
        self.nic_config.event_ready.next = self.queues.event_config_ready.val();
        self.queues.interrupt_config_valid.next = self.nic_config.interrupt_valid.val();
        self.queues.interrupt_config.next = self.nic_config.interrupt.val();
        self.nic_config.interrupt_ready.next = self.queues.interrupt_config_ready.val();
        self.queues.interrupt_config_vector.next = self.nic_config.row.val().get_bits::<6>(0);

        // receive
        self.rx.mac[0].valid.next = self.rx0_valid.val();
        self.rx.mac[0].data.next = self.rx0_data.val();
        self.rx.mac[0].bytes.next = self.rx0_bytes.val();
        self.rx.mac[0].last.next = self.rx0_last.val();
        self.rx.mac[0].error.next = self.rx0_error.val();
        self.rx.mac[1].valid.next = self.rx1_valid.val();
        self.rx.mac[1].data.next = self.rx1_data.val();
        self.rx.mac[1].bytes.next = self.rx1_bytes.val();
        self.rx.mac[1].last.next = self.rx1_last.val();
        self.rx.mac[1].error.next = self.rx1_error.val();
        self.responder.outcome_valid.next = self.rx.outcome.valid.val();
        self.responder.outcome.next = self.rx.outcome.record.val();
        self.rx.outcome.ready.next = self.responder.outcome_ready.val();
        // Probes come as outcomes too, which the responder answers.
        let control = self.rx.control.record.val();
        let for_engine = control.kind != ControlKind::Probe;
        self.engine.control_valid.next = self.rx.control.valid.val() & for_engine;
        self.engine.control.next = control;
        self.rx.control.ready.next = self.engine.control_ready.val() | !for_engine;
        self.verdict_valid.next = self.rx.verdict_valid.val();
        self.verdict_reason.next = self.rx.verdict_reason.val();
        self.queues.page_fault_valid.next = self.rx.fault.valid.val();
        self.queues.page_fault_region.next = self.rx.fault.region.val();
        self.queues.page_fault_va.next = self.rx.fault.va.val();
        self.rx.fault.ready.next = self.queues.page_fault_ready.val();

        // responder
        let answer = self.responder.answer.val();
        self.port0.answer_valid.next = self.responder.answer_valid.val() & !answer.port;
        self.port0.answer.next = answer;
        self.port1.answer_valid.next = self.responder.answer_valid.val() & answer.port;
        self.port1.answer.next = answer;
        self.responder.answer_ready.next = if answer.port {
            self.port1.answer_ready.val()
        } else {
            self.port0.answer_ready.val()
        };
        self.queues.receive_valid.next = self.responder.completion_valid.val();
        self.queues.receive.next = self.responder.completion.val();
        self.responder.completion_ready.next = self.queues.receive_ready.val();
        self.queues.imm_threshold_valid.next = self.responder.threshold_valid.val();
        self.queues.imm_threshold_qp.next = self.responder.threshold_qp.val();
        self.queues.imm_threshold_count.next = self.responder.threshold_count.val();
        self.responder.threshold_ready.next = self.queues.imm_threshold_ready.val();
        self.engine.flush_valid.next = self.responder.failed_valid.val();
        self.engine.flush_qp.next = self.responder.failed_qp.val();
        self.responder.failed_ready.next = self.engine.flush_ready.val();
        self.responder.good_valid.next = self.engine.reverse_ev_valid.val();
        self.responder.good_qp.next = self.engine.reverse_ev_qp.val();
        self.responder.good_plane.next = self.engine.reverse_ev_plane.val();
        self.responder.good_entropy.next = self.engine.reverse_ev_entropy.val();

        // requester
        self.locate.request_valid.next = self.engine.xlate_req_valid.val();
        self.locate.request.next = self.engine.xlate_req.val();
        self.engine.xlate_req_ready.next = self.locate.request_ready.val();
        self.engine.xlate_rsp_valid.next = self.locate.response_valid.val();
        self.engine.xlate_rsp.next = self.locate.response.val();
        self.queues.send_valid.next = self.engine.cqe_valid.val();
        self.queues.send.next = self.engine.cqe.val();
        self.engine.cqe_ready.next = self.queues.send_ready.val();
        self.read_share0.fetch_valid.next = self.engine.fetch_valid.val();
        self.read_share0.fetch.next = self.engine.fetch.val();
        self.engine.fetch_ready.next = self.read_share0.fetch_ready.val();
        self.engine.fetched_valid.next = self.read_share0.fetched_valid.val();
        self.engine.fetched.next = self.read_share0.fetched.val();
        self.read_share0.fetched_ready.next = self.engine.fetched_ready.val();
        self.port0.request_valid.next = self.engine.tx0_valid.val();
        self.port0.request.next = self.engine.tx0.val();
        self.engine.tx0_ready.next = self.port0.request_ready.val();
        self.port1.request_valid.next = self.engine.tx1_valid.val();
        self.port1.request.next = self.engine.tx1.val();
        self.engine.tx1_ready.next = self.port1.request_ready.val();
        let fault0 = self.port0.fault_valid.val();
        self.engine.fault_valid.next = fault0 | self.port1.fault_valid.val();
        self.engine.fault_qp.next = if fault0 {
            self.port0.fault_qp.val()
        } else {
            self.port1.fault_qp.val()
        };
        self.engine.fault_slot.next = if fault0 {
            self.port0.fault_slot.val()
        } else {
            self.port1.fault_slot.val()
        };
        self.port0.fault_ready.next = self.engine.fault_ready.val();
        self.port1.fault_ready.next = self.engine.fault_ready.val() & !fault0;
        self.counted0_qp.next = self.engine.event0_qp.val();
        self.counted0.next = self.engine.stats0.val();
        self.counted1_qp.next = self.engine.event1_qp.val();
        self.counted1.next = self.engine.stats1.val();
        self.sampled0.next = self.engine.sampled0.val();
        self.sampled1.next = self.engine.sampled1.val();
        self.doorbell_out_of_range.next = self.engine.refused.val();

        // failures: host and receive core hear of each
        let fails = self.engine.failure_valid.val();
        let failure = self.engine.failure.val();
        let host_told = self.host_told.q.val() | self.queues.qp_error_ready.val();
        let core_told = self.core_told.q.val() | self.rx.error.ready.val();
        let all_told = host_told & core_told;
        self.queues.qp_error_valid.next = fails & !self.host_told.q.val();
        self.queues.qp_error_qp.next = failure.qp;
        self.queues.qp_error_status.next = failure.status;
        self.rx.error.valid.next = fails & !self.core_told.q.val();
        self.rx.error.qp.next = failure.qp;
        self.engine.failure_ready.next = all_told;
        self.host_told.d.next = fails & host_told & !all_told;
        self.core_told.d.next = fails & core_told & !all_told;

        // payload and frames out
        self.read_share0.read0_valid.next = self.port0.read_valid.val();
        self.read_share0.read0.next = self.port0.read.val();
        self.port0.read_ready.next = self.read_share0.read0_ready.val();
        self.port0.payload_valid.next = self.read_share0.payload0_valid.val();
        self.port0.payload_data.next = self.read_share0.payload_data.val();
        self.port0.payload_beat.next = self.read_share0.payload_beat.val();
        self.read_share0.payload0_ready.next = self.port0.payload_ready.val();
        self.tx0_valid.next = self.port0.mac_valid.val();
        self.tx0_data.next = self.port0.mac_data.val();
        self.tx0_bytes.next = self.port0.mac_bytes.val();
        self.tx0_last.next = self.port0.mac_last.val();
        self.port0.mac_ready.next = self.tx0_ready.val();
        self.read_share1.read0_valid.next = self.port1.read_valid.val();
        self.read_share1.read0.next = self.port1.read.val();
        self.port1.read_ready.next = self.read_share1.read0_ready.val();
        self.port1.payload_valid.next = self.read_share1.payload0_valid.val();
        self.port1.payload_data.next = self.read_share1.payload_data.val();
        self.port1.payload_beat.next = self.read_share1.payload_beat.val();
        self.read_share1.payload0_ready.next = self.port1.payload_ready.val();
        self.tx1_valid.next = self.port1.mac_valid.val();
        self.tx1_data.next = self.port1.mac_data.val();
        self.tx1_bytes.next = self.port1.mac_bytes.val();
        self.tx1_last.next = self.port1.mac_last.val();
        self.port1.mac_ready.next = self.tx1_ready.val();
        self.payload_mismatch.next =
            self.port0.payload_mismatch.val() | self.port1.payload_mismatch.val();

        // PCIe
        // Endpoint 1 fetches for the admin queue. Each endpoint reads for its own port only.
        self.read_share1.fetch_valid.next = self.admin.fetch_valid.val();
        self.read_share1.fetch.next = self.admin.fetch.val();
        self.admin.fetch_ready.next = self.read_share1.fetch_ready.val();
        self.admin.fetched_valid.next = self.read_share1.fetched_valid.val();
        self.admin.fetched.next = self.read_share1.fetched.val();
        self.read_share1.fetched_ready.next = self.admin.fetched_ready.val();
        self.read_share0.read1_valid.next = false;
        self.read_share0.read1.next = self.port0.read.val();
        self.read_share0.payload1_ready.next = true;
        self.dma_read0.command_valid.next = self.read_share0.command_valid.val();
        self.dma_read0.command.next = self.read_share0.command.val();
        self.read_share0.command_ready.next = self.dma_read0.command_ready.val();
        self.read_share0.in_valid.next = self.dma_read0.out_valid.val();
        self.read_share0.in_data.next = self.dma_read0.out_data.val();
        self.read_share0.in_beat.next = self.dma_read0.out_beat.val();
        self.dma_read0.out_ready.next = self.read_share0.in_ready.val();
        self.read0_valid.next = self.dma_read0.request_valid.val();
        self.read0.next = self.dma_read0.request.val();
        self.dma_read0.request_ready.next = self.read0_ready.val();
        self.dma_read0.completion_valid.next = self.completion0_valid.val();
        self.dma_read0.completion.next = self.completion0.val();
        self.dma_read0.completion_data.next = self.completion0_data.val();
        self.dma_read0.completion_last.next = self.completion0_last.val();
        self.dma_read0.completion_error.next = self.completion0_error.val();
        self.read_share1.read1_valid.next = false;
        self.read_share1.read1.next = self.port1.read.val();
        self.read_share1.payload1_ready.next = true;
        self.dma_read1.command_valid.next = self.read_share1.command_valid.val();
        self.dma_read1.command.next = self.read_share1.command.val();
        self.read_share1.command_ready.next = self.dma_read1.command_ready.val();
        self.read_share1.in_valid.next = self.dma_read1.out_valid.val();
        self.read_share1.in_data.next = self.dma_read1.out_data.val();
        self.read_share1.in_beat.next = self.dma_read1.out_beat.val();
        self.dma_read1.out_ready.next = self.read_share1.in_ready.val();
        self.read1_valid.next = self.dma_read1.request_valid.val();
        self.read1.next = self.dma_read1.request.val();
        self.dma_read1.request_ready.next = self.read1_ready.val();
        self.dma_read1.completion_valid.next = self.completion1_valid.val();
        self.dma_read1.completion.next = self.completion1.val();
        self.dma_read1.completion_data.next = self.completion1_data.val();
        self.dma_read1.completion_last.next = self.completion1_last.val();
        self.dma_read1.completion_error.next = self.completion1_error.val();
        self.write_share0.in0_valid.next = self.rx.tlp[0].valid.val();
        self.write_share0.in0_data.next = self.rx.tlp[0].data.val();
        self.write_share0.in0_header.next = self.rx.tlp[0].header.val();
        self.write_share0.in0_first.next = self.rx.tlp[0].first.val();
        self.write_share0.in0_last.next = self.rx.tlp[0].last.val();
        self.rx.tlp[0].ready.next = self.write_share0.in0_ready.val();
        self.write_share0.in1_valid.next = self.queues.tlp_valid.val();
        self.write_share0.in1_data.next = self.queues.tlp_data.val();
        self.write_share0.in1_header.next = self.queues.tlp_header.val();
        self.write_share0.in1_first.next = self.queues.tlp_first.val();
        self.write_share0.in1_last.next = self.queues.tlp_last.val();
        self.queues.tlp_ready.next = self.write_share0.in1_ready.val();
        self.write_share0.in2_valid.next = false;
        self.write_share0.in2_data.next = self.queues.tlp_data.val();
        self.write_share0.in2_header.next = self.queues.tlp_header.val();
        self.write_share0.in2_first.next = self.queues.tlp_first.val();
        self.write_share0.in2_last.next = self.queues.tlp_last.val();
        self.write0_valid.next = self.write_share0.tlp_valid.val();
        self.write1_valid.next = self.rx.tlp[1].valid.val();
        self.write0_data.next = self.write_share0.tlp_data.val();
        self.write1_data.next = self.rx.tlp[1].data.val();
        self.write0_header.next = self.write_share0.tlp_header.val();
        self.write1_header.next = self.rx.tlp[1].header.val();
        self.write0_first.next = self.write_share0.tlp_first.val();
        self.write1_first.next = self.rx.tlp[1].first.val();
        self.write0_last.next = self.write_share0.tlp_last.val();
        self.write1_last.next = self.rx.tlp[1].last.val();
        self.write_share0.tlp_ready.next = self.write0_ready.val();
        self.rx.tlp[1].ready.next = self.write1_ready.val();

        if self.reset.val() {
            self.host_told.d.next = false;
            self.core_told.d.next = false;
        }
    }
}
