//! One receive lane: it turns MAC frames into memory write TLPs and acknowledgement requests.

use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::DmaWrite;
use hdl_primitives::{FenceSnk, MacRxSnk, SyncFifo, TableWriteSnk, TlpSrc, VerdictSrc};
use hdl_rx_pipeline::control_check::ControlCheckResult;
use hdl_rx_pipeline::{OwnAddress, RxFront};
use rust_hdl::prelude::*;
use stellar_wire::hw::ack::AckRequest;
use stellar_wire::hw::core::CoreToken;

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

    pub mac: MacRxSnk<W>,

    /// UDP destination port of RoCEv2: 4791 unless software sets another one.
    pub udp_port: Signal<In, Bits<16>>,
    /// Maximum payload size of the PCIe link: 0 = 128 bytes to 3 = 1,024.
    pub mps_code: Signal<In, Bits<3>>,

    /// Table port: QP, MR and eMTT entries, in order with packets.
    pub table: TableWriteSnk,
    /// Deregistration fence: `fence_done` pulses when every DMA of earlier tokens has left.
    pub fence: FenceSnk,
    pub fence_done: Signal<Out, Bit>,

    /// Acknowledgement requests, to the transmit side.
    pub ack_valid: Signal<Out, Bit>,
    pub ack_request: Signal<Out, AckRequest>,
    pub ack_ready: Signal<In, Bit>,

    /// Memory writes.
    pub tlp: TlpSrc<W>,

    /// The result of each packet.
    pub verdict: VerdictSrc,
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
        clock_reset!(self, front, core, dma, ack_fifo, counters);

        join!(
            self,
            mac => front.mac,
            udp_port => front.udp_port,
            front.out => core.frame[0],
            table => core.table,
            fence => core.fence,

            core.command[0] => dma.command,
            mps_code => dma.mps_code,
            dma.read => front.read,
            dma.free => front.free,
            dma.fence_done => fence_done,
            dma.tlp => tlp,

            ack_fifo.out.valid => ack_valid,
            ack_fifo.out.data => ack_request,
            ack_ready => ack_fifo.out.ready,

            core.verdict => verdict,
            core.verdict.valid => counters.counted,
            core.verdict.reason => counters.reason,
            counter_select => counters.select,
            counters.value => counter_value,
        );

        // Nothing counts for queue pairs.
        self.core.pause.next = false;
        // There is no address, no control path, no second lane, no source of errors and no event queue for page faults.
        self.front.own.next = OwnAddress::default();
        self.front.in_finding.next = ControlCheckResult::default();
        self.front.control_room.next = false;
        self.core.frame[1].valid.next = false;
        self.core.frame[1].token.next = CoreToken::default();
        self.core.command[1].ready.next = true;
        self.core.error.valid.next = false;
        self.core.error.qp.next = bits(0);
        self.core.fault.ready.next = true;

        let outcome = self.core.outcome.record.val();
        let ack_room = self.ack_fifo.count.val() < ISSUE_LIMIT;
        self.core.outcome0_room.next = ack_room;
        self.core.outcome1_room.next = ack_room;
        self.ack_fifo.in_.valid.next = self.core.outcome.valid.val() & outcome.ack_valid;
        self.ack_fifo.in_.data.next = outcome.ack;
    }
}
