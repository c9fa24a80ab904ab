//! One receive lane: it turns MAC frames into memory write TLPs and acknowledgement requests.

use hdl_macros::hdl;
use hdl_pcie::DmaWrite;
use hdl_primitives::SyncFifo;
use hdl_rx_pipeline::control_check::ControlCheckResult;
use hdl_rx_pipeline::RxFront;
use rust_hdl::prelude::*;
use stellar_wire::hw::ack::AckRequest;
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::TableWrite;

use crate::drop_counters::DropCounters;
use crate::rx_core::{RxCore, ISSUE_LIMIT};

/// The lane for a 200G port: 1,024 bits.
pub type RxLane1024 = RxLane<1024, 7, 128>;
/// The lane for 100G boards: 512 bits.
pub type RxLane512 = RxLane<512, 6, 64>;

/// A lane with its own core. The second lane of the core is tied off, and there is no control path.
///
/// `W` bits wide, with `B` = log2(W / 8) and `N` = W / 8; use it by its names [`RxLane1024`] and [`RxLane512`].
#[derive(LogicBlock, Default)]
pub struct RxLane<const W: usize, const B: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    /// Clears control state. Tables keep their contents.
    pub reset: Signal<In, Bit>,

    /// From the MAC. There is no `ready`, because a MAC cannot be stalled.
    pub mac_valid: Signal<In, Bit>,
    pub mac_data: Signal<In, Bits<W>>,
    /// Valid bytes of this beat; less than a full beat only with `mac_last`.
    pub mac_bytes: Signal<In, Bits<8>>,
    pub mac_last: Signal<In, Bit>,
    /// With `mac_last`: the MAC reports an error of the frame.
    pub mac_error: Signal<In, Bit>,

    /// UDP destination port of RoCEv2: 4791 unless software sets another one.
    pub udp_port: Signal<In, Bits<16>>,
    /// Maximum payload size of the PCIe link: 0 = 128 bytes to 3 = 1,024.
    pub mps_code: Signal<In, Bits<3>>,

    /// Table port: QP, MR and eMTT entries, in order with packets.
    pub table_valid: Signal<In, Bit>,
    pub table_write: Signal<In, TableWrite>,
    pub table_ready: Signal<Out, Bit>,
    /// Deregistration fence: `fence_done` pulses when every DMA of earlier tokens has left.
    pub fence_valid: Signal<In, Bit>,
    pub fence_ready: Signal<Out, Bit>,
    pub fence_done: Signal<Out, Bit>,

    /// Acknowledgement requests, to the transmit side.
    pub ack_valid: Signal<Out, Bit>,
    pub ack_request: Signal<Out, AckRequest>,
    pub ack_ready: Signal<In, Bit>,

    /// Memory writes: the header is parallel to the payload.
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_data: Signal<Out, Bits<W>>,
    pub tlp_header: Signal<Out, WriteTlpHeader>,
    pub tlp_first: Signal<Out, Bit>,
    pub tlp_last: Signal<Out, Bit>,

    /// The result of each packet.
    pub verdict_valid: Signal<Out, Bit>,
    pub verdict_reason: Signal<Out, DropReason>,
    /// Counter read port, with a latency of one cycle.
    pub counter_select: Signal<In, Bits<6>>,
    pub counter_value: Signal<Out, Bits<48>>,

    front: RxFront<W>,
    core: RxCore,
    dma: DmaWrite<W, B, N>,
    ack_fifo: SyncFifo<AckRequest, 6, 7>,
    counters: DropCounters,
}

impl<const W: usize, const B: usize, const N: usize> Logic for RxLane<W, B, N> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, front, core, dma, ack_fifo, counters);
        self.front.reset.next = self.reset.val();
        self.core.reset.next = self.reset.val();
        self.dma.reset.next = self.reset.val();
        self.ack_fifo.reset.next = self.reset.val();
        self.counters.reset.next = self.reset.val();

        self.front.mac_valid.next = self.mac_valid.val();
        self.front.mac_data.next = self.mac_data.val();
        self.front.mac_bytes.next = self.mac_bytes.val();
        self.front.mac_last.next = self.mac_last.val();
        self.front.mac_error.next = self.mac_error.val();
        self.front.udp_port.next = self.udp_port.val();

        self.front.in_finding.next = ControlCheckResult::default();
        self.front.control_room.next = false;

        self.core.frame0_valid.next = self.front.out_valid.val();
        self.core.frame0_token.next = self.front.out_token.val();
        self.front.out_ready.next = self.core.frame0_ready.val();
        self.core.frame1_valid.next = false;
        self.core.frame1_token.next = CoreToken::default();
        self.core.command1_ready.next = true;
        self.core.error_valid.next = false;
        self.core.error_qp.next = bits(0);
        self.core.table_valid.next = self.table_valid.val();
        self.core.table_write.next = self.table_write.val();
        self.table_ready.next = self.core.table_ready.val();
        self.core.fence_valid.next = self.fence_valid.val();
        self.fence_ready.next = self.core.fence_ready.val();

        self.dma.mps_code.next = self.mps_code.val();
        self.dma.command_valid.next = self.core.command0_valid.val();
        self.dma.command.next = self.core.command0.val();
        self.core.command0_ready.next = self.dma.command_ready.val();
        self.front.read_beat.next = self.dma.read_beat.val();
        self.dma.read_low.next = self.front.read_low.val();
        self.dma.read_high.next = self.front.read_high.val();
        self.front.free_valid.next = self.dma.free_valid.val();
        self.front.free_beats.next = self.dma.free_beats.val();
        self.fence_done.next = self.dma.fence_done.val();

        self.tlp_valid.next = self.dma.tlp_valid.val();
        self.tlp_data.next = self.dma.tlp_data.val();
        self.tlp_header.next = self.dma.tlp_header.val();
        self.tlp_first.next = self.dma.tlp_first.val();
        self.tlp_last.next = self.dma.tlp_last.val();
        self.dma.tlp_ready.next = self.tlp_ready.val();

        let outcome = self.core.outcome.val();
        let ack_room = self.ack_fifo.count.val() < ISSUE_LIMIT;
        self.core.outcome0_room.next = ack_room;
        self.core.outcome1_room.next = ack_room;
        self.ack_fifo.in_valid.next = self.core.outcome_valid.val() & outcome.ack_valid;
        self.ack_fifo.in_data.next = outcome.ack;
        self.ack_valid.next = self.ack_fifo.out_valid.val();
        self.ack_request.next = self.ack_fifo.out_data.val();
        self.ack_fifo.out_ready.next = self.ack_ready.val();

        self.verdict_valid.next = self.core.verdict_valid.val();
        self.verdict_reason.next = self.core.verdict_reason.val();
        // A lane has no event queue: page faults are not reported.
        self.core.fault_ready.next = true;
        self.counters.counted.next = self.core.verdict_valid.val();
        self.counters.reason.next = self.core.verdict_reason.val();
        self.counters.select.next = self.counter_select.val();
        self.counter_value.next = self.counters.value.val();
    }
}
