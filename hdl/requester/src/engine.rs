//! A requester engine: the requester core with the schedulers of both ports, the timers and the queues around it.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::bundles::{DoorbellSnk, QpSnk, ReadFaultSnk, ReverseEvSrc};
use hdl_primitives::{FlowSnk, OfferSrc, Snk, Src, StreamSkid, SyncFifo};
use hdl_spray_engine::profile::{ExplicitSnk, ProfileSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::CongestionSample;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{Completion, WqeFetch, WqeFetched};
use stellar_wire::hw::requester::{ControlPacket, TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::tenant::COST_BITS;
use stellar_wire::hw::window::Departure;
use stellar_wire::hw::Qpn;

use crate::bundles::{ChargeSrc, ConfigureSnk, EngineSettingsSnk, EpochUseSrc, ShareSnk};
use crate::burst_send::UnreadableMessage;
use crate::doorbell_queue::DoorbellQueue;
use crate::pass_head::PassHead;
use crate::port_queue::PortQueue;
use crate::ports::pair;
use crate::qp_schedule::QpSchedule;
use crate::records::{Failure, StatPulses};
use crate::requester_core::RequesterCore;
use crate::schedule_both::ScheduleBoth;
use crate::starved_queue::StarvedQueue;
use crate::timer_scan::TimerScan;
use crate::wake_queue::WakeQueue;

/// Depth of the engine's queue of control packets. With a queue of its own, an engine does not block control packets of the other one. At the wire limit a
/// SACK for 16 packets of 256 bytes comes every 28 cycles, so 3 arrive while a burst takes 62 cycles: the queue holds those of five bursts.
const CONTROLS_BITS: usize = 4;
/// With this many control packets, they are processed before the next burst starts.
const CONTROLS_ALMOST_FULL: u64 = 1 << (CONTROLS_BITS - 1);
/// Depth of the queue of failures. No operation starts with fewer than two free entries.
const FAILURES_BITS: usize = 3;
const FAILURES_LIMIT: u64 = (1 << FAILURES_BITS) - 2;

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
    /// A fault or a flush waits.
    pub failures_wait: Signal<Out, Bit>,

    // Packets of port 0 and of port 1.
    pub tx: [Src<TxRequest>; 2],
    /// Packets of this engine that depart now by port 0 and by port 1. Always accepted.
    pub departs: [FlowSnk<Departure>; 2],

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
    starved: StarvedQueue<Q, C, K>,
    doorbells: DoorbellQueue<Q, C, K>,
    /// What waits here does not change until the sequencer takes it, although the engines share the ports with others that go first.
    faults: StreamSkid<UnreadableMessage>,
    flushes: StreamSkid<Qpn>,
    controls: SyncFifo<ControlPacket, CONTROLS_BITS, { CONTROLS_BITS + 1 }>,
    packets: [PortQueue; 2],
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
        clock_reset!(self, core, doorbells, controls, faults, flushes, failures);
        clock_reset!(self, schedule, pass_head, schedules[..], packets[..]);
        clock_reset!(self, timers, wakes, starved);
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
            departs[0] => core.departs[0],
            departs[1] => core.departs[1],
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

        self.failures_wait.next = self.fault.valid.val()
            | self.faults.out.valid.val()
            | self.flush.valid.val()
            | self.flushes.out.valid.val();

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
        join!(
            self,
            core.starved => starved.starved,
            core.event_qp => starved.starved_qp,
            core.has_free => starved.has_free,
            core.entry_arrived => starved.defer,
        );
        self.wakes.in_valid.next = arrived | self.starved.wakes.val();
        self.wakes.in_qp.next = if arrived {
            self.core.entry_arrived_qp.val()
        } else {
            self.starved.wakes_qp.val()
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
        self.core.tx_space.next = pair(self.packets[0].space.val(), self.packets[1].space.val());
        for p in 0..2 {
            let to_port = if p == 0 { !tx.port } else { tx.port };
            self.packets[p].in_.valid.next = self.core.tx.valid.val() & to_port;
            self.packets[p].in_.record.next = tx;
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
