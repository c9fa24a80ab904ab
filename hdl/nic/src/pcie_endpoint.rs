//! One PCIe endpoint of the card.

use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::ats::InvalidateResponder;
use hdl_pcie::bundles::{AxisSnk, AxisSrc, CqLookSnk};
use hdl_pcie::flush::WriteFlush;
use hdl_pcie::requester::{CompletionStream, RequestStream};
use hdl_primitives::{OfferSnk, PlacementSrc, ReadDataSrc, Snk, Src, TlpSnk};
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
    /// The host's queues have a write on its way to `write`.
    pub queue_accepted: Signal<In, Bit>,

    // Counters.
    pub transmit: Signal<In, TxEvents>,
    /// A request of the host was refused, or came damaged.
    pub request_refused: Signal<In, Bit>,
    pub request_damaged: Signal<In, Bit>,
    pub counter_select: Signal<In, Bits<PORT_BIT>>,
    /// The counter selected in the cycle before.
    pub counter_value: Signal<Out, Bits<48>>,

    reader: HostReader<W, B, N, S, G, A, EA>,
    flush: WriteFlush<W>,
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
        clock_reset!(
            self,
            reader,
            flush,
            requests,
            completions,
            invalidations,
            counters
        );
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
            flush.tlp => requests.write,
            flush.request => requests.read,
            requests.rq => rq,
            rc => completions.rc,
            completions.completion => flush.completion,
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
            request_refused => counters.request_refused,
            request_damaged => counters.request_damaged,
            counter_select => counters.select,
            counters.value => counter_value,
        );
    }
}
