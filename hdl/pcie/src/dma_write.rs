//! The DMA write engine: it turns place commands into memory write TLPs.

use hdl_macros::{clock, clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{
    BufferFreeSrc, BufferReadSrc, ByteMask, ByteRotator, Checked, Parameters, Snk, SyncFifo,
    TlpSrc, ValidDelay,
};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::{PlaceCommand, WriteTlpHeader};

use crate::beat_fetch::{BeatFetch, FIFO_ADDRESS};
use crate::records::{FetchedBeat, TlpBeat};
use crate::request_splitter::RequestSplitter;
use crate::segment_issue::SegmentIssue;

/// For a lane of 1,024 bits.
pub type DmaWrite1024 = DmaWrite<1024, 7, 128>;
/// For a lane of 512 bits.
pub type DmaWrite512 = DmaWrite<512, 6, 64>;

/// Cycles from the address of a buffer read to its data.
pub const READ_LATENCY: usize = 2;
/// PCIe code of the largest maximum payload size, 1,024 bytes.
const LARGEST_MPS_CODE: usize = 3;
const FIFO_COUNT_BITS: usize = FIFO_ADDRESS + 1;

/// Bytes of a double word that are not enabled.
#[hdl_fn]
fn disabled(enables: Bits<4>) -> Bits<11> {
    let mut count = bits::<11>(4);
    for lane in 0..4 {
        count = count - bit_cast::<11, 1>(enables.get_bits::<1>(lane));
    }
    count
}

/// The DMA write engine: it turns place commands into memory write TLPs. A beat has `W` bits; `B` = log2(W / 8) and `N` = W / 8.
///
/// It sends one TLP beat per cycle while `tlp_ready` is high. TLPs, frees and fences leave in the order of their commands.
/// The first TLP beat of a command is valid [`DmaWrite::LATENCY`] cycles after the command is accepted, if the engine was idle.
#[derive(LogicBlock, Default)]
pub struct DmaWrite<const W: usize, const B: usize, const N: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Discards all commands and TLPs in flight.
    pub reset: Signal<In, Bit>,
    /// Maximum payload size: 0 = 128 bytes to 3 = 1,024; higher codes count as 3. It must not change while commands are in flight.
    pub mps_code: Signal<In, Bits<3>>,

    pub command: Snk<PlaceCommand>,
    /// One pulse per fence command: all TLP beats of earlier commands have been accepted.
    pub fence_done: Signal<Out, Bit>,

    /// Packet buffer, with a latency of [`READ_LATENCY`] cycles.
    pub read: BufferReadSrc<W>,
    /// One transfer per command except fences, in order: its last read is complete.
    pub free: BufferFreeSrc,

    /// To PCIe. `tlp.valid` does not depend on `tlp.ready`.
    pub tlp: TlpSrc<W>,

    /// One pulse per command with payload, in order: its last TLP beat is accepted in this cycle.
    pub placed: Signal<Out, Bit>,

    // Counters.
    /// One pulse per TLP, in the cycle after its last beat was accepted.
    pub tlp_sent: Signal<Out, Bit>,
    /// Payload bytes of that TLP.
    pub tlp_sent_bytes: Signal<Out, Bits<11>>,

    issue: SegmentIssue<B>,
    splitter: RequestSplitter<LARGEST_MPS_CODE>,
    fetch: BeatFetch<B>,
    rotator: ByteRotator<W>,
    mask: ByteMask<W, N>,
    data_fifo: SyncFifo<Bits<W>, FIFO_ADDRESS, FIFO_COUNT_BITS>,
    beat_fifo: SyncFifo<TlpBeat, FIFO_ADDRESS, FIFO_COUNT_BITS>,

    /// The beat that belongs to each buffer read.
    reading: ValidDelay<FetchedBeat, READ_LATENCY>,
    freed: DFF<Bit>,
    freed_beats: DFF<Bits<8>>,
    rotating_valid: DFF<Bit>,
    rotating: DFF<FetchedBeat>,
    rotated_valid: DFF<Bit>,
    rotated: DFF<TlpBeat>,
    rotated_lanes: DFF<Bits<N>>,
    counted: DFF<Bit>,
    counted_header: DFF<WriteTlpHeader>,
}

impl<const W: usize, const B: usize, const N: usize> DmaWrite<W, B, N> {
    /// Cycles from accepting a command to its first TLP beat: segments 2, splitter 3, fetch 2, buffer 2, rotator 2, FIFO 1.
    pub const LATENCY: usize = 7 + READ_LATENCY + ByteRotator::<W>::LATENCY + 1;
}

impl<const W: usize, const B: usize, const N: usize> Parameters for DmaWrite<W, B, N> {
    fn check() {
        assert!(
            (4..=7).contains(&B) && N == 1 << B && W == 8 * N,
            "DmaWrite<{W}, {B}, {N}>: use B of 4 to 7, N = 2^B and W = 8 N (lanes of 1,024 bits: <1024, 7, 128>)"
        );
    }
}

impl<const W: usize, const B: usize, const N: usize> Logic for DmaWrite<W, B, N> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            freed,
            freed_beats,
            rotating_valid,
            rotating,
            rotated_valid,
            rotated,
            rotated_lanes,
            counted,
            counted_header
        );
        clock_reset!(self, issue, splitter, fetch, reading, data_fifo, beat_fifo);
        clock!(self, clock, rotator);

        // From commands to segments, chunks and buffer reads.
        join!(
            self,
            command => issue.command,
            mps_code => splitter.size_code,
            issue.segment => splitter.segment,
            splitter.chunk => fetch.chunk,
            fetch.read_beat => read.beat,
        );

        // wait_for_data
        join!(self, fetch.beat.valid => reading.in_valid, fetch.beat.record => reading.in_data);

        // rotate: and free the beats that have been read.
        let read_valid = self.reading.out_valid.val();
        let read = self.reading.out_data.val();
        let rotates = read_valid & (read.place | read.end.fence);
        self.rotator.in_valid.next = rotates;
        self.rotator.in_low.next = self.read.low.val();
        self.rotator.in_high.next = self.read.high.val();
        self.rotator.in_offset.next = bit_cast::<8, 7>(read.byte);
        self.freed.d.next = read_valid & read.end.free;
        self.freed_beats.d.next = read.end.free_beats;
        self.free.valid.next = self.freed.q.val();
        self.free.beats.next = self.freed_beats.q.val();
        self.rotating_valid.d.next = rotates;
        self.rotating.d.next = read;

        // choose_lanes: from the first enabled byte to the last.
        let rotating = self.rotating.q.val();
        let all = bit_cast::<N, N>(Bits::<N>::mask());
        let up_to_last = all >> bit_cast::<N, B>(!bit_cast::<B, 7>(rotating.last_lane));
        let first_be = rotating.header.first_be;
        let lead = if !rotating.first | first_be.get_bit(0) {
            bits::<N>(0)
        } else if first_be.get_bit(1) {
            bits::<N>(1)
        } else if first_be.get_bit(2) {
            bits::<N>(2)
        } else {
            bits::<N>(3)
        };
        self.rotated_lanes.d.next = up_to_last & (all << lead);
        self.rotated_valid.d.next = self.rotating_valid.q.val();
        self.rotated.d.next = TlpBeat {
            fence: rotating.end.fence,
            header: rotating.header,
            first: rotating.first,
            last: rotating.last,
            ends: rotating.end.free,
        };

        // mask: and queue; `fetch` has reserved the entry.
        self.mask.data.next = self.rotator.out_data.val();
        self.mask.lanes.next = self.rotated_lanes.q.val();
        self.data_fifo.in_.valid.next = self.rotated_valid.q.val();
        self.data_fifo.in_.data.next = self.mask.masked.val();
        self.beat_fifo.in_.valid.next = self.rotated_valid.q.val();
        self.beat_fifo.in_.data.next = self.rotated.q.val();

        // send: fences are not sent to PCIe.
        let beat = self.beat_fifo.out.data.val();
        let head = self.beat_fifo.out.valid.val();
        let taken = head & (beat.fence | self.tlp.ready.val());
        self.data_fifo.out.ready.next = taken;
        self.beat_fifo.out.ready.next = taken;
        self.fetch.entry_freed.next = taken;
        self.fence_done.next = head & beat.fence;
        self.tlp.valid.next = head & !beat.fence;
        self.tlp.data.next = self.data_fifo.out.data.val();
        self.tlp.header.next = beat.header;
        self.tlp.first.next = beat.first;
        self.tlp.last.next = beat.last;
        self.placed.next = taken & !beat.fence & beat.ends;

        // count
        self.counted.d.next = taken & !beat.fence & beat.last;
        self.counted_header.d.next = beat.header;
        let counted = self.counted_header.q.val();
        let absent_first = disabled(counted.first_be);
        let absent_at_end = disabled(counted.last_be);
        let absent_last = if counted.last_be.any() {
            absent_at_end
        } else {
            bits(0)
        };
        self.tlp_sent.next = self.counted.q.val();
        self.tlp_sent_bytes.next = (counted.length_dw << 2) - absent_first - absent_last;

        if self.reset.val() {
            self.freed.d.next = false;
            self.rotating_valid.d.next = false;
            self.rotated_valid.d.next = false;
            self.counted.d.next = false;
        }
    }
}
