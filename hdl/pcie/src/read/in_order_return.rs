//! Reads complete commands from the ring and outputs their bytes.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{ByteMask, Credit, ReadDataSrc, Snk, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::read::ReadBeat;
use stellar_wire::mtu::LENGTH_BITS;

use super::records::{
    granules, CommandHead, COMMAND_GRANULE_BITS, GRANULE_BITS, GRANULE_BYTE_BITS,
};
use super::ring_buffer::READ_LATENCY;

/// Entries of the output FIFO. From the reservation to the entry's return at full rate: address register 1, buffer 2, mask 1, FIFO 1, counter 1 = 6
/// cycles. 32 is the size of a distributed RAM column.
const FIFO_ADDRESS: usize = 5;
const FIFO_COUNT_BITS: usize = FIFO_ADDRESS + 1;

/// Reads complete commands and outputs their bytes: one beat of `W` bits per cycle, without a pause between commands. `B` = log2(W / 8), `N` = W / 8.
///
/// A beat is read only after an entry of the output FIFO was reserved for it, so the pipeline to the FIFO never stalls. Levels: 4 (load: 13-bit
/// subtract, select).
#[derive(LogicBlock)]
pub struct InOrderReturn<const W: usize, const B: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub head: Snk<CommandHead>,
    /// Granules that become free, in the cycle in which the last beat of the oldest head is read.
    pub freed: Signal<Out, Bits<COMMAND_GRANULE_BITS>>,

    pub read_word: Signal<Out, Bits<14>>,
    /// `ring_buffer::READ_LATENCY` cycles after `read_word`.
    pub read_data: Signal<In, Bits<W>>,

    // A beat moves when valid and ready. Valid does not depend on ready, and a beat stays until taken.
    pub out: ReadDataSrc<W>,

    held: DFF<Bit>,
    current: DFF<CommandHead>,
    /// Beats after the next one.
    beats_left: DFF<Bits<LENGTH_BITS>>,
    next_word: DFF<Bits<14>>,
    /// Number of bytes in the last beat.
    last_bytes: DFF<Bits<8>>,
    credit: Credit<FIFO_COUNT_BITS>,
    sent: DFF<Bit>,
    sent_word: DFF<Bits<14>>,
    sent_beat: DFF<ReadBeat>,
    /// Reads in the pipeline, oldest last.
    reading: [DFF<Bit>; READ_LATENCY],
    reading_beat: [DFF<ReadBeat>; READ_LATENCY],
    lanes: DFF<Bits<N>>,
    mask: ByteMask<W, N>,
    data_fifo: SyncFifo<Bits<W>, FIFO_ADDRESS, FIFO_COUNT_BITS>,
    beat_fifo: SyncFifo<ReadBeat, FIFO_ADDRESS, FIFO_COUNT_BITS>,
}

impl<const W: usize, const B: usize, const N: usize> Default for InOrderReturn<W, B, N> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            head: Default::default(),
            freed: Default::default(),
            read_word: Default::default(),
            read_data: Default::default(),
            out: Default::default(),
            held: Default::default(),
            current: Default::default(),
            beats_left: Default::default(),
            next_word: Default::default(),
            last_bytes: Default::default(),
            credit: Credit::new(1 << FIFO_ADDRESS),
            sent: Default::default(),
            sent_word: Default::default(),
            sent_beat: Default::default(),
            reading: Default::default(),
            reading_beat: Default::default(),
            lanes: Default::default(),
            mask: Default::default(),
            data_fifo: Default::default(),
            beat_fifo: Default::default(),
        }
    }
}

impl<const W: usize, const B: usize, const N: usize> Logic for InOrderReturn<W, B, N> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self, clock, held, current, beats_left, next_word, last_bytes, sent, sent_word,
            sent_beat, lanes
        );
        clock_reset!(self, credit, data_fifo, beat_fifo);

        // load_command: a failed one, and one without bytes, is a single beat without bytes.
        let current = self.current.q.val();
        let last = !self.beats_left.q.val().any();
        let send = self.held.q.val() & self.credit.room.val();
        let accept = !self.held.q.val() | (send & last);
        let head = self.head.record.val();
        let empty = head.failed | !head.length.any();
        let last_byte = head.length - 1;
        if accept {
            self.held.d.next = self.head.valid.val();
            self.current.d.next = head;
            self.next_word.d.next =
                bit_cast::<14, GRANULE_BITS>(head.place) << (GRANULE_BYTE_BITS as u64 - B as u64);
            if empty {
                self.beats_left.d.next = bits(0);
                self.last_bytes.d.next = bits(0);
            } else {
                self.beats_left.d.next = last_byte >> (B as u64);
                self.last_bytes.d.next = bit_cast::<8, B>(last_byte.get_bits::<B>(0)) + 1;
            }
        } else if send {
            self.beats_left.d.next = self.beats_left.q.val() - 1;
            self.next_word.d.next = self.next_word.q.val() + 1;
        }

        // read_word
        self.sent.d.next = send;
        self.sent_word.d.next = self.next_word.q.val();
        self.sent_beat.d.next = ReadBeat {
            bytes: if last {
                self.last_bytes.q.val()
            } else {
                bits(N as u64)
            },
            last: last,
            error: current.failed,
            user: current.user,
        };
        self.read_word.next = self.sent_word.q.val();
        self.freed.next = if send & last {
            granules(current.length)
        } else {
            bits::<COMMAND_GRANULE_BITS>(0)
        };
        self.head.ready.next = accept;

        // wait_for_data
        for i in 0..READ_LATENCY {
            self.reading[i].clock.next = self.clock.val();
            self.reading_beat[i].clock.next = self.clock.val();
            if i == 0 {
                self.reading[i].d.next = self.sent.q.val();
                self.reading_beat[i].d.next = self.sent_beat.q.val();
            } else {
                self.reading[i].d.next = self.reading[i - 1].q.val();
                self.reading_beat[i].d.next = self.reading_beat[i - 1].q.val();
            }
        }
        let all = bit_cast::<N, N>(Bits::<N>::mask());
        let bytes = self.reading_beat[READ_LATENCY - 2].q.val().bytes;
        self.lanes.d.next = !(all << bit_cast::<N, 8>(bytes));

        // mask, and queue
        self.mask.data.next = self.read_data.val();
        self.mask.lanes.next = self.lanes.q.val();
        let arrived = self.reading[READ_LATENCY - 1].q.val();
        self.data_fifo.in_.valid.next = arrived;
        self.data_fifo.in_.data.next = self.mask.masked.val();
        self.beat_fifo.in_.valid.next = arrived;
        self.beat_fifo.in_.data.next = self.reading_beat[READ_LATENCY - 1].q.val();

        // send
        let taken = self.beat_fifo.out.valid.val() & self.out.ready.val();
        join!(
            self,
            out.ready => data_fifo.out.ready,
            out.ready => beat_fifo.out.ready,
            beat_fifo.out.valid => out.valid,
            data_fifo.out.data => out.data,
            beat_fifo.out.data => out.beat,
        );

        // reserve_entry
        self.credit.take.next = send;
        self.credit.give.next = taken;

        if self.reset.val() {
            self.held.d.next = false;
            self.sent.d.next = false;
            for i in 0..READ_LATENCY {
                self.reading[i].d.next = false;
            }
        }
    }
}
