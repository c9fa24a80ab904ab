//! Receive lanes with one core: they turn the MAC frames of one or two ports into memory write TLPs, outcomes and control packets.

use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::DmaWrite;
use hdl_primitives::{
    AddressFlowSnk, Checked, FenceSnk, FlowSrc, MacRxSnk, PageFaultSrc, Parameters, PlacementSnk,
    QpRowFlowSnk, QpSnk, Src, TableWriteSnk, TlpSrc, VerdictSrc,
};
use hdl_rx_pipeline::{OwnAddress, RxPort};
use rust_hdl::prelude::*;
use stellar_wire::config::{RECEIVE_RING, RECEIVE_RING_BITS};
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::dma::FlushedBatch;
use stellar_wire::hw::receive::{ReceiveCount, RxOutcome};
use stellar_wire::hw::requester::ControlPacket;

use crate::ack_order_queue::AckOrderQueue;
use crate::drop_counters::DropCounters;
use crate::fence_barrier::FenceBarrier;
use crate::rx_core::RxCore;
use crate::stream_merge::StreamMerge;
use crate::table_bits::EMTT_BANK_BITS;

/// For two 200G ports: 1,024 bits each.
pub type RxDualLane1024 = RxLanes<2, 1024, 7, 128>;
/// For two 100G ports: 512 bits each.
pub type RxDualLane512 = RxLanes<2, 512, 6, 64>;
/// For one 100G port: 512 bits.
pub type RxSingleLane512 = RxLanes<1, 512, 6, 64>;

/// `P` lanes, one or two, each `W` bits wide, with `B` = log2(W / 8) and `N` = W / 8; `Q`, `RW`, `RB`, `RN`, `R` and `EB` are those of [`RxCore`]. Use it by its names, such as [`RxDualLane1024`].
///
/// A lane consists of a port, its packet buffer and its DMA write engine. Queue pairs, regions and windows are in the common core, so a queue pair
/// receives from both ports. A lane without frames, or with a stalled DMA, does not stall the other lane, except for fences and for queue pairs that
/// use both lanes. Small frames of both ports share the rate of the core, one token per cycle. The core and the blocks behind it are those of two lanes; with one
/// lane, nothing comes from the second, and synthesis removes what is for it.
#[derive(LogicBlock)]
pub struct RxLanes<
    const P: usize,
    const W: usize,
    const B: usize,
    const N: usize,
    const Q: usize = 10,
    const RW: usize = { RECEIVE_RING_BITS - 1 },
    const RB: usize = RECEIVE_RING_BITS,
    const RN: usize = RECEIVE_RING,
    const R: usize = { 10 + RECEIVE_RING_BITS },
    const EB: usize = EMTT_BANK_BITS,
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Clears control state. Tables keep their contents.
    pub reset: Signal<In, Bit>,

    /// From the MAC of each port.
    pub mac: [MacRxSnk<W>; P],

    /// UDP destination port of RoCEv2: 4791 unless software sets another one.
    pub udp_port: Signal<In, Bits<16>>,
    /// Address of each port.
    pub own: [Signal<In, OwnAddress>; P],
    /// Maximum payload size of the PCIe links: 0 = 128 bytes to 3 = 1,024.
    pub mps_code: Signal<In, Bits<3>>,

    /// Table port: QP, MR and eMTT entries, in order with packets.
    pub table: TableWriteSnk,
    /// The context of a queue pair moves to state Error, in order with packets. Later packets are dropped as `WrongState`.
    pub error: QpSnk,
    /// The peer from which a queue pair accepts packets, and the addresses of the ports of its host.
    pub peer: QpRowFlowSnk<QpPeer>,
    pub address: [AddressFlowSnk; P],
    /// Deregistration fence: `fence_done` pulses when the payloads of earlier tokens have reached memory, in both lanes.
    pub fence: FenceSnk,
    pub fence_done: Signal<Out, Bit>,

    /// Packets that were accepted or must be acknowledged, in order per queue pair. What they report comes behind their payload, whatever its path.
    pub outcome: Src<RxOutcome>,
    /// Control packets for the requester: RC ACK, SACK, NACK, in order per port.
    pub control: Src<ControlPacket>,
    /// Bit i: lane i queues one in this cycle. The current epoch, to which it belongs.
    pub control_begun: Signal<Out, Bits<2>>,
    pub epoch: Signal<In, Bit>,

    /// Memory writes of each lane.
    pub tlp: [TlpSrc<W>; P],
    /// What each endpoint knows about the payloads.
    pub placement: [PlacementSnk; P],

    /// The result of each packet.
    pub verdict: VerdictSrc,

    /// What is counted for a queue pair, before the outcome leaves.
    pub qp_count: FlowSrc<ReceiveCount>,
    /// The core takes no packets while this is high.
    pub pause: Signal<In, Bit>,

    /// A packet needed a page of an on-demand region that has no translation.
    pub fault: PageFaultSrc,
    /// Counter read port, with a latency of one cycle.
    pub counter_select: Signal<In, Bits<6>>,
    pub counter_value: Signal<Out, Bits<48>>,

    port: [RxPort<W, 8, Q>; P],
    core: RxCore<Q, RW, RB, RN, R, EB>,
    dma: [DmaWrite<W, B, N>; P],
    outcomes: AckOrderQueue<Q>,
    fences: FenceBarrier,
    control_merge: StreamMerge<ControlPacket>,
    counters: DropCounters,
}

impl<
        const P: usize,
        const W: usize,
        const B: usize,
        const N: usize,
        const Q: usize,
        const RW: usize,
        const RB: usize,
        const RN: usize,
        const R: usize,
        const EB: usize,
    > Parameters for RxLanes<P, W, B, N, Q, RW, RB, RN, R, EB>
{
    fn check() {
        assert!(
            P == 1 || P == 2,
            "RxLanes<{P}, ...>: the core has the tokens of two lanes, use 1 or 2"
        );
    }
}

impl<
        const P: usize,
        const W: usize,
        const B: usize,
        const N: usize,
        const Q: usize,
        const RW: usize,
        const RB: usize,
        const RN: usize,
        const R: usize,
        const EB: usize,
    > Default for RxLanes<P, W, B, N, Q, RW, RB, RN, R, EB>
{
    fn default() -> Self {
        Self {
            _parameters: Default::default(),
            clock: Default::default(),
            reset: Default::default(),
            mac: std::array::from_fn(|_| Default::default()),
            udp_port: Default::default(),
            own: std::array::from_fn(|_| Default::default()),
            mps_code: Default::default(),
            table: Default::default(),
            error: Default::default(),
            peer: Default::default(),
            address: std::array::from_fn(|_| Default::default()),
            fence: Default::default(),
            fence_done: Default::default(),
            outcome: Default::default(),
            control: Default::default(),
            control_begun: Default::default(),
            epoch: Default::default(),
            tlp: std::array::from_fn(|_| Default::default()),
            placement: std::array::from_fn(|_| Default::default()),
            verdict: Default::default(),
            qp_count: Default::default(),
            pause: Default::default(),
            fault: Default::default(),
            counter_select: Default::default(),
            counter_value: Default::default(),
            port: std::array::from_fn(|_| Default::default()),
            core: Default::default(),
            dma: std::array::from_fn(|_| Default::default()),
            outcomes: Default::default(),
            fences: Default::default(),
            control_merge: Default::default(),
            counters: Default::default(),
        }
    }
}

impl<
        const P: usize,
        const W: usize,
        const B: usize,
        const N: usize,
        const Q: usize,
        const RW: usize,
        const RB: usize,
        const RN: usize,
        const R: usize,
        const EB: usize,
    > Logic for RxLanes<P, W, B, N, Q, RW, RB, RN, R, EB>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(
            self,
            port[..],
            core,
            dma[..],
            outcomes,
            fences,
            control_merge,
            counters
        );

        let mut control_begun = bits::<2>(0);
        for i in 0..P {
            self.port[i].port.next = i == 1;
            join!(
                self,
                mac[i] => port[i].mac,
                udp_port => port[i].udp_port,
                own[i] => port[i].own,
                peer => port[i].peer,
                address[0] => port[i].address[0],
                address[P - 1] => port[i].address[1],
                port[i].out => core.frame[i],
                core.command[i] => dma[i].command,
                mps_code => dma[i].mps_code,
                dma[i].read => port[i].read,
                dma[i].free => port[i].free,
                dma[i].tlp => tlp[i],
                dma[i].placed => placement[i].placed,
                dma[i].fence_done => placement[i].fence,
                placement[i].sent => outcomes.sent[i],
                placement[i].flushed_valid => outcomes.flushed[i].valid,
                placement[i].flushed => outcomes.flushed[i].record,
                outcomes.flushed[i].ready => placement[i].flushed_ready,
                port[i].control => control_merge.in_[i],
                epoch => port[i].epoch,
            );
            control_begun = control_begun.replace_bit(i, self.port[i].control_begun.val());
        }
        self.control_begun.next = control_begun;
        self.fences.passed0.next = self.placement[0].fence_done.val();
        // With one lane, both have always passed the same fences.
        self.fences.passed1.next = self.placement[P - 1].fence_done.val();
        if P == 1 {
            self.core.frame[1].valid.next = false;
            self.core.frame[1].token.next = CoreToken::default();
            // A fence is a place command of both lanes.
            self.core.command[1].ready.next = true;
            self.outcomes.sent[1].next = false;
            self.outcomes.flushed[1].valid.next = false;
            self.outcomes.flushed[1].record.next = FlushedBatch::default();
            self.control_merge.in_[1].valid.next = false;
            self.control_merge.in_[1].data.next = ControlPacket::default();
        }
        join!(
            self,
            fences.done => fence_done,

            table => core.table,
            error => core.error,
            fence => core.fence,
            core.fault => fault,
            core.qp_count => qp_count,
            pause => core.pause,

            core.outcome.valid => outcomes.in_valid,
            core.outcome.record => outcomes.in_outcome,
            core.outcome_placed => outcomes.in_placed,
            core.outcome_flush => outcomes.in_flush,
            outcomes.room0 => core.outcome0_room,
            outcomes.room1 => core.outcome1_room,
            outcomes.out_valid => outcome.valid,
            outcomes.outcome => outcome.record,
            outcome.ready => outcomes.out_ready,

            control_merge.out => control,

            core.verdict => verdict,
            core.verdict.valid => counters.counted,
            core.verdict.reason => counters.reason,
            counter_select => counters.select,
            counters.value => counter_value,
        );
    }
}
