//! A requester engine: the requester core with the schedulers of both ports, the timers and the queues around it.

use hdl_macros::{clock, clock_reset, hdl, hdl_fn, join};
use hdl_primitives::bundles::{DoorbellSnk, QpSnk, ReadFaultSnk, ReverseEvSrc};
use hdl_primitives::{FlowSnk, OfferSrc, Snk, Src, StreamSkid, SyncFifo};
use hdl_spray_engine::profile::{ExplicitSnk, ProfileSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::CongestionSample;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{Completion, WqeFetch, WqeFetched};
use stellar_wire::hw::requester::{ControlPacket, TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::tenant::COST_BITS;
use stellar_wire::hw::Qpn;
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::rows::BURST_PACKETS;

use crate::bundles::{ChargeSrc, ConfigureSnk, EngineSettingsSnk, EpochUseSrc, ShareSnk};
use crate::burst_send::UnreadableMessage;
use crate::doorbell_queue::DoorbellQueue;
use crate::pass_head::PassHead;
use crate::ports::pair;
use crate::qp_schedule::QpSchedule;
use crate::records::{Failure, StatPulses};
use crate::requester_core::RequesterCore;
use crate::schedule_both::ScheduleBoth;
use crate::timer_scan::TimerScan;
use crate::wake_queue::WakeQueue;

/// Depth of a port's packet queue: two bursts. An operation starts only if a full burst fits and less than `ENOUGH` bytes of payload are queued. `ENOUGH`
/// bytes take more line time than two operations, so the port does not idle. The limit also bounds the queueing delay of other queue pairs.
const PACKETS_BITS: usize = 6;
const BURST: u64 = BURST_PACKETS as u64;
const ENOUGH: u64 = 8192;
/// Depth of the engine's queue of control packets. With a queue of its own, an engine does not block control packets of the other one. At the wire limit a
/// SACK for 16 packets of 256 bytes comes every 28 cycles, so 3 arrive while a burst takes 62 cycles: the queue holds those of five bursts.
const CONTROLS_BITS: usize = 4;
/// With this many control packets, they are processed before the next burst starts.
const CONTROLS_ALMOST_FULL: u64 = 1 << (CONTROLS_BITS - 1);
/// Depth of the queue of failures. No operation starts with fewer than two free entries.
const FAILURES_BITS: usize = 3;
const FAILURES_LIMIT: u64 = (1 << FAILURES_BITS) - 2;

/// A queue pair that was woken for a block has 63 cycles to take it before the next one is woken. So a block does not wake all that wait for it.
const PAUSE_BITS: usize = 6;

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

/// Engine of 1,024 queue pairs with 8,192 entries and messages, 32,768 packets in flight, and 4,096 tenants.
pub type RequesterEngine1024 = RequesterEngine<10, 11, 1024, 10, 13, 10, 13, 12>;
/// Engine of 16 queue pairs with 2,048 entries and messages, 2,048 packets in flight, and 16 tenants, for tests.
pub type RequesterEngine16 = RequesterEngine<4, 5, 16, 6, 9, 8, 11, 4>;

/// Requester engine of 2^`Q` = `K` queue pairs with 2^`W` blocks of 32 packets for their windows, 2^`B` blocks of 8 entries and messages, and 2^`P`
/// tenants. `C` = `Q` + 1, `S` = `W` + 3, `E` = `B` + 3. Queues of the message table have 2^`F` places, at least one for each queue pair; `D` = `F` + 1. Timers are in `N` = 2^`G` groups of up to 32.
#[derive(LogicBlock, Default)]
pub struct RequesterEngine<
    const Q: usize,
    const C: usize,
    const K: usize,
    const W: usize,
    const S: usize,
    const B: usize,
    const E: usize,
    const P: usize,
    const F: usize = 10,
    const D: usize = 11,
    const G: usize = 5,
    const N: usize = 32,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,
    /// Bit p: port p is up.
    pub plane_up: Signal<In, Bits<2>>,

    // Configuration: see `RequesterCore`.
    pub configure: ConfigureSnk,
    pub settings: EngineSettingsSnk,
    pub profile: ProfileSnk,
    pub values: ExplicitSnk,
    /// Shares of tenants.
    pub share: ShareSnk,
    // Tokens of tenants, for the schedule of each port.
    pub charge: [ChargeSrc; 2],

    // Control packets, doorbells, payload faults, and flushes. Each is accepted when valid and ready are high.
    /// SACK, NACK or RC acknowledgement.
    pub control: Snk<ControlPacket>,
    pub doorbell: DoorbellSnk,
    pub fault: ReadFaultSnk,
    pub flush: QpSnk,

    // Packets of port 0 and of port 1.
    pub tx: [Src<TxRequest>; 2],

    // Pulses to the responder: a SACK confirmed that this entropy value is good on this plane.
    pub reverse_ev: ReverseEvSrc,
    // Queue pairs that moved to the error state.
    pub failure: Src<Failure>,
    // Statistics pulses.
    pub event_qp: Signal<Out, Qpn>,
    pub refused: Signal<Out, Bit>,
    pub stats: Signal<Out, StatPulses>,
    /// Effect of a SACK on the congestion window.
    pub sampled: Signal<Out, CongestionSample>,

    // Local translation, WQE reads, completions: see `RequesterCore`.
    pub xlate_req: OfferSrc<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,
    pub fetch: Src<WqeFetch>,
    pub fetched: Snk<WqeFetched>,
    pub cqe: Src<Completion>,
    /// What a fence waits for. The epoch of a payload comes with its location.
    pub uses: EpochUseSrc,

    core: RequesterCore<Q, W, S, B, E, F, D>,
    schedule: ScheduleBoth,
    pass_head: PassHead,
    schedules: [QpSchedule<Q, P>; 2],
    timers: TimerScan<Q, G, N>,
    wakes: WakeQueue<Q, C, K>,
    /// Queue pairs that wait for a block of the window's pool.
    starving: WakeQueue<Q, C, K>,
    /// The first of them: a register behind the block RAM of the queue.
    starved_first: StreamSkid<Qpn>,
    /// Cycles until the next one of them may be woken.
    pause: DFF<Bits<PAUSE_BITS>>,
    /// A cycle ago there was a first one, and a free block for it. It stays the first until it is woken.
    may_wake: DFF<Bit>,
    doorbells: DoorbellQueue<Q, C, K>,
    /// What waits here does not change until the sequencer takes it, although the engines share the ports with others that go first.
    faults: StreamSkid<UnreadableMessage>,
    flushes: StreamSkid<Qpn>,
    /// The last operation starved: a register at the end of the transmit flow.
    starved: DFF<Bit>,
    starved_qp: DFF<Qpn>,
    controls: SyncFifo<ControlPacket, CONTROLS_BITS, { CONTROLS_BITS + 1 }>,
    packets: [SyncFifo<TxRequest, PACKETS_BITS, { PACKETS_BITS + 1 }>; 2],
    /// Payload bytes queued in `packets`, but for those of `entered`.
    bytes: [DFF<Bits<19>>; 2],
    /// Payload bytes of the packet that entered a cycle ago: its length comes late in a cycle, from the memory of messages.
    entered: [DFF<Bits<LENGTH_BITS>>; 2],
    /// Bit p: `packets[p]` had space for a burst a cycle ago. No burst of a port is chosen before the last packet of the one before it is counted.
    space: DFF<Bits<2>>,
    failures: SyncFifo<Failure, FAILURES_BITS, { FAILURES_BITS + 1 }>,
}

impl<
        const Q: usize,
        const C: usize,
        const K: usize,
        const W: usize,
        const S: usize,
        const B: usize,
        const E: usize,
        const P: usize,
        const F: usize,
        const D: usize,
        const G: usize,
        const N: usize,
    > Logic for RequesterEngine<Q, C, K, W, S, B, E, P, F, D, G, N>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(
            self,
            core,
            schedule,
            pass_head,
            schedules[..],
            timers,
            wakes,
            starving,
            starved_first,
            faults,
            flushes,
            controls,
            doorbells,
            packets[..],
            failures
        );
        clock!(self, clock, bytes[..], entered[..]);
        dff_setup!(self, clock, space);
        dff_setup!(self, clock, pause, may_wake, starved, starved_qp);
        join!(
            self,
            now => core.now,
            plane_up => core.plane_up,
            configure => doorbells.configure,
            doorbells.configured => core.configure,
            settings => core.settings,
            profile => core.profile,
            values => core.values,
            doorbell => doorbells.in_,
            doorbells.out => core.doorbell,
            core.reverse_ev => reverse_ev,
            core.event_qp => event_qp,
            core.refused => refused,
            core.stats => stats,
            core.sampled => sampled,
            core.xlate_req => xlate_req,
            xlate_rsp => core.xlate_rsp,
            core.fetch => fetch,
            fetched => core.fetched,
            core.cqe => cqe,
            uses.epoch => core.epoch,
            core.fetch_begun => uses.fetch,
            core.dropped => uses.dropped,
        );

        // hold faults and flushes
        self.faults.in_.valid.next = self.fault.valid.val();
        self.faults.in_.data.next = UnreadableMessage {
            qp: self.fault.qp.val(),
            slot: self.fault.slot.val(),
        };
        self.fault.ready.next = self.faults.in_.ready.val();
        self.core.fault.valid.next = self.faults.out.valid.val();
        self.core.fault.qp.next = self.faults.out.data.val().qp;
        self.core.fault.slot.next = self.faults.out.data.val().slot;
        self.faults.out.ready.next = self.core.fault.ready.val();
        self.flushes.in_.valid.next = self.flush.valid.val();
        self.flushes.in_.data.next = self.flush.qp.val();
        self.flush.ready.next = self.flushes.in_.ready.val();
        self.core.flush.valid.next = self.flushes.out.valid.val();
        self.core.flush.qp.next = self.flushes.out.data.val();
        self.flushes.out.ready.next = self.core.flush.ready.val();

        // queue control packets
        join!(self, control => controls.in_, controls.out => core.control);
        self.uses.control.next = EpochEnd {
            valid: self.controls.out.valid.val() & self.core.control.ready.val(),
            epoch: self.controls.out.data.val().epoch,
        };
        self.core.control_almost_full.next = self.controls.count.val() >= CONTROLS_ALMOST_FULL;

        // schedule
        join!(self, core.schedule => schedule.in_);
        let shares_ready =
            self.schedules[0].share.ready.val() & self.schedules[1].share.ready.val();
        self.share.ready.next = shares_ready;
        let rotated = self.core.rotate.val() | self.pass_head.passes.val();
        let free_of_charge = self.pass_head.costs_nothing.val();
        for p in 0..2 {
            self.schedules[p].rotate.next = rotated.get_bit(p);
            self.schedules[p].cost.next = if free_of_charge.get_bit(p) {
                bits::<COST_BITS>(0)
            } else {
                self.core.cost.val()
            };
            self.schedules[p].deactivate.next = self.core.deactivate.val().get_bit(p);
            self.schedules[p].share.valid.next = self.share.valid.val() & shares_ready;
            join!(
                self,
                schedule.out[p] => schedules[p].wake,
                share.tenant => schedules[p].share.tenant,
                share.record => schedules[p].share.record,
                schedules[p].charge => charge[p],
            );
        }
        let heads = pair(
            self.schedules[0].head_valid.val(),
            self.schedules[1].head_valid.val(),
        );
        self.core.head_valid.next = heads & self.plane_up.val() & !self.pass_head.may_pass.val();
        self.pass_head.heads.next = heads;
        self.pass_head.turned.next = self.core.rotate.val() | self.core.deactivate.val();
        join!(
            self,
            schedules[0].head_qp => pass_head.head0_qp,
            schedules[1].head_qp => pass_head.head1_qp,
            core.serving => pass_head.serving,
        );
        self.core.head0_qp.next = self.schedules[0].head_qp.val();
        self.core.head1_qp.next = self.schedules[1].head_qp.val();

        // arm timers
        join!(self, now => timers.now, core.deadline => timers.deadline, timers.due => core.due);

        // wake up queue pairs: a send queue entry arrived, a block of the window's pool is free, or a port changed its state
        let arrived = self.core.entry_arrived.val();
        let pauses = self.pause.q.val().any();
        let wakes_starving = self.may_wake.q.val() & !arrived;
        self.may_wake.d.next = self.starved_first.out.valid.val()
            & self.core.has_free.val()
            & !pauses
            & !wakes_starving
            & !self.reset.val();
        self.starved.d.next = self.core.starved.val() & !self.reset.val();
        self.starved_qp.d.next = self.core.event_qp.val();
        self.starving.in_valid.next = self.starved.q.val();
        self.starving.in_qp.next = self.starved_qp.q.val();
        self.starving.plane_up.next = bits::<2>(3);
        self.starved_first.in_.valid.next = self.starving.out.valid.val();
        self.starved_first.in_.data.next = self.starving.out.qp.val();
        self.starving.out.ready.next = self.starved_first.in_.ready.val();
        self.starved_first.out.ready.next = wakes_starving;
        if wakes_starving {
            self.pause.d.next = Bits::<PAUSE_BITS>::mask();
        } else if pauses {
            self.pause.d.next = self.pause.q.val() - 1;
        }
        self.wakes.in_valid.next = arrived | wakes_starving;
        self.wakes.in_qp.next = if arrived {
            self.core.entry_arrived_qp.val()
        } else {
            self.starved_first.out.data.val()
        };
        join!(self, plane_up => wakes.plane_up, wakes.out => core.wake);

        // queue packets
        let sent = self.core.tx.record.val();
        let in_memory = sent.length.any() & !sent.inline;
        let tx = TxRequest {
            epoch: if in_memory {
                sent.epoch
            } else {
                self.uses.epoch.val()
            },
            ..sent
        };
        self.uses.packet.next = self.core.tx.valid.val() & !in_memory;
        self.space.d.next = pair(
            has_space(
                self.packets[0].count.val(),
                self.bytes[0].q.val() + bit_cast::<19, LENGTH_BITS>(self.entered[0].q.val()),
            ),
            has_space(
                self.packets[1].count.val(),
                self.bytes[1].q.val() + bit_cast::<19, LENGTH_BITS>(self.entered[1].q.val()),
            ),
        );
        self.core.tx_space.next = self.space.q.val();
        for p in 0..2 {
            let to_port = if p == 0 { !tx.port } else { tx.port };
            let enters = self.core.tx.valid.val() & to_port;
            let leaves = self.packets[p].out.valid.val() & self.tx[p].ready.val();
            self.entered[p].d.next = length_if(enters & !self.reset.val(), tx);
            self.bytes[p].d.next = if self.reset.val() {
                bits::<19>(0)
            } else {
                bytes_after(
                    self.bytes[p].q.val(),
                    self.entered[p].q.val(),
                    length_if(leaves, self.packets[p].out.data.val()),
                )
            };
            assert!(
                !enters | self.packets[p].in_.ready.val(),
                "a packet finds no space in the queue of its port"
            );
            self.packets[p].in_.valid.next = enters;
            self.packets[p].in_.data.next = tx;
            join!(self, packets[p].out => tx[p]);
        }

        // queue failures
        self.core.hold.next = self.failures.count.val() >= FAILURES_LIMIT;
        self.failures.in_.valid.next = self.core.failed.val();
        self.failures.in_.data.next = Failure {
            qp: self.core.event_qp.val(),
            status: self.core.failed_status.val(),
        };
        join!(self, failures.out => failure);
    }
}
