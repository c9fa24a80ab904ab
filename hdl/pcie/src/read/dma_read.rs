//! The DMA read engine: read commands in, payload out in the order of the commands.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{Checked, CompletionSnk, Delay, FlowSrc, Parameters, ReadDataSrc, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::read::{ReadCommand, ReadTlpHeader};

use super::completion_check::CompletionCheck;
use super::completion_writer::CompletionWriter;
use super::in_order_return::InOrderReturn;
use super::read_issue::ReadIssue;
use super::read_scoreboard::ReadScoreboard;
use super::records::{ReadEvents, ENTRY_TAGS, FLUSH_TAGS, GRANULE_BYTE_BITS};
use super::ring_buffer::RingBuffer;
use super::tag_pool::TagPool;
use crate::request_splitter::RequestSplitter;
use crate::segment_issue::SegmentIssue;

/// For a lane of 1,024 bits: 256 commands, 256 KiB. A port of 200 Gb/s sends 70 million packets of 256 bytes per second, which is 115 packets during a
/// read of 1.65 us. The tags of payload are fewer than the commands.
pub type DmaRead1024 = DmaRead<1024, 7, 128, 8, 11, 10>;
/// For a lane of 512 bits: 128 commands, 128 KiB.
pub type DmaRead512 = DmaRead<512, 6, 64, 7, 10, 10>;

/// 4,096 bytes, the largest maximum read request size.
const LARGEST_MRRS_CODE: usize = 5;

/// The DMA read engine: it executes read commands, and returns their payload in the order of the commands. A beat has `W` bits; `B` = log2(W / 8) and
/// `N` = W / 8. At most 2^`S` commands are in progress. Their bytes are in
/// a ring of 2^`G` granules of 128 bytes, in two banks of 2^`A` words. The default engine has the tags of payload, and [`DmaRead::of_entries`]
/// those of queue entries.
///
/// After reset, the first command is accepted after 256 cycles. Reset discards outstanding requests. Hold it until every completion has arrived or the
/// completion timeout of the platform has passed, because a later completion may meet a tag that is in use again.
#[derive(LogicBlock)]
pub struct DmaRead<
    const W: usize,
    const B: usize,
    const N: usize,
    const S: usize,
    const G: usize,
    const A: usize,
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Discards every command and request in progress.
    pub reset: Signal<In, Bit>,

    // Configuration: maximum read request size, from 0 (128 bytes) to 5 (4,096), as in the PCIe Device Control register. Higher codes count as 5. It
    // may be changed only while no read is outstanding.
    /// Maximum read request size: 0 = 128 bytes to 5 = 4,096, as in the PCIe Device Control register; higher codes count as 5. Change it
    /// only while no command is outstanding.
    pub mrrs_code: Signal<In, Bits<3>>,
    /// Completion timeout in cycles; 0 switches it off. A change holds for requests that leave later.
    pub timeout: Signal<In, Bits<31>>,

    // Commands.
    pub command: Snk<ReadCommand>,

    // To PCIe: a request moves when valid and ready. Valid does not depend on ready, and a request stays until taken.
    pub request: Src<ReadTlpHeader>,

    // From PCIe, never stalled. The header is read on the first beat of a completion. A completion without data is one beat.
    pub completion: CompletionSnk<W>,

    // Payload, command by command: a beat moves when valid and ready. Valid does not depend on ready, and a beat stays until taken.
    pub out: ReadDataSrc<W>,

    pub events: Signal<Out, ReadEvents>,

    // For who has to know which requests are outstanding.
    /// Tag of a request, in the cycle in which it is first shown.
    pub asked: FlowSrc<Bits<8>>,
    /// Tag of a request that is no longer outstanding.
    pub ended: FlowSrc<Bits<8>>,

    ledger: ReadScoreboard<S, G>,
    issue: SegmentIssue<GRANULE_BYTE_BITS>,
    splitter: RequestSplitter<LARGEST_MRRS_CODE>,
    read_issue: ReadIssue,
    tags: TagPool,
    check: CompletionCheck,
    data_delay: Delay<Bits<W>, { CompletionCheck::LATENCY }>,
    place: CompletionWriter<W, B, N>,
    buffer: RingBuffer<W, N, A>,
    in_order_return: InOrderReturn<W, B, N>,
    /// Cycles since power-up.
    now: DFF<Bits<32>>,
}

impl<
        const W: usize,
        const B: usize,
        const N: usize,
        const S: usize,
        const G: usize,
        const A: usize,
    > Default for DmaRead<W, B, N, S, G, A>
{
    fn default() -> Self {
        Self::with_tags(0, ENTRY_TAGS)
    }
}

impl<
        const W: usize,
        const B: usize,
        const N: usize,
        const S: usize,
        const G: usize,
        const A: usize,
    > DmaRead<W, B, N, S, G, A>
{
    /// Makes an engine with the tags of queue entries.
    pub fn of_entries() -> Self {
        Self::with_tags(ENTRY_TAGS, FLUSH_TAGS)
    }

    fn with_tags(first: usize, end: usize) -> Self {
        Self {
            _parameters: Default::default(),
            clock: Default::default(),
            reset: Default::default(),
            mrrs_code: Default::default(),
            timeout: Default::default(),
            command: Default::default(),
            request: Default::default(),
            completion: Default::default(),
            out: Default::default(),
            events: Default::default(),
            asked: Default::default(),
            ended: Default::default(),
            ledger: Default::default(),
            issue: Default::default(),
            splitter: Default::default(),
            read_issue: Default::default(),
            tags: TagPool::new(first, end),
            check: Default::default(),
            data_delay: Default::default(),
            place: Default::default(),
            buffer: Default::default(),
            in_order_return: Default::default(),
            now: Default::default(),
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
    > Parameters for DmaRead<W, B, N, S, G, A>
{
    fn check() {
        assert!(
            (4..=7).contains(&B) && N == 1 << B && W == 8 * N,
            "DmaRead<{W}, {B}, {N}, {S}, {G}, {A}>: use B of 4 to 7, N = 2^B and W = 8 N (lanes of 1,024 bits: 1024, 7, 128)"
        );
        assert!(
            A + B + 1 == G + GRANULE_BYTE_BITS,
            "DmaRead<{W}, {B}, {N}, {S}, {G}, {A}>: 2^{G} granules in two banks need A = G + 6 - B = {}",
            G + 6 - B
        );
    }
}

impl<
        const W: usize,
        const B: usize,
        const N: usize,
        const S: usize,
        const G: usize,
        const A: usize,
    > Logic for DmaRead<W, B, N, S, G, A>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, now);
        clock_reset!(
            self,
            ledger,
            issue,
            splitter,
            read_issue,
            tags,
            check,
            place,
            in_order_return
        );
        clock!(self, clock, data_delay, buffer);
        self.now.d.next = self.now.q.val() + 1;

        // Commands to space, to segments, to requests.
        join!(
            self,
            command => ledger.command,
            ledger.place => issue.command,
            mrrs_code => splitter.size_code,
            issue.segment => splitter.segment,
            splitter.chunk => read_issue.chunk,
        );
        self.read_issue.now.next = self.now.q.val();
        join!(
            self,
            timeout => read_issue.timeout,
            tags.free => read_issue.tag,
            read_issue.request => request,
            read_issue.command_request => ledger.request,
        );

        // Completions to verdicts, to the buffer.
        self.check.now.next = self.now.q.val();
        self.check.timeout.next = self.timeout.val();
        join!(
            self,
            tags.sweeping => check.sweeping,
            tags.sweep_tag => check.sweep_tag,
            tags.sweeping => ledger.sweeping,
            tags.sweep_tag => ledger.sweep_tag,
            tags.some_used => check.some_used,
            completion.valid => check.in_valid,
            completion.record => check.in_header,
            completion.last => check.in_last,
            completion.error => check.in_error,
            read_issue.entry_valid => check.entry_valid,
            read_issue.entry_tag => check.entry_tag,
            read_issue.entry => check.entry,
            check.return_valid => tags.return_valid,
            check.returned => tags.returned,
            completion.data => data_delay.data,
            check.out.valid => place.in_valid,
            check.out.record => place.in_beat,
            data_delay.delayed => place.in_data,
            place.write_word => buffer.write_word,
            place.write_low => buffer.write_low,
            place.write_high => buffer.write_high,
            place.write_data => buffer.write_data,
            place.report => ledger.report,
        );

        // Complete commands to payload.
        join!(
            self,
            ledger.head => in_order_return.head,
            in_order_return.freed => ledger.freed,
            in_order_return.read_word => buffer.read_word,
            buffer.read_data => in_order_return.read_data,
            in_order_return.out => out,
        );

        self.asked.valid.next = self.read_issue.entry_valid.val();
        self.asked.record.next = self.read_issue.entry_tag.val();
        self.ended.valid.next = self.check.return_valid.val();
        self.ended.record.next = self.check.returned.val().tag;

        self.events.next = ReadEvents {
            unexpected: self.check.unexpected.val(),
            bad: self.check.bad.val(),
            damaged: self.place.damaged_seen.val(),
            timed_out: self.check.timed_out.val(),
        };
    }
}
