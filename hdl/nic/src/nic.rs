//! The card: two lanes of 1,024 bits around one transport core.

use hdl_host_if::{AdminQueue, HostQueues};
use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::bundles::{AxisSnk, AxisSrc};
use hdl_pcie::share::WriteArbiter;
use hdl_primitives::{MacRxSnk, MacTxSrc, VerdictSrc};
use hdl_requester::StatPulses;
use hdl_responder::Responder;
use rust_hdl::prelude::*;
use stellar_wire::hw::ats::CqMessage;
use stellar_wire::hw::congestion::CongestionSample;
use stellar_wire::hw::FromBits;
use stellar_wire::pcie::sideband::completer_request::discontinue;

use crate::bars::Bars;
use crate::card_counters::CardCounters;
use crate::failure_fork::FailureFork;
use crate::nic_config::NicConfig;
use crate::pcie_endpoint::PcieEndpoint;
use crate::qp_counters::QpCounters;
use crate::read_faults::ReadFaults;
use crate::rx_dual_lane::RxDualLane1024;
use crate::table_bits::{EMTT_BITS, MR_BITS, QP_BITS, STASHES, STASH_BITS};
use crate::transmit_side::TransmitSide;

/// Cycles for which reset has to be asserted: pipelines without a reset of their own run empty meanwhile.
pub const RESET_HOLD: usize = 128;
/// Cycles from the end of a reset until the card has cleared its memories: one row of every queue pair per cycle, and a few cycles to begin.
pub const RESET_CLOCKS: usize = (1 << QP_BITS) + 16;

/// The NIC with both lanes. Lane p is port p and PCIe endpoint p; the host's rings are read and written by endpoint 0.
#[derive(LogicBlock, Default)]
pub struct Nic {
    pub clock: Signal<In, Clock>,
    /// Function-level reset: clears control state. Software has to write the tables again.
    pub reset: Signal<In, Bit>,
    /// Bit p: the link of port p is up.
    pub port_up: Signal<In, Bits<2>>,

    // Endpoint 0, which has the BARs: requests of the host and their completions, as AMD's PCIe block has them (PG346, 1,024 bits).
    pub cq: AxisSnk<1024, 32, 465>,
    pub cc: AxisSrc<1024, 32, 165>,
    /// Endpoint 1 has no BARs: only messages come.
    pub cq1: AxisSnk<1024, 32, 465>,
    /// The function may send messages: MSI-X Enable and Bus Master Enable are set in its configuration space. And the function mask of MSI-X.
    pub msix_enable: Signal<In, Bit>,
    pub msix_mask: Signal<In, Bit>,
    /// Bit e: the PCIe link of endpoint e is down (AMD's `cfg_phy_link_down`).
    pub pcie_link_down: Signal<In, Bits<2>>,

    // Frames of both ports, from their MACs and to them.
    pub rx: [MacRxSnk<1024>; 2],
    pub tx: [MacTxSrc<1024>; 2],
    // Requests of the card at both PCIe endpoints, and their completions, with straddle.
    pub rq: [AxisSrc<1024, 32, 373>; 2],
    pub rc: [AxisSnk<1024, 32, 337>; 2],
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

    bars: Bars<QP_BITS, MR_BITS, EMTT_BITS>,
    admin: AdminQueue<QP_BITS, MR_BITS, EMTT_BITS>,
    nic_config: NicConfig,
    receive: RxDualLane1024,
    responder: Responder<QP_BITS, STASHES, STASH_BITS>,
    transmit: TransmitSide,
    queues: HostQueues<QP_BITS, 1024>,
    failures: FailureFork,
    counters: CardCounters,
    faults: ReadFaults,
    qp_counters: QpCounters,
    endpoints: [PcieEndpoint; 2],
    /// Merges the writes of endpoint 0: those of the receive lane and of the host's queues.
    writer: WriteArbiter<1024, 2, 1>,
}

impl Logic for Nic {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, bars, admin, nic_config, receive, responder, transmit);
        clock_reset!(self, queues, failures, faults, counters, qp_counters);
        clock_reset!(self, endpoints[..], writer);

        // BARs
        join!(
            self,
            cq => bars.cq,
            bars.cc => cc,
            bars.vector_access => queues.vector_access,
            queues.vector_word => bars.vector_word,
            msix_enable => queues.msix_enable,
            msix_mask => queues.msix_mask,
            queues.message_permits => endpoints[0].message_permits,
            endpoints[0].message_returned => queues.message_returned,
            endpoints[0].messages => bars.messages,
            endpoints[0].messages_left => bars.messages_left,
            port_up => bars.port_up,
            queues.interrupt_pending => bars.interrupt_pending,
            bars.core_counter_select => receive.counter_select,
            receive.counter_value => bars.core_counter,
            bars.udp_port => receive.udp_port,
            bars.mps_code => receive.mps_code,
            bars.arm => responder.arm,
            bars.fence => transmit.fence,
            transmit.fence_done => bars.fence_done,
            bars.event_consumer => queues.event_consumer,
            bars.consumer => queues.consumer,
            bars.doorbell_refused => queues.doorbell_refused,
            bars.doorbell => transmit.doorbell,
        );

        // tables
        join!(
            self,
            bars.admin => admin.admin,
            bars.settings => admin.direct,
            admin.settings => nic_config.write,
            nic_config.table => receive.table,
            nic_config.table_taken => transmit.table_valid,
            nic_config.table.write => transmit.table_write,
            nic_config.configure => transmit.configure,
            nic_config.settings => transmit.settings,
            nic_config.profile => transmit.profile,
            nic_config.owner => bars.owner,
            nic_config.address => transmit.address,
            nic_config.port => transmit.port_config,
            nic_config.peer => receive.peer,
            nic_config.responder => responder.settings,
            nic_config.completion_queue => queues.completion_config,
            nic_config.event_queue => queues.event_config,
        );

        // receive
        join!(
            self,
            nic_config.own => receive.own,
            rx => receive.mac,
            transmit.receive_fence => receive.fence,
            receive.fence_done => transmit.receive_fence_done,
            receive.outcome => responder.outcome,
            receive.control => transmit.control,
            receive.verdict => verdict,
            receive.fault => queues.page_fault,
        );

        // responder
        join!(
            self,
            port_up => responder.plane_up,
            responder.answer => transmit.answer,
            responder.completion => queues.receive,
            responder.threshold => queues.imm_threshold,
            // A queue pair fails by its receive side, or because its completion queue was overrun.
            responder.failed => transmit.flush[0],
            queues.failed => transmit.flush[1],
            transmit.now => responder.now,
            transmit.reverse_ev => responder.good,
        );

        // transmit
        join!(
            self,
            port_up => transmit.port_up,
            bars.read_timeout => transmit.stuck_timeout,
            transmit.mac => tx,
            transmit.cqe => queues.send,
            transmit.unread => faults.payload,
            faults.message => transmit.fault,
            faults.report => queues.failed_read,
            transmit.failure => failures.failure,
            failures.to_host => queues.qp_error,
            failures.to_core => receive.error,
            transmit.payload_mismatch => payload_mismatch,
            transmit.sampled => sampled,
            transmit.event0_qp => counted0_qp,
            transmit.stats0 => counted0,
            transmit.event1_qp => counted1_qp,
            transmit.stats1 => counted1,
            transmit.refused => doorbell_out_of_range,
        );

        // counters
        join!(
            self,
            bars.counter_select => counters.select,
            counters.value => bars.card_counter,
            bars.doorbell_pulses => counters.doorbells,
            queues.pulses => counters.queues,
            responder.pulses => counters.responder,
            transmit.refused => counters.producers_refused,
            transmit.configured => qp_counters.configured,
            transmit.configured_qp => qp_counters.configured_qp,
            transmit.event0_qp => qp_counters.event_qp[0],
            transmit.stats0 => qp_counters.stats[0],
            transmit.event1_qp => qp_counters.event_qp[1],
            transmit.stats1 => qp_counters.stats[1],
            receive.qp_count => qp_counters.received,
            qp_counters.pause => receive.pause,
            responder.qp_count => qp_counters.answered,
            bars.qp_counter => qp_counters.read,
        );

        // PCIe: each endpoint reads payload for its port; endpoint 0 also fetches work requests and writes the host's rings, endpoint 1 fetches for the
        // admin queue.
        for p in 0..2 {
            join!(
                self,
                bars.mrrs_code => endpoints[p].mrrs_code,
                bars.read_timeout => endpoints[p].read_timeout,
                transmit.read[p] => endpoints[p].read,
                endpoints[p].payload => transmit.payload[p],
                endpoints[p].payload_ended => transmit.payload_ended[p],
                endpoints[p].placement => receive.placement[p],
                endpoints[p].flush_fault => faults.flush[p],
                transmit.events[p] => endpoints[p].transmit,
                bars.counter_select => endpoints[p].counter_select,
                endpoints[p].counter_value => bars.port_counter[p],
                endpoints[p].rq => rq[p],
                rc[p] => endpoints[p].rc,
            );
        }
        join!(
            self,
            transmit.fetch => endpoints[0].fetch,
            endpoints[0].fetched => transmit.fetched,
            endpoints[0].entries_ended => transmit.entries_ended,
            endpoints[0].fetch_fault => faults.entries,
            admin.fetch => endpoints[1].fetch,
            endpoints[1].fetched => admin.fetched,
            receive.tlp[0] => writer.in_[0],
            queues.tlp => writer.in_[1],
            writer.tlp => endpoints[0].write,
            receive.tlp[1] => endpoints[1].write,
            bars.refused => endpoints[0].request_refused,
            bars.damaged => endpoints[0].request_damaged,
            queues.accepted => endpoints[0].queue_accepted,
        );
        for p in 0..2 {
            self.endpoints[p].link_down.next = self.pcie_link_down.val().get_bit(p);
        }
        // Endpoint 1 writes nothing for the host's queues, and no interrupt messages.
        self.endpoints[1].message_permits.next = bits(0);
        self.endpoints[1].queue_accepted.next = false;

        // Messages of the host. Endpoint 1 has no BARs, so nothing else comes there, and nothing has to wait.
        self.endpoints[0].cq.moves.next = self.cq.tvalid.val() & self.bars.cq.tready.val();
        self.endpoints[0].cq.last.next = self.cq.tlast.val();
        self.endpoints[0].cq.damaged.next = self.cq.tuser.val().get_bit(discontinue(1024));
        self.endpoints[0].cq.message.next = CqMessage::from_bits(self.cq.tdata.val());
        let damaged = self.cq1.tuser.val().get_bit(discontinue(1024));
        self.cq1.tready.next = true;
        self.endpoints[1].cq.moves.next = self.cq1.tvalid.val();
        self.endpoints[1].cq.last.next = self.cq1.tlast.val();
        self.endpoints[1].cq.damaged.next = damaged;
        self.endpoints[1].cq.message.next = CqMessage::from_bits(self.cq1.tdata.val());
        self.endpoints[1].request_refused.next = false;
        self.endpoints[1].request_damaged.next = self.cq1.tvalid.val() & damaged;
        // The admin queue tells software itself what it could not read.
        self.endpoints[1].fetch_fault.ready.next = true;
    }
}
