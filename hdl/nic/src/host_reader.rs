//! Reads of host memory through one PCIe endpoint: payload of a port, and entries of queues.

use hdl_macros::{clock_reset, hdl, hdl_fn, join};
use hdl_pcie::ats::ReadDrain;
use hdl_pcie::read::records::{ReadEvents, ENTRY_TAGS, FLUSH_TAGS, TAG_BITS};
use hdl_pcie::read::{DmaRead, EntryReader};
use hdl_primitives::{CompletionSnk, OfferSnk, OfferSrc, ReadDataSrc, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::payload::read_user;
use stellar_wire::hw::read::{FailedRead, ReadBeat, ReadCommand, ReadTlpHeader};

/// log2 of the reads of queue entries in progress, and of the granules of 128 bytes for them.
const ENTRY_COMMANDS_LOG2: usize = 5;
const ENTRY_GRANULES_LOG2: usize = 8;

/// Whether a tag is one of queue entries.
#[hdl_fn]
fn is_of_entries(tag: Bits<TAG_BITS>) -> Bit {
    (tag >= (ENTRY_TAGS as u64)) & (tag < (FLUSH_TAGS as u64))
}

/// The end of a read, if this beat moves.
#[hdl_fn]
fn end_of(moves: Bit, beat: ReadBeat) -> EpochEnd {
    EpochEnd {
        valid: moves & beat.last,
        epoch: beat.user.get_bit(read_user::EPOCH),
    }
}

/// Two read engines of `W` bits at one endpoint; `B` = log2(W / 8) and `N` = W / 8, and `S`, `G` and `A` are those of the [`DmaRead`] for payload. That for entries
/// has 32 commands, 32 KiB, and 2^`EA` words in a bank. A read of payload that is not completed holds up the payload behind it until its timeout, but no queue
/// entries: these have an engine, slots and tags of their own. Their requests go first, for at most 32 are outstanding. LUT levels: 3 (request, tag).
#[derive(LogicBlock)]
pub struct HostReader<
    const W: usize,
    const B: usize,
    const N: usize,
    const S: usize,
    const G: usize,
    const A: usize,
    const EA: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Configuration: see `DmaRead`.
    pub mrrs_code: Signal<In, Bits<3>>,
    pub timeout: Signal<In, Bits<31>>,

    // Queue entries.
    pub fetch: OfferSnk<WqeFetch>,
    pub fetched: Src<WqeFetched>,
    /// A read of queue entries failed: see `EntryReader`.
    pub fault: Src<FailedRead>,
    // Payload.
    pub read: Snk<ReadCommand>,
    pub payload: ReadDataSrc<W>,
    /// A read is complete, of queue entries and of payload: none of its requests is under way.
    pub entries_ended: Signal<Out, EpochEnd>,
    pub payload_ended: Signal<Out, EpochEnd>,

    // PCIe.
    pub request: OfferSrc<ReadTlpHeader>,
    pub completion: CompletionSnk<W>,

    pub entry_events: Signal<Out, ReadEvents>,
    pub payload_events: Signal<Out, ReadEvents>,

    // Reads of payload that are outstanding: see `ReadDrain`.
    pub drain: Signal<In, Bit>,
    pub drained: Signal<Out, Bit>,

    entry_reader: EntryReader<W>,
    entry_engine: DmaRead<W, B, N, ENTRY_COMMANDS_LOG2, ENTRY_GRANULES_LOG2, EA>,
    payload_engine: DmaRead<W, B, N, S, G, A>,
    reads: ReadDrain,
}

impl<
        const W: usize,
        const B: usize,
        const N: usize,
        const S: usize,
        const G: usize,
        const A: usize,
        const EA: usize,
    > Default for HostReader<W, B, N, S, G, A, EA>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            mrrs_code: Default::default(),
            timeout: Default::default(),
            fetch: Default::default(),
            fetched: Default::default(),
            fault: Default::default(),
            read: Default::default(),
            payload: Default::default(),
            entries_ended: Default::default(),
            payload_ended: Default::default(),
            request: Default::default(),
            completion: Default::default(),
            entry_events: Default::default(),
            payload_events: Default::default(),
            drain: Default::default(),
            drained: Default::default(),
            entry_reader: Default::default(),
            entry_engine: DmaRead::of_entries(),
            payload_engine: Default::default(),
            reads: Default::default(),
        }
    }
}

impl<
        const W: usize,
        const B: usize,
        const N: usize,
        const S: usize,
        const G: usize,
        const A: usize,
        const EA: usize,
    > Logic for HostReader<W, B, N, S, G, A, EA>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, entry_reader, entry_engine, payload_engine, reads);
        join!(
            self,
            fetch => entry_reader.fetch,
            entry_reader.fetched => fetched,
            entry_reader.fault => fault,
            entry_reader.command => entry_engine.command,
            entry_engine.out => entry_reader.in_,
            read => payload_engine.command,
            payload_engine.out => payload,
            mrrs_code => entry_engine.mrrs_code,
            mrrs_code => payload_engine.mrrs_code,
            timeout => entry_engine.timeout,
            timeout => payload_engine.timeout,
            entry_engine.events => entry_events,
            payload_engine.events => payload_events,
            payload_engine.asked => reads.asked,
            payload_engine.ended => reads.ended,
            drain => reads.drain,
            reads.done => drained,
            completion.record => entry_engine.completion.record,
            completion.record => payload_engine.completion.record,
            completion.data => entry_engine.completion.data,
            completion.data => payload_engine.completion.data,
            completion.last => entry_engine.completion.last,
            completion.last => payload_engine.completion.last,
            completion.error => entry_engine.completion.error,
            completion.error => payload_engine.completion.error,
        );

        // The entry reader takes every beat at once.
        self.entries_ended.next = end_of(
            self.entry_engine.out.valid.val(),
            self.entry_engine.out.beat.val(),
        );
        self.payload_ended.next = end_of(
            self.payload_engine.out.valid.val() & self.payload.ready.val(),
            self.payload_engine.out.beat.val(),
        );

        let entries_ask = self.entry_engine.request.valid.val();
        self.request.valid.next = entries_ask | self.payload_engine.request.valid.val();
        self.request.record.next = if entries_ask {
            self.entry_engine.request.record.val()
        } else {
            self.payload_engine.request.record.val()
        };
        self.entry_engine.request.ready.next = self.request.ready.val();
        self.payload_engine.request.ready.next = self.request.ready.val() & !entries_ask;

        let of_entries = is_of_entries(self.completion.record.val().tag);
        self.entry_engine.completion.valid.next = self.completion.valid.val() & of_entries;
        self.payload_engine.completion.valid.next = self.completion.valid.val() & !of_entries;
    }
}
