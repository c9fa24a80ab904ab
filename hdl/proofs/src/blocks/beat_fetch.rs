//! The beats of a memory write.

use hdl_macros::{bundle, clock_reset, hdl, join};
use hdl_pcie::beat_fetch::{BeatFetch, FIFO_ENTRIES};
use hdl_pcie::records::{CommandEnd, FetchedBeat, RequestChunk};
use hdl_primitives::{FlowSrc, Snk};
use rust_hdl::prelude::*;

/// Double words of a beat, and of the longest request.
const BEAT_DWORDS: u64 = 32;
const MOST_DWORDS: u64 = 1024;

/// Registers of the block.
#[bundle]
pub struct FetchInsideSrc {
    pub held: Signal<Out, Bit>,
    pub current: Signal<Out, RequestChunk>,
    pub beats_left: Signal<Out, Bits<11>>,
    pub next_beat: Signal<Out, Bits<12>>,
    pub first: Signal<Out, Bit>,
    pub last_lane: Signal<Out, Bits<7>>,
    pub entries_out: Signal<Out, Bits<6>>,
}

/// Properties of [`BeatFetch`] with beats of 128 bytes, told for every request. The double words of a request are counted here, beat by beat.
#[derive(LogicBlock, Default)]
pub struct BeatFetchProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub chunk: Snk<RequestChunk>,
    pub entry_freed: Signal<In, Bit>,
    pub read_beat: Signal<Out, Bits<12>>,
    pub beat: FlowSrc<FetchedBeat>,
    /// Registers of the block.
    pub inner_fetch: FetchInsideSnk,

    /// A request with bytes has 1 to 1,024 double words.
    pub given_length: Signal<Out, Bit>,
    /// An entry of the FIFO is freed only if one is taken.
    pub given_freed: Signal<Out, Bit>,

    /// A beat has bytes only if its request has, and the header of that.
    pub holds_accepted: Signal<Out, Bit>,
    /// A request has as many beats as its double words fill, once. The first and the last one are marked.
    pub holds_once: Signal<Out, Bit>,
    /// The bytes of a beat are read from where they are in the packet buffer.
    pub holds_address: Signal<Out, Bit>,
    /// The last beat ends with the last byte that the byte enables have, and the others are full.
    pub holds_lane: Signal<Out, Bit>,
    /// The last beat of a request has its end: it frees the buffer if the request does.
    pub holds_end: Signal<Out, Bit>,
    /// No more beats and fences are sent than the FIFO behind the block has entries.
    pub holds_room: Signal<Out, Bit>,

    // What is in the registers, so that the properties are an invariant together.
    /// The block has the request, and as many beats of it as are left here.
    pub holds_current: Signal<Out, Bit>,

    /// A request can have several beats.
    pub reaches_several: Signal<Out, Bit>,
    /// The buffer of a dropped packet can be freed.
    pub reaches_dropped: Signal<Out, Bit>,

    fetch: BeatFetch<7>,
    inside: DFF<Bit>,
    current: DFF<RequestChunk>,
    began: DFF<Bit>,
    /// Double words that were not sent, and the beat of the buffer in which they begin.
    left: DFF<Bits<11>>,
    next: DFF<Bits<12>>,
    /// Entries of the FIFO that beats and fences have which left the block earlier. Wider than the block's count, so that it cannot wrap.
    taken: DFF<Bits<8>>,
    /// The beat that is offered.
    told_valid: DFF<Bit>,
    told: DFF<FetchedBeat>,
    told_address: DFF<Bits<12>>,
}

impl Logic for BeatFetchProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, inside, current, began, left, next, taken);
        dff_setup!(self, clock, told_valid, told, told_address);
        clock_reset!(self, fetch);
        join!(
            self,
            chunk => fetch.chunk,
            entry_freed => fetch.entry_freed,
            fetch.read_beat => read_beat,
            fetch.beat => beat,
        );
        let chunk = self.chunk.record.val();
        let length = chunk.header.length_dw;
        self.given_length.next = !chunk.place | (length.any() & (length <= MOST_DWORDS));
        let sent = self.fetch.beat.valid.val();
        let beat = self.fetch.beat.record.val();
        let taken = self.taken.q.val();
        let freed = self.entry_freed.val();
        self.given_freed.next = !freed | taken.any();
        let reserved = if sent & (beat.place | beat.end.fence) {
            taken + 1
        } else {
            taken
        };
        self.taken.d.next = if freed { reserved - 1 } else { reserved };

        // The next beat.
        let inside = self.inside.q.val();
        let current = self.current.q.val();
        let header = current.header;
        let left = self.left.q.val();
        let next = self.next.q.val();
        let needs_entry = current.place | current.end.fence;
        let sends = inside & (!needs_entry | !(reserved >= (FIFO_ENTRIES as u64)));
        let is_last = !current.place | (left <= BEAT_DWORDS);
        let end_enables = if header.last_be.any() {
            header.last_be
        } else {
            header.first_be
        };
        let end_lane = if end_enables.get_bit(3) {
            bits::<7>(3)
        } else if end_enables.get_bit(2) {
            bits::<7>(2)
        } else if end_enables.get_bit(1) {
            bits::<7>(1)
        } else {
            bits::<7>(0)
        };
        let last_lane = (bit_cast::<7, 11>(left - 1) << 2) + end_lane;
        self.told_valid.d.next = sends;
        self.told_address.d.next = next;
        self.told.d.next = FetchedBeat {
            place: current.place,
            end: CommandEnd {
                fence: current.end.fence,
                free: current.end.free & is_last,
                free_beats: current.end.free_beats,
            },
            header,
            first: !self.began.q.val(),
            last: is_last,
            byte: current.position.get_bits::<7>(0),
            last_lane: if is_last { last_lane } else { bits::<7>(127) },
        };
        if sends {
            self.began.d.next = true;
            self.left.d.next = left - BEAT_DWORDS;
            self.next.d.next = next + 1;
            self.inside.d.next = !is_last;
        }
        if self.chunk.valid.val() & self.fetch.chunk.ready.val() {
            self.inside.d.next = true;
            self.current.d.next = chunk;
            self.began.d.next = false;
            self.left.d.next = length;
            self.next.d.next = chunk.position.get_bits::<12>(7);
        }

        let told = self.told.q.val();
        self.holds_accepted.next =
            !sent | ((beat.place == told.place) & (beat.header == told.header));
        self.holds_once.next = (sent == self.told_valid.q.val())
            & (!sent | ((beat.first == told.first) & (beat.last == told.last)));
        self.holds_address.next = !sent
            | !beat.place
            | ((self.fetch.read_beat.val() == self.told_address.q.val())
                & (beat.byte == told.byte));
        self.holds_lane.next = !sent | !beat.place | (beat.last_lane == told.last_lane);
        self.holds_end.next = !sent | (beat.end == told.end);
        self.holds_room.next = reserved <= (FIFO_ENTRIES as u64);

        // What is in the registers. The lane of the last byte follows from the double words that are left in the last beat.
        let place = current.place;
        let beats = if place {
            (left - 1) >> 5
        } else {
            bits::<11>(0)
        };
        self.holds_current.next = (self.inner_fetch.held.val() == inside)
            & (bit_cast::<8, 6>(self.inner_fetch.entries_out.val()) == reserved)
            & (!inside
                | ((self.inner_fetch.current.val() == current)
                    & (self.inner_fetch.first.val() == !self.began.q.val())
                    & (self.inner_fetch.next_beat.val() == next)
                    & (!place | (left.any() & (left <= MOST_DWORDS)))
                    & (self.inner_fetch.beats_left.val() == beats)
                    & (!place | (self.inner_fetch.last_lane.val() == last_lane))));

        self.reaches_several.next = sent & beat.place & beat.last & !beat.first;
        self.reaches_dropped.next = sent & !beat.place & beat.end.free;
        if self.reset.val() {
            self.inside.d.next = false;
            self.told_valid.d.next = false;
            self.taken.d.next = bits(0);
        }
    }
}
