//! One PCIe endpoint of the card.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_pcie::ats::InvalidateResponder;
use hdl_pcie::bundles::{AxisSnk, AxisSrc, CqLookSnk};
use hdl_pcie::flush::WriteFlush;
use hdl_pcie::requester::message_gate::{INSIDE_BITS, LEFT_BITS};
use hdl_pcie::requester::{CompletionStream, LinkGuard, MessageGate, RequestStream};
use hdl_primitives::{FlowSrc, OfferSnk, PlacementSrc, ReadDataSrc, Snk, Src, TlpSnk};
use rust_hdl::prelude::*;
use stellar_wire::host::counters::PORT_BIT;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::read::{FailedRead, ReadCommand};

use crate::host_reader::HostReader;
use crate::port_counters::PortCounters;
use crate::tx_lanes::TxEvents;

/// The card as a requester at AMD's PCIe block: reads of payload and of queue entries, writes, and the flush reads that tell when writes are in memory.
/// It completes the host's invalidations, and has the counters of the port.
///
/// The parameters are those of its blocks: `W`, `B`, `N`, `S`, `G`, `A`, `EA` of [`HostReader`]; `L`, `K`, `C`, `D` and `RQ` of [`RequestStream`] (slots, double
/// words, bits of a run, bits of two beats, bits of `tuser`); `H` and `RC` of [`CompletionStream`] (slots, bits of `tuser`).
#[derive(LogicBlock, Default)]
pub struct PcieEndpoint<
    const W: usize,
    const B: usize,
    const N: usize,
    const K: usize,
    const L: usize,
    const C: usize,
    const D: usize,
    const H: usize,
    const RQ: usize,
    const RC: usize,
    const S: usize,
    const G: usize,
    const A: usize,
    const EA: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // AMD's PCIe block, with straddle (1,024 bits: PG346; 512 bits: PG213).
    pub rq: AxisSrc<W, K, RQ>,
    pub rc: AxisSnk<W, K, RC>,
    /// The link is down (`cfg_phy_link_down`).
    pub link_down: Signal<In, Bit>,
    /// The host's requests, for messages of ATS.
    pub cq: CqLookSnk,

    // Configuration: see `DmaRead`.
    pub mrrs_code: Signal<In, Bits<3>>,
    pub read_timeout: Signal<In, Bits<31>>,

    // Reads of queue entries and of payload.
    pub fetch: OfferSnk<WqeFetch>,
    pub fetched: Src<WqeFetched>,
    pub fetch_fault: Src<FailedRead>,
    pub read: Snk<ReadCommand>,
    pub payload: ReadDataSrc<W>,
    /// A read is complete, of queue entries and of payload.
    pub entries_ended: Signal<Out, EpochEnd>,
    pub payload_ended: Signal<Out, EpochEnd>,

    // Writes, and how many of them are in memory.
    pub write: TlpSnk<W>,
    pub placement: PlacementSrc,
    pub flush_fault: Src<FailedRead>,
    // Interrupt messages: see `MessageGate`.
    pub message_permits: Signal<In, Bits<64>>,
    pub message_returned: FlowSrc<Bits<6>>,
    pub messages: Signal<Out, Bits<INSIDE_BITS>>,
    pub messages_left: Signal<Out, Bits<LEFT_BITS>>,
    /// The host's queues have a write on its way to `write`.
    pub queue_accepted: Signal<In, Bit>,

    // Counters.
    pub transmit: Signal<In, TxEvents>,
    /// A request of the host was refused, or came damaged.
    pub request_refused: Signal<In, Bit>,
    pub request_damaged: Signal<In, Bit>,
    /// A received frame was dropped or cut in front of the port.
    pub receive_overrun: Signal<In, Bit>,
    pub counter_select: Signal<In, Bits<PORT_BIT>>,
    /// The counter selected in the cycle before.
    pub counter_value: Signal<Out, Bits<48>>,

    reader: HostReader<W, B, N, S, G, A, EA>,
    flush: WriteFlush<W>,
    guard: LinkGuard<W>,
    gate: MessageGate,
    requests: RequestStream<W, L, K, C, D, RQ>,
    completions: CompletionStream<W, D, H, K, RC>,
    invalidations: InvalidateResponder,
    counters: PortCounters,
}

impl<
        const W: usize,
        const B: usize,
        const N: usize,
        const K: usize,
        const L: usize,
        const C: usize,
        const D: usize,
        const H: usize,
        const RQ: usize,
        const RC: usize,
        const S: usize,
        const G: usize,
        const A: usize,
        const EA: usize,
    > Logic for PcieEndpoint<W, B, N, K, L, C, D, H, RQ, RC, S, G, A, EA>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, reader, flush, guard, invalidations, counters);
        clock!(self, clock, requests, completions, gate);
        let discards = self.guard.discards.val();
        self.requests.reset.next = self.reset.val() | discards;
        self.gate.reset.next = self.reset.val() | discards;
        self.completions.reset.next = self.reset.val() | discards;
        self.requests.link_down.next = discards;
        join!(
            self,
            mrrs_code => reader.mrrs_code,
            read_timeout => reader.timeout,
            read_timeout => flush.timeout,
            fetch => reader.fetch,
            reader.fetched => fetched,
            reader.fault => fetch_fault,
            read => reader.read,
            reader.payload => payload,
            reader.entries_ended => entries_ended,
            reader.payload_ended => payload_ended,
            reader.request => flush.read,
            write => flush.write,
            flush.placement => placement,
            flush.fault => flush_fault,
            queue_accepted => flush.queue_accepted,
            link_down => guard.link_down,
            flush.tlp => guard.write,
            flush.request => guard.read,
            guard.tlp => requests.write,
            guard.tlp.valid => gate.valid,
            guard.tlp.header => gate.header,
            requests.write.ready => gate.ready,
            gate.revoked => requests.revoked,
            message_permits => gate.permits,
            gate.returned => message_returned,
            requests.messages_left => gate.left,
            requests.messages_left => messages_left,
            gate.waiting => messages,
            guard.request => requests.read,
            requests.rq => rq,
            rc => completions.rc,
            completions.completion => guard.arrived,
            guard.completion => flush.completion,
            flush.data => reader.completion,
            cq => invalidations.cq,
            invalidations.drain => reader.drain,
            invalidations.drain => flush.drain,
            reader.drained => invalidations.reads_done,
            flush.drained => invalidations.writes_done,
            invalidations.completion => requests.message,
            transmit => counters.transmit,
            reader.payload_events => counters.payload,
            reader.entry_events => counters.entries,
            flush.failed => counters.flush_failed,
            flush.timed_out => counters.flush_timed_out,
            flush.fault_dropped => counters.flush_fault_dropped,
            guard.write_dropped => counters.write_dropped,
            request_refused => counters.request_refused,
            request_damaged => counters.request_damaged,
            receive_overrun => counters.receive_overrun,
            counter_select => counters.select,
            counters.value => counter_value,
        );
    }
}
