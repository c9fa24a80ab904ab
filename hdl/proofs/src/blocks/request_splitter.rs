//! The memory requests of a segment.

use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::records::{PlaceSegment, RequestChunk};
use hdl_pcie::request_splitter::{PreparedSegment, RequestSplitter, RunningSegment};
use hdl_primitives::{Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::mtu::MAX_PAYLOAD;

/// Address of a double word.
type Dword = Bits<62>;

/// Double words that a segment can touch.
const MOST_DWORDS: u64 = MAX_PAYLOAD as u64 / 4 + 1;

/// Properties of [`RequestSplitter`] with requests of up to 4 KiB, told for one segment at a time, which the solver picks. They are those of requests that enter the
/// FIFO in front of the receiver. The FIFO is a `SyncFifo`, which has properties of its own.
#[derive(LogicBlock, Default)]
pub struct RequestSplitterProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub size_code: Signal<In, Bits<3>>,
    pub segment: Snk<PlaceSegment>,
    pub chunk: Src<RequestChunk>,

    // Registers of the block, and the request that enters its FIFO.
    pub inner_splitter_max_dwords: Signal<In, Bits<11>>,
    pub inner_splitter_prepared_valid: Signal<In, Bit>,
    pub inner_splitter_prepared: Signal<In, PreparedSegment>,
    pub inner_splitter_running_valid: Signal<In, Bit>,
    pub inner_splitter_running: Signal<In, RunningSegment>,
    pub inner_splitter_sent_held: Signal<In, Bits<2>>,
    pub inner_splitter_sent_write_pointer: Signal<In, Bits<1>>,
    pub inner_splitter_sent_read_pointer: Signal<In, Bits<1>>,
    pub inner_splitter_sent_in_ready: Signal<In, Bit>,
    pub inner_splitter_sent_in_data: Signal<In, RequestChunk>,

    /// The size does not change.
    pub given_size: Signal<Out, Bit>,
    /// A segment has at most 8 KiB, and the one that is followed at least a byte. It is the only one whose `device` is odd.
    pub given_segment: Signal<Out, Bit>,

    /// Each request begins where the one before it ended, the first one at the first byte, and has no more double words than are left. The last one ends at the last byte.
    pub holds_inside: Signal<Out, Bit>,
    /// No request crosses a multiple of the size, so none crosses one of 4 KiB.
    pub holds_boundary: Signal<Out, Bit>,
    /// The byte enables of the first and the last double word leave out what is not of the segment.
    pub holds_enables: Signal<Out, Bit>,
    /// A request has bytes only if its segment has, and the address type of that.
    pub holds_type: Signal<Out, Bit>,
    /// The bytes come from where they are in the packet buffer.
    pub holds_position: Signal<Out, Bit>,
    /// The FIFO has as many entries as its pointers are apart, so that the properties are an invariant together.
    pub holds_fifo: Signal<Out, Bit>,
    /// A segment can have several requests, of which the last one ends within a double word.
    pub reaches_several: Signal<Out, Bit>,

    splitter: RequestSplitter<5>,
    size_known: DFF<Bit>,
    size: DFF<Bits<3>>,
    /// A segment is followed: its next double word, those that are left, and what it does not have of the first and the last one.
    follows: DFF<Bit>,
    began: DFF<Bit>,
    next: DFF<Dword>,
    left: DFF<Bits<12>>,
    lead: DFF<Bits<2>>,
    tail: DFF<Bits<2>>,
    /// Position of lane 0 of the next double word.
    position: DFF<Bits<19>>,
    /// It has bytes to write or to read, its address is translated, and it ends its command.
    place: DFF<Bit>,
    translated: DFF<Bit>,
    ends: DFF<Bit>,
}

impl Logic for RequestSplitterProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, size_known, size, follows, began, next, left, lead, tail, position);
        dff_setup!(self, clock, place, translated, ends);
        clock_reset!(self, splitter);
        join!(self, segment => splitter.segment, splitter.chunk => chunk, size_code => splitter.size_code);
        let size_code = self.size_code.val();
        self.size_known.d.next = true;
        self.size.d.next = size_code;
        self.given_size.next = !self.size_known.q.val() | (self.size.q.val() == size_code);

        // The segment that is followed.
        let segment = self.segment.record.val();
        let follows = self.follows.q.val();
        let is_marked = segment.device.get_bit(0);
        let enters = self.segment.valid.val() & self.splitter.segment.ready.val() & is_marked;
        self.given_segment.next = !self.segment.valid.val()
            | ((segment.length <= (MAX_PAYLOAD as u64))
                & (!is_marked | (!follows & segment.length.any())));
        let lead = segment.address.get_bits::<2>(0);
        let end = segment.length + bit_cast::<14, 2>(lead);
        let next = self.next.q.val();
        let left = self.left.q.val();
        let position = self.position.q.val();

        // The request that enters the FIFO.
        let header = self.inner_splitter_sent_in_data.val().header;
        let running_valid = self.inner_splitter_running_valid.val();
        let offers = running_valid & header.device.get_bit(0);
        let count = bit_cast::<12, 11>(header.length_dw);
        if offers & self.inner_splitter_sent_in_ready.val() {
            self.began.d.next = true;
            self.next.d.next = next + bit_cast::<62, 12>(count);
            self.left.d.next = left - count;
            self.position.d.next = position + (bit_cast::<19, 12>(count) << 2);
            if count == left {
                self.follows.d.next = false;
            }
        }
        if enters {
            self.follows.d.next = true;
            self.began.d.next = false;
            self.next.d.next = segment.address.get_bits::<62>(2);
            self.left.d.next = bit_cast::<12, 14>((end + 3) >> 2);
            self.lead.d.next = lead;
            self.tail.d.next = end.get_bits::<2>(0);
            self.position.d.next = segment.position - bit_cast::<19, 2>(lead);
            self.place.d.next = segment.place;
            self.translated.d.next = segment.translated;
            self.ends.d.next = segment.end.free;
        }
        let most = if self.size.q.val() > 5 {
            bits::<12>(1024)
        } else {
            bits::<12>(32) << bit_cast::<12, 3>(self.size.q.val())
        };
        let in_block = bit_cast::<12, 10>(next.get_bits::<10>(0)) & (most - 1);
        let first_lanes = bits::<4>(15) << bit_cast::<4, 2>(self.lead.q.val());
        let last_lanes = bits::<4>(15) >> bit_cast::<4, 2>(bits::<2>(0) - self.tail.q.val());
        let first_be = if self.began.q.val() {
            bits::<4>(15)
        } else {
            first_lanes
        };
        let last_be = if count == left {
            last_lanes
        } else {
            bits::<4>(15)
        };

        // Where the segment is in the block, so that the invariant is in the properties.
        let prepared = self.inner_splitter_prepared.val();
        let running = self.inner_splitter_running.val();
        let is_prepared = self.inner_splitter_prepared_valid.val() & prepared.device.get_bit(0);
        let is_running = running_valid & running.segment.device.get_bit(0);
        let sized = bit_cast::<12, 11>(self.inner_splitter_max_dwords.val()) == most;
        let followed = (self.size_known.q.val() | (self.reset.val() & !follows))
            & (!self.size_known.q.val() | sized)
            & (follows == (is_prepared | is_running))
            & !(is_prepared & is_running);
        let prepared_dword =
            (bit_cast::<62, 52>(prepared.frame) << 10) | bit_cast::<62, 10>(prepared.dword);
        let prepared_inside = !is_prepared
            | ((prepared_dword == next)
                & (prepared.dwords == left)
                & (prepared.next_frame == prepared.frame + 1)
                & (prepared.third_frame == prepared.frame + 2)
                & (bit_cast::<12, 11>(prepared.boundary) == most - in_block)
                & left.any()
                & (left <= MOST_DWORDS)
                & !self.began.q.val()
                & (prepared.place == self.place.q.val())
                & (prepared.translated == self.translated.q.val())
                & (prepared.end.free == self.ends.q.val()));
        let running_dword =
            (bit_cast::<62, 52>(running.segment.frame) << 10) + bit_cast::<62, 12>(running.dword);
        let running_inside = !is_running
            | ((running_dword == next)
                & (count + running.left == left)
                & count.any()
                & (count <= left)
                & (left <= MOST_DWORDS)
                & (bit_cast::<12, 10>(next.get_bits::<10>(0))
                    == bit_cast::<12, 10>(running.dword.get_bits::<10>(0)))
                & (bit_cast::<14, 12>(running.dword) + bit_cast::<14, 12>(left)
                    <= MOST_DWORDS + 1023)
                & (in_block + count <= most)
                & (!running.left.any() | (in_block + count == most))
                & (running.last == !running.left.any())
                & (running.first == !self.began.q.val())
                & (running.segment.next_frame == running.segment.frame + 1)
                & (running.segment.third_frame == running.segment.frame + 2)
                & (running.segment.place == self.place.q.val())
                & (running.segment.translated == self.translated.q.val())
                & (running.segment.end.free == self.ends.q.val()));

        let follows_it = followed & prepared_inside & running_inside;

        self.holds_inside.next = follows_it
            & (!offers
                | ((header.address_dw == next)
                    & count.any()
                    & (count <= left)
                    & (header.ends == (self.ends.q.val() & (count == left)))));
        self.holds_boundary.next = follows_it & (!offers | (in_block + count <= most));
        let enables = if count == 1 {
            (header.first_be == (first_be & last_be)) & !header.last_be.any()
        } else {
            (header.first_be == first_be) & (header.last_be == last_be)
        };
        // What is before the header is in the properties too.
        let lead = self.lead.q.val();
        let tail = self.tail.q.val();
        self.holds_enables.next = (!offers | enables)
            & (!is_prepared | ((prepared.lead == lead) & (prepared.tail == tail)))
            & (!is_running | ((running.segment.lead == lead) & (running.segment.tail == tail)));
        let chunk = self.inner_splitter_sent_in_data.val();
        self.holds_type.next = !offers
            | ((chunk.place == self.place.q.val())
                & (header.at.get_bit(1) == self.translated.q.val())
                & !header.at.get_bit(0));
        self.holds_position.next = (!offers | (chunk.position == position))
            & (!is_prepared | (prepared.position == position));
        let held = self.inner_splitter_sent_held.val();
        self.holds_fifo.next = (held <= 2)
            & (bit_cast::<2, 1>(
                self.inner_splitter_sent_write_pointer.val()
                    - self.inner_splitter_sent_read_pointer.val(),
            ) == (held & 1));
        self.reaches_several.next =
            offers & (count == left) & self.began.q.val() & (self.tail.q.val() == 1);
        if self.reset.val() {
            self.follows.d.next = false;
        }
    }
}
