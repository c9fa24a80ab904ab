//! A requester engine: the requester core with the schedulers of both ports, the timers and the queues around it.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::SyncFifo;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{CongestionSample, NsccConfig};
use stellar_wire::hw::messages::{Completion, SendQueueConfig, WqeFetch, WqeFetched};
use stellar_wire::hw::requester::{
    ControlPacket, RequesterConfig, TranslateRequest, TranslateResponse, TxRequest,
};
use stellar_wire::hw::spray::{EntropyProfileEntry, SprayConfig};
use stellar_wire::hw::{Qpn, SqIndex};
use stellar_wire::mtu::LENGTH_BITS;

use crate::ports::pair;
use crate::qp_schedule::QpSchedule;
use crate::records::{ConfigureKind, Failure, StatPulses};
use crate::requester_core::RequesterCore;
use crate::timer_scan::TimerScan;
use crate::wake_queue::WakeQueue;

/// Depth of a port's packet queue: two bursts. An operation starts only if a full burst fits and less than `ENOUGH` bytes of payload are queued. `ENOUGH`
/// bytes take more line time than two operations, so the port does not idle. The limit also bounds the queueing delay of other queue pairs.
const PACKETS_BITS: usize = 6;
const BURST: u64 = 32;
const ENOUGH: u64 = 8192;
/// Depth of the engine's queue of control packets. With a queue of its own, an engine does not block control packets of the other one. At the wire limit a
/// SACK for 16 packets of 256 bytes comes every 28 cycles, so 3 arrive while a burst takes 62 cycles: the queue holds those of five bursts.
const CONTROLS_BITS: usize = 4;
/// With this many control packets, they are processed before the next burst starts.
const CONTROLS_ALMOST_FULL: u64 = 1 << (CONTROLS_BITS - 1);
/// Depth of the queue of failures. No operation starts with fewer than two free entries.
const FAILURES_BITS: usize = 3;
const FAILURES_LIMIT: u64 = (1 << FAILURES_BITS) - 2;

/// Returns whether a port's packet queue accepts a burst.
#[hdl_fn]
fn has_space(packets: Bits<7>, bytes: Bits<19>) -> Bit {
    (packets <= BURST) & (bytes < ENOUGH)
}

/// Returns the payload bytes of `packet` if it `moves`, otherwise 0.
#[hdl_fn]
fn length_if(moves: Bit, packet: TxRequest) -> Bits<LENGTH_BITS> {
    if moves {
        packet.length
    } else {
        bits::<LENGTH_BITS>(0)
    }
}

/// Returns the bytes queued after one packet entered and one left. Levels: two carry chains.
#[hdl_fn]
fn bytes_after(bytes: Bits<19>, came: Bits<LENGTH_BITS>, left: Bits<LENGTH_BITS>) -> Bits<19> {
    (bytes + bit_cast::<19, LENGTH_BITS>(came)) - bit_cast::<19, LENGTH_BITS>(left)
}

/// Engine of 1,024 queue pairs with 64 outstanding messages each, and 65,536 doorbell pages.
pub type RequesterEngine1024 = RequesterEngine<10, 11, 1024, 18, 6, 16, 14, 16>;
/// Engine of 16 queue pairs and 16 doorbell pages, for tests.
pub type RequesterEngine16 = RequesterEngine<4, 5, 16, 12, 6, 10, 8, 4>;

/// Requester engine of 2^`Q` = `K` queue pairs with 2^`M` outstanding messages each, and 2^`P` doorbell pages. `C` = `Q` + 1, `S` = `Q` + 8, `A` = `Q` + `M`,
/// `E` = `Q` + 4.
#[derive(LogicBlock, Default)]
pub struct RequesterEngine<
    const Q: usize,
    const C: usize,
    const K: usize,
    const S: usize,
    const M: usize,
    const A: usize,
    const E: usize,
    const P: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,
    /// Bit p: port p is up.
    pub plane_up: Signal<In, Bits<2>>,

    // Configuration: see `RequesterCore`.
    pub configure_valid: Signal<In, Bit>,
    pub configure: Signal<In, ConfigureKind>,
    pub configure_qp: Signal<In, Qpn>,
    pub requester_settings: Signal<In, RequesterConfig>,
    pub queue_settings: Signal<In, SendQueueConfig>,
    pub spray_settings: Signal<In, SprayConfig>,
    pub nscc_settings: Signal<In, NsccConfig>,
    pub configure_ready: Signal<Out, Bit>,
    pub profile_valid: Signal<In, Bit>,
    pub profile_index: Signal<In, Bits<3>>,
    pub profile: Signal<In, EntropyProfileEntry>,

    // Control packets, doorbells, payload faults, and flushes. Each is accepted when valid and ready are high.
    pub control_valid: Signal<In, Bit>,
    /// SACK, NACK or RC acknowledgement.
    pub control: Signal<In, ControlPacket>,
    pub control_ready: Signal<Out, Bit>,
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_qp: Signal<In, Qpn>,
    pub doorbell_producer: Signal<In, SqIndex>,
    /// The doorbell carries the send queue entry before `doorbell_producer`.
    pub doorbell_pushed: Signal<In, Bit>,
    pub doorbell_entry: Signal<In, Bits<512>>,
    pub doorbell_ready: Signal<Out, Bit>,
    pub fault_valid: Signal<In, Bit>,
    pub fault_qp: Signal<In, Qpn>,
    pub fault_slot: Signal<In, SqIndex>,
    pub fault_ready: Signal<Out, Bit>,
    pub flush_valid: Signal<In, Bit>,
    pub flush_qp: Signal<In, Qpn>,
    pub flush_ready: Signal<Out, Bit>,

    // Packets of port 0 and of port 1.
    pub tx0_valid: Signal<Out, Bit>,
    pub tx0: Signal<Out, TxRequest>,
    pub tx0_ready: Signal<In, Bit>,
    pub tx1_valid: Signal<Out, Bit>,
    pub tx1: Signal<Out, TxRequest>,
    pub tx1_ready: Signal<In, Bit>,

    // Pulses to the responder: a SACK confirmed that this entropy value is good on this plane.
    pub reverse_ev_valid: Signal<Out, Bit>,
    pub reverse_ev_qp: Signal<Out, Qpn>,
    pub reverse_ev_plane: Signal<Out, Bit>,
    pub reverse_ev_entropy: Signal<Out, Bits<32>>,
    // Queue pairs that moved to the error state.
    pub failure_valid: Signal<Out, Bit>,
    pub failure: Signal<Out, Failure>,
    pub failure_ready: Signal<In, Bit>,
    // Statistics pulses.
    pub event_qp: Signal<Out, Qpn>,
    pub refused: Signal<Out, Bit>,
    pub stats: Signal<Out, StatPulses>,
    /// Effect of a SACK on the congestion window.
    pub sampled: Signal<Out, CongestionSample>,

    // Local translation, WQE reads, completions: see `RequesterCore`.
    pub xlate_req_valid: Signal<Out, Bit>,
    pub xlate_req: Signal<Out, TranslateRequest>,
    pub xlate_req_ready: Signal<In, Bit>,
    pub xlate_rsp_valid: Signal<In, Bit>,
    pub xlate_rsp: Signal<In, TranslateResponse>,
    pub fetch_valid: Signal<Out, Bit>,
    pub fetch: Signal<Out, WqeFetch>,
    pub fetch_ready: Signal<In, Bit>,
    pub fetched_valid: Signal<In, Bit>,
    pub fetched: Signal<In, WqeFetched>,
    pub fetched_ready: Signal<Out, Bit>,
    pub cqe_valid: Signal<Out, Bit>,
    pub cqe: Signal<Out, Completion>,
    pub cqe_ready: Signal<In, Bit>,

    core: RequesterCore<Q, S, M, A, E>,
    schedule0: QpSchedule<Q, P>,
    schedule1: QpSchedule<Q, P>,
    timers: TimerScan<Q>,
    wakes: WakeQueue<Q, C, K>,
    controls: SyncFifo<ControlPacket, CONTROLS_BITS, { CONTROLS_BITS + 1 }>,
    packets0: SyncFifo<TxRequest, PACKETS_BITS, { PACKETS_BITS + 1 }>,
    packets1: SyncFifo<TxRequest, PACKETS_BITS, { PACKETS_BITS + 1 }>,
    /// Payload bytes queued in `packets0` and `packets1`.
    bytes0: DFF<Bits<19>>,
    bytes1: DFF<Bits<19>>,
    failures: SyncFifo<Failure, FAILURES_BITS, { FAILURES_BITS + 1 }>,
}

impl<
        const Q: usize,
        const C: usize,
        const K: usize,
        const S: usize,
        const M: usize,
        const A: usize,
        const E: usize,
        const P: usize,
    > Logic for RequesterEngine<Q, C, K, S, M, A, E, P>
{
    #[hdl]
    fn update(&mut self) {
        clock!(
            self, clock, core, schedule0, schedule1, timers, wakes, packets0, packets1, failures
        );
        clock!(self, clock, controls);
        dff_setup!(self, clock, bytes0, bytes1);
        self.controls.reset.next = self.reset.val();
        self.core.reset.next = self.reset.val();
        self.schedule0.reset.next = self.reset.val();
        self.schedule1.reset.next = self.reset.val();
        self.timers.reset.next = self.reset.val();
        self.wakes.reset.next = self.reset.val();
        self.packets0.reset.next = self.reset.val();
        self.packets1.reset.next = self.reset.val();
        self.failures.reset.next = self.reset.val();

        // pass through
        self.core.now.next = self.now.val();
        self.core.plane_up.next = self.plane_up.val();
        self.core.configure_valid.next = self.configure_valid.val();
        self.core.configure.next = self.configure.val();
        self.core.configure_qp.next = self.configure_qp.val();
        self.core.requester_settings.next = self.requester_settings.val();
        self.core.queue_settings.next = self.queue_settings.val();
        self.core.spray_settings.next = self.spray_settings.val();
        self.core.nscc_settings.next = self.nscc_settings.val();
        self.core.profile_valid.next = self.profile_valid.val();
        self.core.profile_index.next = self.profile_index.val();
        self.core.profile.next = self.profile.val();
        self.core.doorbell_valid.next = self.doorbell_valid.val();
        self.core.doorbell_qp.next = self.doorbell_qp.val();
        self.core.doorbell_producer.next = self.doorbell_producer.val();
        self.core.doorbell_pushed.next = self.doorbell_pushed.val();
        self.core.doorbell_entry.next = self.doorbell_entry.val();
        self.core.fault_valid.next = self.fault_valid.val();
        self.core.fault_qp.next = self.fault_qp.val();
        self.core.fault_slot.next = self.fault_slot.val();
        self.core.flush_valid.next = self.flush_valid.val();
        self.core.flush_qp.next = self.flush_qp.val();
        self.core.xlate_req_ready.next = self.xlate_req_ready.val();
        self.core.xlate_rsp_valid.next = self.xlate_rsp_valid.val();
        self.core.xlate_rsp.next = self.xlate_rsp.val();
        self.core.fetch_ready.next = self.fetch_ready.val();
        self.core.fetched_valid.next = self.fetched_valid.val();
        self.core.fetched.next = self.fetched.val();
        self.fetched_ready.next = self.core.fetched_ready.val();
        self.core.cqe_ready.next = self.cqe_ready.val();
        self.configure_ready.next = self.core.configure_ready.val();
        self.doorbell_ready.next = self.core.doorbell_ready.val();
        self.fault_ready.next = self.core.fault_ready.val();
        self.flush_ready.next = self.core.flush_ready.val();
        self.reverse_ev_valid.next = self.core.reverse_ev_valid.val();
        self.reverse_ev_qp.next = self.core.reverse_ev_qp.val();
        self.reverse_ev_plane.next = self.core.reverse_ev_plane.val();
        self.reverse_ev_entropy.next = self.core.reverse_ev_entropy.val();
        self.event_qp.next = self.core.event_qp.val();
        self.refused.next = self.core.refused.val();
        self.stats.next = self.core.stats.val();
        self.sampled.next = self.core.sampled.val();
        self.xlate_req_valid.next = self.core.xlate_req_valid.val();
        self.xlate_req.next = self.core.xlate_req.val();
        self.fetch_valid.next = self.core.fetch_valid.val();
        self.fetch.next = self.core.fetch.val();
        self.cqe_valid.next = self.core.cqe_valid.val();
        self.cqe.next = self.core.cqe.val();

        // queue control packets
        self.controls.in_valid.next = self.control_valid.val();
        self.controls.in_data.next = self.control.val();
        self.control_ready.next = self.controls.in_ready.val();
        self.core.control_valid.next = self.controls.out_valid.val();
        self.core.control.next = self.controls.out_data.val();
        self.controls.out_ready.next = self.core.control_ready.val();
        self.core.control_almost_full.next = self.controls.count.val() >= CONTROLS_ALMOST_FULL;

        // schedule: both ports schedule a queue pair in the same cycle
        let both_ready = self.schedule0.wake_ready.val() & self.schedule1.wake_ready.val();
        let wake = self.core.schedule_valid.val() & both_ready;
        self.core.schedule_ready.next = both_ready;
        self.schedule0.wake_valid.next = wake;
        self.schedule0.wake_page.next = self.core.schedule_page.val();
        self.schedule0.wake_qp.next = self.core.schedule_qp.val();
        self.schedule1.wake_valid.next = wake;
        self.schedule1.wake_page.next = self.core.schedule_page.val();
        self.schedule1.wake_qp.next = self.core.schedule_qp.val();
        let up = self.plane_up.val();
        let heads = pair(
            self.schedule0.head_valid.val() & up.get_bit(0),
            self.schedule1.head_valid.val() & up.get_bit(1),
        );
        self.core.head_valid.next = heads;
        self.core.head0_qp.next = self.schedule0.head_qp.val();
        self.core.head1_qp.next = self.schedule1.head_qp.val();
        self.schedule0.rotate.next = self.core.rotate.val().get_bit(0);
        self.schedule0.deactivate.next = self.core.deactivate.val().get_bit(0);
        self.schedule1.rotate.next = self.core.rotate.val().get_bit(1);
        self.schedule1.deactivate.next = self.core.deactivate.val().get_bit(1);

        self.timers.now.next = self.now.val();
        self.timers.set_valid.next = self.core.deadline_valid.val();
        self.timers.set_qp.next = self.core.deadline_qp.val();
        self.timers.set_armed.next = self.core.deadline_armed.val();
        self.timers.set_at.next = self.core.deadline.val();
        self.core.due_valid.next = self.timers.due_valid.val();
        self.core.due_qp.next = self.timers.due_qp.val();
        self.timers.due_ready.next = self.core.due_ready.val();

        // wake up queue pairs: a send queue entry arrived, or a port changed its state
        self.wakes.in_valid.next = self.core.entry_arrived.val();
        self.wakes.in_qp.next = self.core.entry_arrived_qp.val();
        self.wakes.plane_up.next = self.plane_up.val();
        self.core.wake_valid.next = self.wakes.out_valid.val();
        self.core.wake_qp.next = self.wakes.out_qp.val();
        self.wakes.out_ready.next = self.core.wake_ready.val();

        // queue packets
        let tx = self.core.tx.val();
        self.core.tx_space.next = pair(
            has_space(self.packets0.count.val(), self.bytes0.q.val()),
            has_space(self.packets1.count.val(), self.bytes1.q.val()),
        );
        let enters0 = self.core.tx_valid.val() & !tx.port;
        let enters1 = self.core.tx_valid.val() & tx.port;
        let leaves0 = self.packets0.out_valid.val() & self.tx0_ready.val();
        let leaves1 = self.packets1.out_valid.val() & self.tx1_ready.val();
        self.bytes0.d.next = bytes_after(
            self.bytes0.q.val(),
            length_if(enters0, tx),
            length_if(leaves0, self.packets0.out_data.val()),
        );
        self.bytes1.d.next = bytes_after(
            self.bytes1.q.val(),
            length_if(enters1, tx),
            length_if(leaves1, self.packets1.out_data.val()),
        );
        self.packets0.in_valid.next = enters0;
        self.packets0.in_data.next = tx;
        self.packets1.in_valid.next = enters1;
        self.packets1.in_data.next = tx;
        self.tx0_valid.next = self.packets0.out_valid.val();
        self.tx0.next = self.packets0.out_data.val();
        self.packets0.out_ready.next = self.tx0_ready.val();
        self.tx1_valid.next = self.packets1.out_valid.val();
        self.tx1.next = self.packets1.out_data.val();
        self.packets1.out_ready.next = self.tx1_ready.val();

        // queue failures
        self.core.hold.next = self.failures.count.val() >= FAILURES_LIMIT;
        self.failures.in_valid.next = self.core.failed.val();
        self.failures.in_data.next = Failure {
            qp: self.core.event_qp.val(),
            status: self.core.failed_status.val(),
        };
        self.failure_valid.next = self.failures.out_valid.val();
        self.failure.next = self.failures.out_data.val();
        self.failures.out_ready.next = self.failure_ready.val();

        if self.reset.val() {
            self.bytes0.d.next = bits::<19>(0);
            self.bytes1.d.next = bits::<19>(0);
        }
    }
}
