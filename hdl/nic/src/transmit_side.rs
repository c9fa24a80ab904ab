//! What sends: the requester, the translation of payload addresses, and the transmit lanes.

use hdl_emtt::LocalTranslate;
use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{
    AddressFlowSnk, DoorbellSnk, FenceSnk, FenceSrc, MacTxSrc, PayloadFaultSrc, QpRowFlowSnk,
    QpSnk, ReadDataSnk, ReadFaultSnk, ReverseEvSrc, Snk, Src,
};
use hdl_requester::bundles::{ConfigureSnk, EngineSettingsSnk, ShareSnk};
use hdl_requester::{ConfigureKind, Failure, StatPulses};
use hdl_spray_engine::profile::{ExplicitSnk, ProfileSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::address::PortConfig;
use stellar_wire::hw::congestion::CongestionSample;
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{Completion, WqeFetch, WqeFetched};
use stellar_wire::hw::read::ReadCommand;
use stellar_wire::hw::requester::{ControlPacket, TxAnswer};
use stellar_wire::hw::tables::TableWrite;
use stellar_wire::hw::window::Departure;
use stellar_wire::hw::Qpn;

use crate::fence_control::FenceControl;
use crate::fence_epochs::BEGINS;
use crate::optional::Optional;
use crate::requester_pair::{of_engine, to_engine, RequesterPair};
use crate::stream_merge::StreamMerge;
use crate::table_bits::MR_BITS;
use crate::tx_lanes::{TxEvents, TxLanes};

/// The transmit side of the card. It also executes fences, because it knows which of its reads began before one. It has `P` lanes, one or two, with the
/// parameters of [`TxLanes`]; `Q` to `T` are those of [`RequesterPair`], and each of the four banks of translations has 2^`EB`. The requester is that of two ports; with one lane, it sends nothing to the second, whose link is down.
#[derive(LogicBlock)]
pub struct TransmitSide<
    const P: usize,
    const W: usize,
    const N: usize,
    const B: usize,
    const Q: usize,
    const D: usize,
    const E: usize,
    const K: usize,
    const G: usize,
    const T: usize,
    const EB: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Bit p: the link of port p is up.
    pub port_up: Signal<In, Bits<2>>,
    /// Cycles after which a fence gives up what waits for a port that does not send.
    pub stuck_timeout: Signal<In, Bits<31>>,

    // Tables: see `LocalTranslate`, `RequesterPair` and `TxDualLane`.
    pub table_valid: Signal<In, Bit>,
    pub table_write: Signal<In, TableWrite>,
    pub configure: ConfigureSnk,
    pub settings: EngineSettingsSnk,
    pub profile: ProfileSnk,
    pub values: ExplicitSnk,
    pub share: ShareSnk,
    pub port_config: [Signal<In, PortConfig>; P],
    pub peer: QpRowFlowSnk<QpPeer>,
    pub address: [AddressFlowSnk; P],

    // What there is to do.
    pub doorbell: DoorbellSnk,
    /// Control packets that were received. Probes are not among them: the responder answers those.
    pub control: Snk<ControlPacket>,
    /// Bit i: lane i has queued one in this cycle. It belongs to the epoch `epoch`.
    pub control_begun: Signal<In, Bits<2>>,
    pub epoch: Signal<Out, Bit>,
    /// Queue pairs that have to move to the error state: because of what they received, and because their completion queue was overrun.
    pub flush: [QpSnk; 2],
    pub answer: Snk<TxAnswer>,

    // Reads of work queue entries and of payload, and the ends of these reads. Entries of queue pairs of even numbers are 0, those of odd ones 1; with one lane,
    // all are 0.
    pub fetch: [Src<WqeFetch>; P],
    pub fetched: [Snk<WqeFetched>; P],
    pub entries_ended: [Signal<In, EpochEnd>; P],
    pub read: [Src<ReadCommand>; P],
    pub payload: [ReadDataSnk<W>; P],
    pub payload_ended: [Signal<In, EpochEnd>; P],
    /// Payload that could not be read, and the message that fails because of it.
    pub unread: [PayloadFaultSrc; P],
    pub fault: [ReadFaultSnk; 2],

    // Results.
    /// Ticks of 8 ns.
    pub now: Signal<Out, Bits<32>>,
    pub mac: [MacTxSrc<W>; P],
    pub cqe: Src<Completion>,
    pub failure: Src<Failure>,
    pub reverse_ev: ReverseEvSrc,

    // Fences of software, which end when the receive side has passed them, too.
    pub fence: FenceSnk,
    pub fence_done: Signal<Out, Bit>,
    pub receive_fence: FenceSrc,
    pub receive_fence_done: Signal<In, Bit>,

    // What is counted.
    pub events: [Signal<Out, TxEvents>; P],
    pub event0_qp: Signal<Out, Qpn>,
    pub stats0: Signal<Out, StatPulses>,
    pub event1_qp: Signal<Out, Qpn>,
    pub stats1: Signal<Out, StatPulses>,
    pub sampled: [Signal<Out, CongestionSample>; 2],
    /// Bit e: engine e refused a producer index.
    pub refused: Signal<Out, Bits<2>>,
    /// A lane received a payload of another length than it requested. A correct card never raises it.
    pub payload_mismatch: Signal<Out, Bit>,
    /// The requester has taken a new row of this queue pair.
    pub configured: Signal<Out, Bit>,
    pub configured_qp: Signal<Out, Qpn>,

    requester: RequesterPair<Q, D, E, K, G, T>,
    /// With one lane: reads of entries of both engines.
    merge_fetch: Optional<StreamMerge<WqeFetch>>,
    flushes: StreamMerge<Qpn>,
    locate: LocalTranslate<MR_BITS, EB>,
    lanes: TxLanes<P, W, N, B, Q>,
    fences: FenceControl,
    /// A failed read or a queue pair that fails was on its way to the requester in the last cycle.
    failures_wait: DFF<Bit>,
    /// Time in cycles of 4 ns; bits 32:1 are ticks of 8 ns.
    cycles: DFF<Bits<33>>,
}

impl<
        const P: usize,
        const W: usize,
        const N: usize,
        const B: usize,
        const Q: usize,
        const D: usize,
        const E: usize,
        const K: usize,
        const G: usize,
        const T: usize,
        const EB: usize,
    > Default for TransmitSide<P, W, N, B, Q, D, E, K, G, T, EB>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            port_up: Default::default(),
            stuck_timeout: Default::default(),
            table_valid: Default::default(),
            table_write: Default::default(),
            configure: Default::default(),
            settings: Default::default(),
            profile: Default::default(),
            values: Default::default(),
            share: Default::default(),
            port_config: std::array::from_fn(|_| Default::default()),
            peer: Default::default(),
            address: std::array::from_fn(|_| Default::default()),
            doorbell: Default::default(),
            control: Default::default(),
            control_begun: Default::default(),
            epoch: Default::default(),
            flush: Default::default(),
            answer: Default::default(),
            fetch: std::array::from_fn(|_| Default::default()),
            fetched: std::array::from_fn(|_| Default::default()),
            entries_ended: std::array::from_fn(|_| Default::default()),
            read: std::array::from_fn(|_| Default::default()),
            payload: std::array::from_fn(|_| Default::default()),
            payload_ended: std::array::from_fn(|_| Default::default()),
            unread: std::array::from_fn(|_| Default::default()),
            fault: Default::default(),
            now: Default::default(),
            mac: std::array::from_fn(|_| Default::default()),
            cqe: Default::default(),
            failure: Default::default(),
            reverse_ev: Default::default(),
            fence: Default::default(),
            fence_done: Default::default(),
            receive_fence: Default::default(),
            receive_fence_done: Default::default(),
            events: std::array::from_fn(|_| Default::default()),
            event0_qp: Default::default(),
            stats0: Default::default(),
            event1_qp: Default::default(),
            stats1: Default::default(),
            sampled: Default::default(),
            refused: Default::default(),
            payload_mismatch: Default::default(),
            configured: Default::default(),
            configured_qp: Default::default(),
            requester: Default::default(),
            merge_fetch: Optional::new(P == 1),
            flushes: Default::default(),
            locate: Default::default(),
            lanes: Default::default(),
            fences: Default::default(),
            failures_wait: Default::default(),
            cycles: Default::default(),
        }
    }
}

impl<
        const P: usize,
        const W: usize,
        const N: usize,
        const B: usize,
        const Q: usize,
        const D: usize,
        const E: usize,
        const K: usize,
        const G: usize,
        const T: usize,
        const EB: usize,
    > Logic for TransmitSide<P, W, N, B, Q, D, E, K, G, T, EB>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, cycles, failures_wait);
        clock_reset!(self, requester, flushes, locate, lanes, fences);

        // time: ticks of 8 ns
        self.cycles.d.next = self.cycles.q.val() + 1;
        let now = self.cycles.q.val().get_bits::<32>(1);
        self.now.next = now;
        self.requester.now.next = now;

        // tables
        join!(
            self,
            table_valid => locate.table_valid,
            table_write => locate.table_write,
            configure => requester.configure,
            settings => requester.settings,
            profile => requester.profile,
            values => requester.values,
            share => requester.share,
            port_config => lanes.port_config,
            peer => lanes.peer,
            address => lanes.address,
        );
        self.configured.next = self.configure.valid.val()
            & self.requester.configure.ready.val()
            & (self.configure.record.val() == ConfigureKind::Requester)
            & self.settings.requester.val().valid;
        self.configured_qp.next = self.configure.qp.val();

        // requester
        for i in 0..2 {
            join!(
                self,
                flush[i].valid => flushes.in_[i].valid,
                flush[i].qp => flushes.in_[i].data,
                flushes.in_[i].ready => flush[i].ready,
            );
        }
        join!(
            self,
            control => requester.control,
            port_up => requester.plane_up,
            doorbell => requester.doorbell,
            flushes.out.valid => requester.flush.valid,
            flushes.out.data => requester.flush.qp,
            requester.flush.ready => flushes.out.ready,
            fault => requester.fault,
            requester.xlate_req => locate.request,
            locate.response => requester.xlate_rsp,
            requester.cqe => cqe,
            requester.failure => failure,
            requester.reverse_ev => reverse_ev,
        );

        // reads of entries
        if P == 2 {
            for p in 0..P {
                join!(
                    self,
                    requester.fetch[p] => fetch[p],
                    fetched[p] => requester.fetched[p],
                );
            }
        } else {
            clock_reset!(self, merge_fetch);
            let odd = self.fetched[0].record.val().qp.get_bit(0);
            for i in 0..2 {
                join!(
                    self,
                    requester.fetch[i].valid => merge_fetch.in_[i].valid,
                    requester.fetch[i].record => merge_fetch.in_[i].data,
                    merge_fetch.in_[i].ready => requester.fetch[i].ready,
                    fetched[0].record => requester.fetched[i].record,
                );
                self.requester.fetched[i].valid.next =
                    self.fetched[0].valid.val() & to_engine(odd).get_bit(i);
            }
            join!(self, merge_fetch.out => fetch[0]);
            self.fetched[0].ready.next = of_engine(
                odd,
                self.requester.fetched[0].ready.val(),
                self.requester.fetched[1].ready.val(),
            );
        }

        // lanes
        join!(
            self,
            port_up => lanes.port_up,
            stuck_timeout => lanes.stuck_timeout,
            fences.waits => lanes.fence_waits,
            answer => lanes.answer,
            lanes.read => read,
            payload => lanes.payload,
            lanes.fault => unread,
            lanes.mac => mac,
        );
        for p in 0..P {
            join!(self, requester.tx[p] => lanes.request[p], lanes.departs[p] => requester.departs[p]);
        }
        if P == 1 {
            let stray = self.requester.tx[1].valid.val();
            assert!(!stray, "a packet for a port that is not there");
            self.requester.tx[1].ready.next = true;
            self.requester.departs[1].valid.next = false;
            self.requester.departs[1].record.next = Departure::default();
        }

        // fences. A request for a location is always accepted.
        let mut begun = bits::<BEGINS>(0);
        begun = begun.replace_bit(0, self.requester.xlate_req.valid.val());
        for i in 0..2 {
            begun = begun.replace_bit(1 + i, self.requester.uses[i].packet.val());
            begun = begun.replace_bit(3 + i, self.requester.uses[i].fetch.val());
            begun = begun.replace_bit(5 + i, self.control_begun.val().get_bit(i));
            join!(
                self,
                fences.epoch => requester.uses[i].epoch,
                requester.uses[i].dropped => fences.ended[1 + i],
                requester.uses[i].control => fences.ended[9 + i],
            );
        }
        for p in 0..P {
            join!(
                self,
                payload_ended[p] => fences.ended[3 + p],
                lanes.passed[p] => fences.ended[5 + p],
                entries_ended[p] => fences.ended[7 + p],
            );
        }
        for p in P..2 {
            self.fences.ended[3 + p].next = EpochEnd::default();
            self.fences.ended[5 + p].next = EpochEnd::default();
            self.fences.ended[7 + p].next = EpochEnd::default();
        }
        self.fences.begun.next = begun;
        let mut failures_wait = self.requester.failures_wait.val() | self.flushes.out.valid.val();
        for i in 0..2 {
            failures_wait = failures_wait | self.flush[i].valid.val();
        }
        for p in 0..P {
            failures_wait = failures_wait | self.lanes.fault[p].valid.val();
        }
        self.failures_wait.d.next = failures_wait;
        join!(self, failures_wait.q => fences.failures_wait);
        join!(
            self,
            fence => fences.fence,
            fences.done => fence_done,
            fences.receive => receive_fence,
            receive_fence_done => fences.receive_done,
            fences.epoch => locate.epoch,
            fences.epoch => epoch,
            locate.refused => fences.ended[0],
        );

        // what is counted
        join!(
            self,
            lanes.events => events,
            lanes.payload_mismatch => payload_mismatch,
            requester.event0_qp => event0_qp,
            requester.stats0 => stats0,
            requester.event1_qp => event1_qp,
            requester.stats1 => stats1,
            requester.sampled => sampled,
            requester.refused => refused,
        );
    }
}
