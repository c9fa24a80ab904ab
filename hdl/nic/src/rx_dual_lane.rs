//! Two receive lanes with one core: they turn the MAC frames of two ports into memory write TLPs, outcomes and control packets.

use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::DmaWrite;
use hdl_primitives::{
    FenceSnk, FlowSrc, MacRxSnk, PageFaultSrc, PlacementSnk, QpRowFlowSnk, QpSnk, Src,
    TableWriteSnk, TlpSrc, VerdictSrc,
};
use hdl_rx_pipeline::{OwnAddress, RxPort};
use rust_hdl::prelude::*;
use stellar_wire::hw::control::ControlPeer;
use stellar_wire::hw::receive::{ReceiveCount, RxOutcome};
use stellar_wire::hw::requester::ControlPacket;

use crate::ack_order_queue::AckOrderQueue;
use crate::drop_counters::DropCounters;
use crate::fence_barrier::FenceBarrier;
use crate::rx_core::RxCore;
use crate::stream_merge::StreamMerge;

/// For two 200G ports: 1,024 bits each.
pub type RxDualLane1024 = RxDualLane<1024, 7, 128>;
/// For two 100G ports: 512 bits each.
pub type RxDualLane512 = RxDualLane<512, 6, 64>;

/// Two lanes, each `W` bits wide, with `B` = log2(W / 8) and `N` = W / 8; use it by its names [`RxDualLane1024`] and [`RxDualLane512`].
///
/// A lane consists of a port, its packet buffer and its DMA write engine. Queue pairs, regions and windows are in the common core, so a queue pair
/// receives from both ports. A lane without frames, or with a stalled DMA, does not stall the other lane, except for fences and for queue pairs that
/// use both lanes. Small frames of both ports share the rate of the core, one token per cycle.
#[derive(LogicBlock, Default)]
pub struct RxDualLane<const W: usize, const B: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    /// Clears control state. Tables keep their contents.
    pub reset: Signal<In, Bit>,

    /// From the MAC of each port.
    pub mac: [MacRxSnk<W>; 2],

    /// UDP destination port of RoCEv2: 4791 unless software sets another one.
    pub udp_port: Signal<In, Bits<16>>,
    /// Address of each port.
    pub own: [Signal<In, OwnAddress>; 2],
    /// Maximum payload size of the PCIe links: 0 = 128 bytes to 3 = 1,024.
    pub mps_code: Signal<In, Bits<3>>,

    /// Table port: QP, MR and eMTT entries, in order with packets.
    pub table: TableWriteSnk,
    /// The context of a queue pair moves to state Error, in order with packets. Later packets are dropped as `WrongState`.
    pub error: QpSnk,
    /// The peer from which a queue pair accepts control packets.
    pub peer: QpRowFlowSnk<ControlPeer>,
    /// Deregistration fence: `fence_done` pulses when the payloads of earlier tokens have reached memory, in both lanes.
    pub fence: FenceSnk,
    pub fence_done: Signal<Out, Bit>,

    /// Packets that were accepted or must be acknowledged, in order per queue pair. What they report comes behind their payload, whatever its path.
    pub outcome: Src<RxOutcome>,
    /// Control packets for the requester: RC ACK, SACK, NACK, in order per port.
    pub control: Src<ControlPacket>,

    /// Memory writes of each lane.
    pub tlp: [TlpSrc<W>; 2],
    /// What each endpoint knows about the payloads.
    pub placement: [PlacementSnk; 2],

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

    port: [RxPort<W>; 2],
    core: RxCore,
    dma: [DmaWrite<W, B, N>; 2],
    outcomes: AckOrderQueue,
    fences: FenceBarrier,
    control_merge: StreamMerge<ControlPacket>,
    counters: DropCounters,
}

impl<const W: usize, const B: usize, const N: usize> Logic for RxDualLane<W, B, N> {
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

        for i in 0..2 {
            self.port[i].port.next = i == 1;
            join!(
                self,
                mac[i] => port[i].mac,
                udp_port => port[i].udp_port,
                own[i] => port[i].own,
                peer => port[i].peer,
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
            );
        }
        join!(
            self,
            placement[0].fence_done => fences.passed0,
            placement[1].fence_done => fences.passed1,
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

            port[0].control => control_merge.in_[0],
            port[1].control => control_merge.in_[1],
            control_merge.out => control,

            core.verdict => verdict,
            core.verdict.valid => counters.counted,
            core.verdict.reason => counters.reason,
            counter_select => counters.select,
            counters.value => counter_value,
        );
    }
}
