//! Reads the payload of memory writes from the packet buffer, one beat per cycle.

use hdl_macros::hdl;
use hdl_primitives::{FlowSrc, Snk};
use rust_hdl::prelude::*;

use crate::byte_enables;
use crate::records::{FetchedBeat, RequestChunk};

/// Entries of the output FIFO, which this block reserves. At full rate an entry is in use for 8 cycles: address register 1, buffer 2, rotator 2,
/// mask 1, FIFO 1, credit 1. A column of distributed RAM has 32 entries.
pub const FIFO_ENTRIES: usize = 1 << FIFO_ADDRESS;
/// Address bits of the output FIFO.
pub const FIFO_ADDRESS: usize = 5;

/// Reads the payload of memory writes from the packet buffer, one beat per cycle.
///
/// `B` is log2 of the bytes of a beat, 4 to 7.
///
/// A beat for the output FIFO is sent only after an entry of the FIFO is reserved; this includes fences, which pass through the FIFO too. The FIFO
/// returns entries by `entry_freed`. So the pipeline from here to the FIFO never stalls.
/// Levels: 4 (load: 11-bit subtract; ready: compare, chain).
#[derive(LogicBlock, Default)]
pub struct BeatFetch<const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub chunk: Snk<RequestChunk>,

    /// One entry left the output FIFO.
    pub entry_freed: Signal<In, Bit>,

    /// Address of the beat to read, together with the next beat. From a register.
    pub read_beat: Signal<Out, Bits<12>>,
    /// The beat, valid in the same cycle as `read_beat`.
    pub beat: FlowSrc<FetchedBeat>,

    held: DFF<Bit>,
    current: DFF<RequestChunk>,
    /// Beats after the next one.
    beats_left: DFF<Bits<11>>,
    next_beat: DFF<Bits<12>>,
    first: DFF<Bit>,
    last_lane: DFF<Bits<7>>,
    /// Number of reserved entries. The top bit is set when all entries are reserved.
    entries_out: DFF<Bits<6>>,

    sent: DFF<Bit>,
    sent_beat: DFF<FetchedBeat>,
    sent_address: DFF<Bits<12>>,
}

impl<const B: usize> Logic for BeatFetch<B> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            held,
            current,
            beats_left,
            next_beat,
            first,
            last_lane,
            entries_out,
            sent,
            sent_beat,
            sent_address
        );
        let current = self.current.q.val();
        let needs_entry = current.place | current.end.fence;
        let last = !self.beats_left.q.val().any();
        let send =
            self.held.q.val() & (!self.entries_out.q.val().get_bit(FIFO_ADDRESS) | !needs_entry);
        let accept = !self.held.q.val() | (send & last);

        // load_chunk
        let chunk = self.chunk.record.val();
        let header = chunk.header;
        let last_dword = header.length_dw - 1;
        let end_enables = if header.last_be.any() {
            header.last_be
        } else {
            header.first_be
        };
        let end_lane = byte_enables::highest_lane(end_enables);
        if accept {
            self.held.d.next = self.chunk.valid.val();
            self.current.d.next = chunk;
            self.beats_left.d.next = if chunk.place {
                last_dword >> (B as u64 - 2)
            } else {
                bits(0)
            };
            self.next_beat.d.next = chunk.position.get_bits::<12>(B);
            self.first.d.next = true;
            self.last_lane.d.next =
                (bit_cast::<7, 11>(last_dword) << 2) | bit_cast::<7, 2>(end_lane);
        } else if send {
            self.beats_left.d.next = self.beats_left.q.val() - 1;
            self.next_beat.d.next = self.next_beat.q.val() + 1;
            self.first.d.next = false;
        }

        // reserve_entry
        let reserve = send & needs_entry;
        if reserve & !self.entry_freed.val() {
            self.entries_out.d.next = self.entries_out.q.val() + 1;
        } else if !reserve & self.entry_freed.val() {
            self.entries_out.d.next = self.entries_out.q.val() - 1;
        }

        // send_beat
        self.sent.d.next = send;
        self.sent_address.d.next = self.next_beat.q.val();
        let mut end = current.end;
        end.free = current.end.free & last;
        self.sent_beat.d.next = FetchedBeat {
            place: current.place,
            end: end,
            header: current.header,
            first: self.first.q.val(),
            last: last,
            byte: bit_cast::<7, B>(current.position.get_bits::<B>(0)),
            last_lane: if last {
                bit_cast::<7, B>(self.last_lane.q.val().get_bits::<B>(0))
            } else {
                bits(127)
            },
        };

        self.chunk.ready.next = accept;
        self.read_beat.next = self.sent_address.q.val();
        self.beat.valid.next = self.sent.q.val();
        self.beat.record.next = self.sent_beat.q.val();

        if self.reset.val() {
            self.held.d.next = false;
            self.sent.d.next = false;
            self.entries_out.d.next = bits(0);
        }
    }
}
