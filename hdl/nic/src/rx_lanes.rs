//! Two receive lanes with one core: they turn the MAC frames of two ports into memory write TLPs, outcomes and control packets.

use hdl_macros::hdl;
use hdl_pcie::DmaWrite;
use hdl_rx_pipeline::RxPort;
use rust_hdl::prelude::*;
use stellar_wire::hw::control::ControlPeer;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::hw::requester::ControlPacket;
use stellar_wire::hw::tables::TableWrite;
use stellar_wire::hw::Qpn;

use crate::drop_counters::DropCounters;
use crate::fence_join::FenceJoin;
use crate::outcome_order::OutcomeOrder;
use crate::rx_core::RxCore;
use crate::stream_merge::StreamMerge;

/// For two 200G ports: 1,024 bits each.
pub type RxLanes1024 = RxLanes<1024, 7, 128>;
/// For two 100G ports: 512 bits each.
pub type RxLanes512 = RxLanes<512, 6, 64>;

/// Two lanes, each `W` bits wide, with `B` = log2(W / 8) and `N` = W / 8; use it by its names [`RxLanes1024`] and [`RxLanes512`].
///
/// A lane consists of a port, its packet buffer and its DMA write engine. Queue pairs, regions and windows are in the common core, so a queue pair
/// receives from both ports. A lane without frames, or with a stalled DMA, does not stall the other lane, except for fences and for queue pairs that
/// use both lanes. Small frames of both ports share the rate of the core, one token per cycle.
#[derive(LogicBlock, Default)]
pub struct RxLanes<const W: usize, const B: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    /// Clears control state. Tables keep their contents.
    pub reset: Signal<In, Bit>,

    // From the MAC of each port, as in `RxLane`, without `ready`.
    pub mac0_valid: Signal<In, Bit>,
    pub mac0_data: Signal<In, Bits<W>>,
    pub mac0_bytes: Signal<In, Bits<8>>,
    pub mac0_last: Signal<In, Bit>,
    pub mac0_error: Signal<In, Bit>,
    pub mac1_valid: Signal<In, Bit>,
    pub mac1_data: Signal<In, Bits<W>>,
    pub mac1_bytes: Signal<In, Bits<8>>,
    pub mac1_last: Signal<In, Bit>,
    pub mac1_error: Signal<In, Bit>,

    /// UDP destination port of RoCEv2: 4791 unless software sets another one.
    pub udp_port: Signal<In, Bits<16>>,
    /// Maximum payload size of the PCIe links: 0 = 128 bytes to 3 = 1,024.
    pub mps_code: Signal<In, Bits<3>>,

    /// Table port: QP, MR and eMTT entries, in order with packets.
    pub table_valid: Signal<In, Bit>,
    pub table_write: Signal<In, TableWrite>,
    pub table_ready: Signal<Out, Bit>,
    /// The context of a queue pair moves to state Error, in order with packets. Later packets are dropped as `WrongState`.
    pub error_valid: Signal<In, Bit>,
    pub error_qp: Signal<In, Qpn>,
    pub error_ready: Signal<Out, Bit>,
    /// The peer from which a queue pair accepts control packets. Always accepted.
    pub peer_valid: Signal<In, Bit>,
    pub peer_qp: Signal<In, Qpn>,
    pub peer: Signal<In, ControlPeer>,
    /// Deregistration fence: `fence_done` pulses when every DMA of earlier tokens has left, in both lanes.
    pub fence_valid: Signal<In, Bit>,
    pub fence_ready: Signal<Out, Bit>,
    pub fence_done: Signal<Out, Bit>,

    /// Packets that were accepted or must be acknowledged, in order per queue pair, after their payload has left.
    pub outcome_valid: Signal<Out, Bit>,
    pub outcome: Signal<Out, RxOutcome>,
    pub outcome_ready: Signal<In, Bit>,
    /// Control packets for the requester: RC ACK, SACK, NACK, in order per port.
    pub control_valid: Signal<Out, Bit>,
    pub control: Signal<Out, ControlPacket>,
    pub control_ready: Signal<In, Bit>,

    // Memory writes of each lane: the header is parallel to the payload.
    pub tlp0_valid: Signal<Out, Bit>,
    pub tlp0_ready: Signal<In, Bit>,
    pub tlp0_data: Signal<Out, Bits<W>>,
    pub tlp0_header: Signal<Out, WriteTlpHeader>,
    pub tlp0_first: Signal<Out, Bit>,
    pub tlp0_last: Signal<Out, Bit>,
    pub tlp1_valid: Signal<Out, Bit>,
    pub tlp1_ready: Signal<In, Bit>,
    pub tlp1_data: Signal<Out, Bits<W>>,
    pub tlp1_header: Signal<Out, WriteTlpHeader>,
    pub tlp1_first: Signal<Out, Bit>,
    pub tlp1_last: Signal<Out, Bit>,

    /// The result of each frame.
    pub verdict_valid: Signal<Out, Bit>,
    pub verdict_reason: Signal<Out, DropReason>,

    /// A packet needed a page of an on-demand region that has no translation.
    pub fault_valid: Signal<Out, Bit>,
    /// Index of the region.
    pub fault_region: Signal<Out, Bits<24>>,
    /// Address of the first byte of the packet.
    pub fault_va: Signal<Out, Bits<64>>,
    pub fault_ready: Signal<In, Bit>,
    /// Counter read port, with a latency of one cycle.
    pub counter_select: Signal<In, Bits<6>>,
    pub counter_value: Signal<Out, Bits<48>>,

    port0: RxPort<W>,
    port1: RxPort<W>,
    core: RxCore,
    dma0: DmaWrite<W, B, N>,
    dma1: DmaWrite<W, B, N>,
    outcomes: OutcomeOrder,
    fences: FenceJoin,
    control_merge: StreamMerge<ControlPacket>,
    counters: DropCounters,
}

impl<const W: usize, const B: usize, const N: usize> Logic for RxLanes<W, B, N> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, port0, port1, dma0, dma1);
        clock!(self, clock, core, outcomes, fences, control_merge, counters);
        self.port0.reset.next = self.reset.val();
        self.port1.reset.next = self.reset.val();
        self.dma0.reset.next = self.reset.val();
        self.dma1.reset.next = self.reset.val();
        self.core.reset.next = self.reset.val();
        self.outcomes.reset.next = self.reset.val();
        self.fences.reset.next = self.reset.val();
        self.control_merge.reset.next = self.reset.val();
        self.counters.reset.next = self.reset.val();

        self.port0.mac_valid.next = self.mac0_valid.val();
        self.port0.mac_data.next = self.mac0_data.val();
        self.port0.mac_bytes.next = self.mac0_bytes.val();
        self.port0.mac_last.next = self.mac0_last.val();
        self.port0.mac_error.next = self.mac0_error.val();
        self.port0.udp_port.next = self.udp_port.val();
        self.port0.port.next = false;
        self.port0.peer_valid.next = self.peer_valid.val();
        self.port0.peer_qp.next = self.peer_qp.val();
        self.port0.peer.next = self.peer.val();
        self.control_merge.in0_valid.next = self.port0.control_valid.val();
        self.control_merge.in0_data.next = self.port0.control.val();
        self.port0.control_ready.next = self.control_merge.in0_ready.val();

        self.core.frame0_valid.next = self.port0.out_valid.val();
        self.core.frame0_token.next = self.port0.out_token.val();
        self.port0.out_ready.next = self.core.frame0_ready.val();
        self.dma0.mps_code.next = self.mps_code.val();
        self.dma0.command_valid.next = self.core.command0_valid.val();
        self.dma0.command.next = self.core.command0.val();
        self.core.command0_ready.next = self.dma0.command_ready.val();
        self.port0.read_beat.next = self.dma0.read_beat.val();
        self.dma0.read_low.next = self.port0.read_low.val();
        self.dma0.read_high.next = self.port0.read_high.val();
        self.port0.free_valid.next = self.dma0.free_valid.val();
        self.port0.free_beats.next = self.dma0.free_beats.val();
        self.fences.passed0.next = self.dma0.fence_done.val();
        self.outcomes.sent0.next = self.dma0.placed.val();
        self.core.outcome0_room.next = self.outcomes.room0.val();
        self.tlp0_valid.next = self.dma0.tlp_valid.val();
        self.tlp0_data.next = self.dma0.tlp_data.val();
        self.tlp0_header.next = self.dma0.tlp_header.val();
        self.tlp0_first.next = self.dma0.tlp_first.val();
        self.tlp0_last.next = self.dma0.tlp_last.val();
        self.dma0.tlp_ready.next = self.tlp0_ready.val();

        self.port1.mac_valid.next = self.mac1_valid.val();
        self.port1.mac_data.next = self.mac1_data.val();
        self.port1.mac_bytes.next = self.mac1_bytes.val();
        self.port1.mac_last.next = self.mac1_last.val();
        self.port1.mac_error.next = self.mac1_error.val();
        self.port1.udp_port.next = self.udp_port.val();
        self.port1.port.next = true;
        self.port1.peer_valid.next = self.peer_valid.val();
        self.port1.peer_qp.next = self.peer_qp.val();
        self.port1.peer.next = self.peer.val();
        self.control_merge.in1_valid.next = self.port1.control_valid.val();
        self.control_merge.in1_data.next = self.port1.control.val();
        self.port1.control_ready.next = self.control_merge.in1_ready.val();

        self.core.frame1_valid.next = self.port1.out_valid.val();
        self.core.frame1_token.next = self.port1.out_token.val();
        self.port1.out_ready.next = self.core.frame1_ready.val();
        self.dma1.mps_code.next = self.mps_code.val();
        self.dma1.command_valid.next = self.core.command1_valid.val();
        self.dma1.command.next = self.core.command1.val();
        self.core.command1_ready.next = self.dma1.command_ready.val();
        self.port1.read_beat.next = self.dma1.read_beat.val();
        self.dma1.read_low.next = self.port1.read_low.val();
        self.dma1.read_high.next = self.port1.read_high.val();
        self.port1.free_valid.next = self.dma1.free_valid.val();
        self.port1.free_beats.next = self.dma1.free_beats.val();
        self.fences.passed1.next = self.dma1.fence_done.val();
        self.outcomes.sent1.next = self.dma1.placed.val();
        self.core.outcome1_room.next = self.outcomes.room1.val();
        self.tlp1_valid.next = self.dma1.tlp_valid.val();
        self.tlp1_data.next = self.dma1.tlp_data.val();
        self.tlp1_header.next = self.dma1.tlp_header.val();
        self.tlp1_first.next = self.dma1.tlp_first.val();
        self.tlp1_last.next = self.dma1.tlp_last.val();
        self.dma1.tlp_ready.next = self.tlp1_ready.val();

        self.core.table_valid.next = self.table_valid.val();
        self.core.table_write.next = self.table_write.val();
        self.table_ready.next = self.core.table_ready.val();
        self.core.error_valid.next = self.error_valid.val();
        self.core.error_qp.next = self.error_qp.val();
        self.error_ready.next = self.core.error_ready.val();
        self.core.fence_valid.next = self.fence_valid.val();
        self.fence_ready.next = self.core.fence_ready.val();
        self.fence_done.next = self.fences.done.val();

        self.outcomes.in_valid.next = self.core.outcome_valid.val();
        self.outcomes.in_outcome.next = self.core.outcome.val();
        self.outcomes.in_placed.next = self.core.outcome_placed.val();
        self.outcome_valid.next = self.outcomes.out_valid.val();
        self.outcome.next = self.outcomes.outcome.val();
        self.outcomes.out_ready.next = self.outcome_ready.val();
        self.control_valid.next = self.control_merge.out_valid.val();
        self.control.next = self.control_merge.out_data.val();
        self.control_merge.out_ready.next = self.control_ready.val();

        self.verdict_valid.next = self.core.verdict_valid.val();
        self.verdict_reason.next = self.core.verdict_reason.val();
        self.fault_valid.next = self.core.fault_valid.val();
        self.fault_region.next = self.core.fault_region.val();
        self.fault_va.next = self.core.fault_va.val();
        self.core.fault_ready.next = self.fault_ready.val();
        self.counters.counted.next = self.core.verdict_valid.val();
        self.counters.reason.next = self.core.verdict_reason.val();
        self.counters.select.next = self.counter_select.val();
        self.counter_value.next = self.counters.value.val();
    }
}
