//! The card: two lanes of 1,024 bits around one transport core.

use hdl_emtt::LocalTranslate;
use hdl_host_if::{AdminQueue, BarDecoder, Doorbells, HostQueues, Registers};
use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::bars::Completer1024;
use hdl_pcie::bundles::{AxisSnk, AxisSrc};
use hdl_pcie::flush::WriteFlush1024;
use hdl_pcie::requester::{CompletionStream1024, RequestStream1024};
use hdl_pcie::share::WriteArbiter;
use hdl_primitives::{MacRxSnk, MacTxSrc, VerdictSrc};
use hdl_requester::StatPulses;
use hdl_responder::Responder;
use hdl_rx_pipeline::own_address::address_of;
use rust_hdl::prelude::*;
use stellar_wire::host::counters::{OF_PORT_BIT, PORT_BIT};
use stellar_wire::hw::congestion::CongestionSample;
use stellar_wire::hw::requester::ControlKind;

use crate::failure_fork::FailureFork;
use crate::fence_control::FenceControl;
use crate::fence_epochs::BEGINS;
use crate::host_reader::HostReader;
use crate::nic_config::NicConfig;
use crate::port_counters::PortCounters;
use crate::requester_pair::RequesterPair;
use crate::rx_dual_lane::RxDualLane1024;
use crate::table_bits::{EMTT_BANK_BITS, EMTT_BITS, MR_BITS};
use crate::tx_dual_lane::TxDualLane;

/// 1,024 queue pairs.
const Q: usize = 10;
/// 16 stashed immediates per queue pair.
const I: usize = 4;
/// Address bits of the stashes of all queue pairs.
const STASH_BITS: usize = Q + I;

/// Cycles for which reset has to be asserted: pipelines without a reset of their own run empty meanwhile.
pub const RESET_HOLD: usize = 128;
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

    // Endpoint 0, which has the BARs: requests of the host and their completions, as AMD's PCIe block has them (PG346, 1,024 bits).
    pub cq: AxisSnk<1024, 32, 465>,
    pub cc: AxisSrc<1024, 32, 165>,
    /// MSI-X is on in the configuration space, and its function mask.
    pub msix_enable: Signal<In, Bit>,
    pub msix_mask: Signal<In, Bit>,

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

    completer: Completer1024,
    decoder: BarDecoder,
    registers: Registers<Q, MR_BITS, EMTT_BITS>,
    admin: AdminQueue<Q, MR_BITS, EMTT_BITS>,
    doorbells: Doorbells<Q>,
    nic_config: NicConfig,
    fences: FenceControl,
    receive: RxDualLane1024,
    responder: Responder<Q, I, STASH_BITS>,
    engine: RequesterPair,
    locate: LocalTranslate<MR_BITS, EMTT_BANK_BITS>,
    queues: HostQueues<Q, 1024>,
    failures: FailureFork,
    transmit: TxDualLane,
    readers: [HostReader; 2],
    /// Merges the writes of endpoint 0: those of the receive lane and of the host's queues.
    writer: WriteArbiter<1024, 2, 1>,
    flushes: [WriteFlush1024; 2],
    requests: [RequestStream1024; 2],
    completions: [CompletionStream1024; 2],
    counters: [PortCounters; 2],

    /// Time in cycles of 4 ns; bits 32:1 are ticks of 8 ns.
    cycles: DFF<Bits<33>>,
    counter: DFF<Bits<48>>,
}

impl Logic for Nic {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, cycles, counter);
        clock_reset!(self, completer, decoder, registers, admin, doorbells);
        clock_reset!(self, nic_config, fences, receive, responder);
        clock_reset!(self, engine, locate, queues, failures);
        clock_reset!(
            self,
            transmit,
            readers[..],
            writer,
            flushes[..],
            requests[..],
            completions[..],
            counters[..]
        );

        // time: ticks of 8 ns
        self.cycles.d.next = self.cycles.q.val() + 1;
        self.engine.now.next = self.cycles.q.val().get_bits::<32>(1);

        // BARs
        join!(
            self,
            cq => completer.cq,
            completer.cc => cc,
            completer.access => decoder.access,
            decoder.word => completer.word,
            decoder.register_write => registers.write,
            decoder.register_read => registers.read,
            decoder.doorbell_write => doorbells.write,
            decoder.vector_access => queues.vector_access,
            queues.vector_word => decoder.vector_word,
            msix_enable => queues.msix_enable,
            msix_mask => queues.msix_mask,
        );

        // registers and doorbells
        join!(
            self,
            port_up => registers.port_up,
            port_up => responder.plane_up,
            port_up => engine.plane_up,
            port_up => transmit.port_up,
            queues.interrupt_pending => registers.interrupt_pending,
            registers.udp_port => receive.udp_port,
            registers.mps_code => receive.mps_code,
            registers.arm => responder.arm,
            registers.event_consumer => queues.event_consumer,
            doorbells.doorbell => engine.doorbell,
            doorbells.consumer => queues.consumer,
            doorbells.refused => queues.doorbell_refused,
        );
        let counter_select = self.registers.counter_select.val();
        self.receive.counter_select.next = counter_select.get_bits::<6>(0);
        for p in 0..2 {
            self.counters[p].select.next = counter_select.get_bits::<PORT_BIT>(0);
            join!(
                self,
                transmit.events[p] => counters[p].transmit,
                readers[p].payload_events => counters[p].payload,
                readers[p].entry_events => counters[p].entries,
                flushes[p].failed => counters[p].flush_failed,
                flushes[p].timed_out => counters[p].flush_timed_out,
            );
        }
        // The BARs are at endpoint 0.
        self.counters[0].request_refused.next = self.completer.refused.val();
        self.counters[0].request_damaged.next = self.completer.damaged.val();
        self.counters[1].request_refused.next = false;
        self.counters[1].request_damaged.next = false;
        self.counter.d.next = if !counter_select.get_bit(OF_PORT_BIT) {
            self.receive.counter_value.val()
        } else if counter_select.get_bit(PORT_BIT) {
            self.counters[1].value.val()
        } else {
            self.counters[0].value.val()
        };
        self.registers.counter_value.next = self.counter.q.val();

        // tables
        join!(
            self,
            registers.admin => admin.admin,
            registers.settings => admin.direct,
            admin.settings => nic_config.write,
            nic_config.table => receive.table,
            nic_config.table_taken => locate.table_valid,
            nic_config.table.write => locate.table_write,
            nic_config.configure => engine.configure,
            nic_config.settings => engine.settings,
            nic_config.profile => engine.profile,
            nic_config.owner => doorbells.owner,
            nic_config.address => transmit.address,
            nic_config.port => transmit.port_config,
            nic_config.peer => receive.peer,
            nic_config.responder => responder.settings,
            nic_config.completion_queue => queues.completion_config,
            nic_config.event_queue => queues.event_config,
        );

        // fences
        join!(
            self,
            registers.fence => fences.fence,
            fences.done => registers.fence_done,
            fences.receive => receive.fence,
            receive.fence_done => fences.receive_done,
            fences.epoch => locate.epoch,
            locate.refused => fences.ended[0],
            readers[0].entries_ended => fences.ended[1],
        );
        // Locations are always accepted.
        let mut begun = bits::<BEGINS>(0);
        begun = begun.replace_bit(0, self.engine.xlate_req.valid.val());
        for p in 0..2 {
            begun = begun.replace_bit(1 + p, self.engine.uses[p].packet.val());
            begun = begun.replace_bit(3 + p, self.engine.uses[p].fetch.val());
            join!(
                self,
                fences.epoch => engine.uses[p].epoch,
                engine.uses[p].dropped => fences.ended[2 + p],
                readers[p].payload_ended => fences.ended[4 + p],
                transmit.passed[p] => fences.ended[6 + p],
            );
        }
        self.fences.begun.next = begun;
        self.flushes[0].queue_accepted.next = self.queues.accepted.val();
        self.flushes[1].queue_accepted.next = false;

        // receive
        for p in 0..2 {
            self.receive.own[p].next = address_of(
                self.nic_config.port[p].val(),
                self.nic_config.port_written[p].val(),
            );
        }
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
        join!(
            self,
            responder.answer => transmit.answer,
            responder.completion => queues.receive,
            responder.threshold => queues.imm_threshold,
            responder.failed => engine.flush,
            engine.reverse_ev => responder.good,
        );

        // requester and transmit lanes
        join!(
            self,
            engine.tx => transmit.request,
            transmit.fault => engine.fault,
            transmit.mac => tx,
            transmit.payload_mismatch => payload_mismatch,
            engine.xlate_req => locate.request,
            locate.response => engine.xlate_rsp,
            engine.cqe => queues.send,
            engine.failure => failures.failure,
            failures.to_host => queues.qp_error,
            failures.to_core => receive.error,
            engine.sampled => sampled,
            engine.event0_qp => counted0_qp,
            engine.stats0 => counted0,
            engine.event1_qp => counted1_qp,
            engine.stats1 => counted1,
            engine.refused => doorbell_out_of_range,
        );

        // PCIe: each endpoint reads payload for its port; endpoint 0 also fetches work requests and writes the host's rings, endpoint 1 fetches for the
        // admin queue.
        for p in 0..2 {
            join!(
                self,
                registers.mrrs_code => readers[p].mrrs_code,
                registers.read_timeout => readers[p].timeout,
                transmit.read[p] => readers[p].read,
                readers[p].payload => transmit.payload[p],
                readers[p].request => flushes[p].read,
                flushes[p].data => readers[p].completion,
                registers.read_timeout => flushes[p].timeout,
                flushes[p].placement => receive.placement[p],
                flushes[p].tlp => requests[p].write,
                flushes[p].request => requests[p].read,
                requests[p].rq => rq[p],
                rc[p] => completions[p].rc,
                completions[p].completion => flushes[p].completion,
            );
        }
        join!(
            self,
            engine.fetch => readers[0].fetch,
            readers[0].fetched => engine.fetched,
            admin.fetch => readers[1].fetch,
            readers[1].fetched => admin.fetched,
            receive.tlp[0] => writer.in_[0],
            queues.tlp => writer.in_[1],
            writer.tlp => flushes[0].write,
            receive.tlp[1] => flushes[1].write,
        );
    }
}
