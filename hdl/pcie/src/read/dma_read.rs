//! The DMA read engine: read commands in, payload out in the order of the commands.

use hdl_macros::hdl;
use hdl_primitives::{Counter, Delay};
use rust_hdl::prelude::*;
use stellar_wire::hw::read::{CompletionHeader, ReadBeat, ReadCommand, ReadTlpHeader};

use super::completion_check::CompletionCheck;
use super::completion_place::CompletionPlace;
use super::read_issue::ReadIssue;
use super::read_return::ReadReturn;
use super::slot_buffer::SlotBuffer;
use super::slot_ledger::{SlotLedger, SPAN_BEAT_BITS};
use super::tag_pool::TagPool;
use crate::piece_issue::PieceIssue;
use crate::request_splitter::RequestSplitter;

/// For a lane of 1,024 bits, 64 slots: 256 KiB. A port of 200 Gb/s sends 70 million packets of 256 bytes per second, which is 49 packets during a
/// read of 700 ns.
pub type DmaRead1024 = DmaRead<1024, 7, 128, 6, 64, 10>;
/// For a lane of 512 bits, 32 slots: 128 KiB.
pub type DmaRead512 = DmaRead<512, 6, 64, 5, 32, 10>;

/// 4,096 bytes, the largest maximum read request size.
const LARGEST_MRRS_CODE: usize = 5;
const COUNTER_BITS: usize = 48;

/// `W` bits a beat, `B` = log2(W / 8), `N` = W / 8; 2^`S` = `K` slots of 4 KiB, in two banks of 2^`A` words.
///
/// After reset, the first request leaves after 256 cycles. Reset discards outstanding requests. Hold it until every completion has arrived or the
/// completion timeout of the platform has passed, because a later completion may meet a tag that is in use again.
#[derive(LogicBlock)]
pub struct DmaRead<
    const W: usize,
    const B: usize,
    const N: usize,
    const S: usize,
    const K: usize,
    const A: usize,
> {
    pub clock: Signal<In, Clock>,
    /// Forgets every command and request under way.
    pub reset: Signal<In, Bit>,

    // Configuration.
    /// Maximum read request size: 0 = 128 bytes to 5 = 4,096, as in the PCIe Device Control register; higher codes count as 5. To be changed
    /// only while nothing is under way.
    pub mrrs_code: Signal<In, Bits<3>>,
    /// Completion timeout in clocks; 0 switches it off. A change holds for requests that leave later.
    pub timeout: Signal<In, Bits<31>>,

    // Commands.
    pub command_valid: Signal<In, Bit>,
    pub command: Signal<In, ReadCommand>,
    pub command_ready: Signal<Out, Bit>,

    // To PCIe: a request moves when valid and ready. Valid does not depend on ready, and a request stays until taken.
    pub request_valid: Signal<Out, Bit>,
    pub request: Signal<Out, ReadTlpHeader>,
    pub request_ready: Signal<In, Bit>,

    // From PCIe, never stalled. The header is looked at on the first beat of a completion; one without data is one beat.
    pub completion_valid: Signal<In, Bit>,
    pub completion: Signal<In, CompletionHeader>,
    pub completion_data: Signal<In, Bits<W>>,
    pub completion_last: Signal<In, Bit>,
    /// With `completion_last`: the payload was damaged on its way.
    pub completion_error: Signal<In, Bit>,

    // Payload, command by command: a beat moves when valid and ready. Valid does not depend on ready, and a beat stays until taken.
    pub out_valid: Signal<Out, Bit>,
    /// Byte 0 of the command in lane 0 of its first beat. Lanes without a valid byte are zero.
    pub out_data: Signal<Out, Bits<W>>,
    pub out_beat: Signal<Out, ReadBeat>,
    pub out_ready: Signal<In, Bit>,

    // Counters.
    /// Completions of tags that waited for nothing.
    pub unexpected: Signal<Out, Bits<COUNTER_BITS>>,
    /// Completions that failed their request: UR, CA, other status, poisoned, malformed, or damaged.
    pub bad_completions: Signal<Out, Bits<COUNTER_BITS>>,
    /// Requests that were not answered in time.
    pub timeouts: Signal<Out, Bits<COUNTER_BITS>>,

    ledger: SlotLedger<S, K>,
    issue: PieceIssue<SPAN_BEAT_BITS>,
    splitter: RequestSplitter<LARGEST_MRRS_CODE>,
    read_issue: ReadIssue,
    tags: TagPool,
    check: CompletionCheck,
    data_delay: Delay<Bits<W>, { CompletionCheck::LATENCY }>,
    place: CompletionPlace<W, B, N>,
    buffer: SlotBuffer<W, N, A>,
    read_return: ReadReturn<W, B, N>,
    unexpected_counter: Counter<COUNTER_BITS>,
    bad_counter: Counter<COUNTER_BITS>,
    timeout_counter: Counter<COUNTER_BITS>,
    /// Clocks since power-up.
    now: DFF<Bits<32>>,
}

impl<
        const W: usize,
        const B: usize,
        const N: usize,
        const S: usize,
        const K: usize,
        const A: usize,
    > Default for DmaRead<W, B, N, S, K, A>
{
    fn default() -> Self {
        assert!(
            (4..=7).contains(&B) && N == 1 << B && W == 8 * N,
            "DmaRead<{W}, {B}, {N}, {S}, {K}, {A}>: use B of 4 to 7, N = 2^B and W = 8 N (lanes of 1,024 bits: 1024, 7, 128)"
        );
        assert!(
            A == S + 11 - B,
            "DmaRead<{W}, {B}, {N}, {S}, {K}, {A}>: 2^{S} slots of 4 KiB in two banks need A = S + 11 - B = {}",
            S + 11 - B
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            mrrs_code: Default::default(),
            timeout: Default::default(),
            command_valid: Default::default(),
            command: Default::default(),
            command_ready: Default::default(),
            request_valid: Default::default(),
            request: Default::default(),
            request_ready: Default::default(),
            completion_valid: Default::default(),
            completion: Default::default(),
            completion_data: Default::default(),
            completion_last: Default::default(),
            completion_error: Default::default(),
            out_valid: Default::default(),
            out_data: Default::default(),
            out_beat: Default::default(),
            out_ready: Default::default(),
            unexpected: Default::default(),
            bad_completions: Default::default(),
            timeouts: Default::default(),
            ledger: Default::default(),
            issue: Default::default(),
            splitter: Default::default(),
            read_issue: Default::default(),
            tags: Default::default(),
            check: Default::default(),
            data_delay: Default::default(),
            place: Default::default(),
            buffer: Default::default(),
            read_return: Default::default(),
            unexpected_counter: Default::default(),
            bad_counter: Default::default(),
            timeout_counter: Default::default(),
            now: Default::default(),
        }
    }
}

impl<
        const W: usize,
        const B: usize,
        const N: usize,
        const S: usize,
        const K: usize,
        const A: usize,
    > Logic for DmaRead<W, B, N, S, K, A>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, now);
        clock!(self, clock, ledger, issue, splitter, read_issue, tags, check);
        clock!(self, clock, data_delay, place, buffer, read_return);
        clock!(
            self,
            clock,
            unexpected_counter,
            bad_counter,
            timeout_counter
        );
        self.ledger.reset.next = self.reset.val();
        self.issue.reset.next = self.reset.val();
        self.splitter.reset.next = self.reset.val();
        self.read_issue.reset.next = self.reset.val();
        self.tags.reset.next = self.reset.val();
        self.check.reset.next = self.reset.val();
        self.place.reset.next = self.reset.val();
        self.read_return.reset.next = self.reset.val();
        self.unexpected_counter.reset.next = self.reset.val();
        self.bad_counter.reset.next = self.reset.val();
        self.timeout_counter.reset.next = self.reset.val();
        self.now.d.next = self.now.q.val() + 1;

        // Commands to slots, to pieces, to requests.
        self.ledger.command_valid.next = self.command_valid.val();
        self.ledger.command.next = self.command.val();
        self.command_ready.next = self.ledger.command_ready.val();
        self.issue.command_valid.next = self.ledger.place_valid.val();
        self.issue.command.next = self.ledger.place.val();
        self.ledger.place_ready.next = self.issue.command_ready.val();
        self.splitter.size_code.next = self.mrrs_code.val();
        self.splitter.piece.valid.next = self.issue.piece_valid.val();
        self.splitter.piece.record.next = self.issue.piece.val();
        self.issue.piece_ready.next = self.splitter.piece.ready.val();
        self.read_issue.chunk_valid.next = self.splitter.chunk.valid.val();
        self.read_issue.chunk.next = self.splitter.chunk.record.val();
        self.splitter.chunk.ready.next = self.read_issue.chunk_ready.val();
        self.read_issue.now.next = self.now.q.val();
        self.read_issue.timeout.next = self.timeout.val();
        self.read_issue.tag_valid.next = self.tags.free_valid.val();
        self.read_issue.tag.next = self.tags.free.val();
        self.tags.free_ready.next = self.read_issue.tag_ready.val();
        self.request_valid.next = self.read_issue.request_valid.val();
        self.request.next = self.read_issue.request.val();
        self.read_issue.request_ready.next = self.request_ready.val();
        self.ledger.request.next = self.read_issue.slot_request.val();

        // Completions to verdicts, to the buffer.
        self.check.now.next = self.now.q.val();
        self.check.timeout_enabled.next = self.timeout.val().any();
        self.check.sweeping.next = self.tags.sweeping.val();
        self.check.sweep_tag.next = self.tags.sweep_tag.val();
        self.check.in_valid.next = self.completion_valid.val();
        self.check.in_header.next = self.completion.val();
        self.check.in_last.next = self.completion_last.val();
        self.check.in_error.next = self.completion_error.val();
        self.check.entry_valid.next = self.read_issue.entry_valid.val();
        self.check.entry_tag.next = self.read_issue.entry_tag.val();
        self.check.entry.next = self.read_issue.entry.val();
        self.tags.return_valid.next = self.check.return_valid.val();
        self.tags.returned.next = self.check.returned.val();
        self.data_delay.data.next = self.completion_data.val();
        self.place.in_valid.next = self.check.out_valid.val();
        self.place.in_beat.next = self.check.out.val();
        self.place.in_data.next = self.data_delay.delayed.val();
        self.buffer.write_word.next = self.place.write_word.val();
        self.buffer.write_low.next = self.place.write_low.val();
        self.buffer.write_high.next = self.place.write_high.val();
        self.buffer.write_data.next = self.place.write_data.val();
        self.ledger.report.next = self.place.report.val();

        // Complete slots to payload.
        self.read_return.head_valid.next = self.ledger.head_valid.val();
        self.read_return.head.next = self.ledger.head.val();
        self.ledger.head_ready.next = self.read_return.head_ready.val();
        self.ledger.freed.next = self.read_return.freed.val();
        self.buffer.read_word.next = self.read_return.read_word.val();
        self.read_return.read_data.next = self.buffer.read_data.val();
        self.out_valid.next = self.read_return.out_valid.val();
        self.out_data.next = self.read_return.out_data.val();
        self.out_beat.next = self.read_return.out_beat.val();
        self.read_return.out_ready.next = self.out_ready.val();

        // count
        self.unexpected_counter.add.next = bit_cast::<16, 1>(self.check.unexpected.val().into());
        self.bad_counter.add.next = bit_cast::<16, 1>(self.check.bad.val().into())
            + bit_cast::<16, 1>(self.place.damaged_seen.val().into());
        self.timeout_counter.add.next = bit_cast::<16, 1>(self.check.timed_out.val().into());
        self.unexpected.next = self.unexpected_counter.total.val();
        self.bad_completions.next = self.bad_counter.total.val();
        self.timeouts.next = self.timeout_counter.total.val();
    }
}
