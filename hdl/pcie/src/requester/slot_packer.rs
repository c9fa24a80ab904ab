//! Fills the beats of AMD's requester request stream with slots.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::{Checked, Parameters, Snk};
use rust_hdl::prelude::*;
use stellar_wire::hw::rq::{DescriptorSlots, ReadSlot, SLOT_BITS};
use stellar_wire::pcie::sideband;

use super::message_gate::LEFT_BITS;
use super::request_signals::{
    cut_signals, end_of, start_of, user_signals, with_rank, BE_BITS, END_BITS, RANKS, START_BITS,
    USER,
};
use crate::bundles::{AxisSrc, SlotsSnk};

/// Most slots at hand: those that wait, and those that come.
const SLOTS: usize = 8;
/// Last double word of a read in its slot.
const READ_END: u64 = 3;

/// `value` if `here`, otherwise zero.
#[hdl_fn]
fn only(here: Bit, value: Bits<4>) -> Bits<4> {
    if here {
        value
    } else {
        bits::<4>(0)
    }
}

/// `descriptor` if `here`, otherwise zero.
#[hdl_fn]
fn descriptor_if(here: Bit, descriptor: Bits<128>) -> Bits<128> {
    if here {
        descriptor
    } else {
        bits::<128>(0)
    }
}

/// Puts slots one behind the other into beats of `W` bits, so that up to `S` = `W` / 256 TLPs begin in a beat. A beat leaves when it is full, or when
/// nothing follows at once and all its TLPs have ended. A read takes the slot behind the end of a write, in the cycle of that end. So it costs no
/// cycle, and it stays behind the writes that came before it.
///
/// A reset cuts no TLP in the stream: a beat on offer stays, and a TLP that has begun ends with `discontinue`, which makes the block drop it. A link that
/// goes down resets the block too (PCIe base specification, section 2.9.1), so then even the beat on offer goes.
///
/// `N` = `W` / 32, `C` = `W` + 256, `D` = 2 `W`, and `tuser` has `U` bits: byte enables, starts and ends of up to `S` TLPs (PG213, PG346: sideband
/// signals of the requester request interface). With straddle the block ignores `tkeep` and `tlast`. Levels: 8 (place, rank, select).
#[derive(LogicBlock, Default)]
pub struct SlotPacker<
    const W: usize,
    const S: usize,
    const N: usize,
    const C: usize,
    const D: usize,
    const U: usize,
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Discards what has not left.
    pub reset: Signal<In, Bit>,
    /// With `reset`: the link is down. The stream begins anew.
    pub link_down: Signal<In, Bit>,

    pub slots: SlotsSnk<C>,
    pub reads: Snk<ReadSlot>,
    /// The next cycle has slots too.
    pub follows: Signal<In, Bit>,
    pub rq: AxisSrc<W, N, U>,
    /// Interrupt messages of the beat that was taken in the cycle before.
    pub messages_left: Signal<Out, Bits<LEFT_BITS>>,

    /// Slots that wait, from the low end; the others are zero. Up to `S`.
    waiting: DFF<Bits<3>>,
    data: DFF<Bits<W>>,
    /// The last TLP in `data` has not ended.
    open: DFF<Bit>,
    /// By slot: a TLP begins or ends in it; the byte enables of the former, and the double word of the latter.
    starts: DFF<Bits<SLOTS>>,
    /// By slot: the TLP is an interrupt message. And how many are in the beat at the output, and have left.
    messages: DFF<Bits<SLOTS>>,
    beat_messages: DFF<Bits<LEFT_BITS>>,
    left: DFF<Bits<LEFT_BITS>>,
    ends: DFF<Bits<SLOTS>>,
    first_be: DFF<Bits<32>>,
    last_be: DFF<Bits<32>>,
    end_dword: DFF<Bits<24>>,
    valid: DFF<Bit>,
    beat: DFF<Bits<W>>,
    /// A TLP has not ended with the beat at the output; with the last beat that was taken.
    beat_open: DFF<Bit>,
    stream_open: DFF<Bit>,
    /// The TLP in the stream has to end with `discontinue`.
    cuts: DFF<Bit>,
    user: DFF<Bits<USER>>,
}

impl<
        const W: usize,
        const S: usize,
        const N: usize,
        const C: usize,
        const D: usize,
        const U: usize,
    > Parameters for SlotPacker<W, S, N, C, D, U>
{
    fn check() {
        assert!(
            matches!(
                (W, S, N, C, D, U),
                (512, 2, 16, 768, 1024, 137)
                    | (512, 2, 16, 768, 1024, 183)
                    | (1024, 4, 32, 1280, 2048, 373)
            ),
            "SlotPacker<{W}, {S}, {N}, {C}, {D}, {U}>: use <512, 2, 16, 768, 1024, 137> (or 183), or <1024, 4, 32, 1280, 2048, 373>"
        );
    }
}

impl<
        const W: usize,
        const S: usize,
        const N: usize,
        const C: usize,
        const D: usize,
        const U: usize,
    > Logic for SlotPacker<W, S, N, C, D, U>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, waiting, data, open, starts, ends, first_be, last_be);
        dff_setup!(self, clock, end_dword, valid, beat, user);
        dff_setup!(self, clock, beat_open, stream_open, cuts);
        dff_setup!(self, clock, messages, beat_messages, left);
        let is_free = !self.valid.q.val() | self.rq.tready.val();
        let cuts = self.cuts.q.val();
        let room = is_free & !cuts;
        let waiting = self.waiting.q.val();
        let run = self.slots.run.val();

        // take: as much as a beat behind a whole beat that waits. Where there is no room at the output, nothing of all this is stored.
        let is_full = waiting.get_bit(S / 2);
        let fits = !is_full | !run.overflows;
        let takes = self.slots.valid.val() & fits;
        self.slots.ready.next = room & fits;
        let written = if takes {
            bit_cast::<4, 3>(waiting) + bit_cast::<4, 3>(run.count)
        } else {
            bit_cast::<4, 3>(waiting)
        };

        // take_read: behind whole writes.
        let open = if takes { !run.last } else { self.open.q.val() };
        let none_before = takes | !self.slots.valid.val();
        let may_read = none_before & !open;
        let has_slot = written < 2 * S as u64;
        let read = self.reads.record.val();
        let wants = may_read & self.reads.valid.val();
        self.reads.ready.next = room & may_read & has_slot;
        let total = written + bit_cast::<4, 1>((wants & has_slot).into());

        // place
        let came = if takes {
            self.slots.data.val()
        } else {
            bits::<C>(0)
        };
        let by_one = if waiting.get_bit(0) {
            bit_cast::<D, C>(came) << SLOT_BITS as u64
        } else {
            bit_cast::<D, C>(came)
        };
        let by_two = if is_full {
            by_one << (W as u64)
        } else if waiting.get_bit(1) {
            by_one << (2 * SLOT_BITS as u64)
        } else {
            by_one
        };
        let mut asked = bits::<SLOTS>(0);
        for slot in 0..2 * S as u64 {
            asked = asked.replace_bit(slot as usize, wants & (written == slot));
        }
        let descriptor = Bits::<128>::from(read.descriptor);
        let nothing = bits::<128>(0);
        let read_at = DescriptorSlots {
            slot_0: descriptor_if(asked.get_bit(0), descriptor),
            above_0: nothing,
            slot_1: descriptor_if(asked.get_bit(1), descriptor),
            above_1: nothing,
            slot_2: descriptor_if(asked.get_bit(2), descriptor),
            above_2: nothing,
            slot_3: descriptor_if(asked.get_bit(3), descriptor),
            above_3: nothing,
            slot_4: descriptor_if(asked.get_bit(4), descriptor),
            above_4: nothing,
            slot_5: descriptor_if(asked.get_bit(5), descriptor),
            above_5: nothing,
            slot_6: descriptor_if(asked.get_bit(6), descriptor),
            above_6: nothing,
            slot_7: descriptor_if(asked.get_bit(7), descriptor),
            above_7: nothing,
        };
        let read_at = bit_cast::<D, 2048>(Bits::<2048>::from(read_at));
        let placed = by_two | bit_cast::<D, W>(self.data.q.val()) | read_at;

        // mark
        let one = bits::<SLOTS>(1);
        let start = if takes & run.first {
            one << waiting
        } else {
            bits::<SLOTS>(0)
        };
        let end = if takes & run.last {
            one << (waiting + (run.count - 1))
        } else {
            bits::<SLOTS>(0)
        };
        let starts = self.starts.q.val() | start;
        let messages = if run.message {
            self.messages.q.val() | start
        } else {
            self.messages.q.val()
        };
        let mut in_beat = bits::<LEFT_BITS>(0);
        for slot in 0..S {
            in_beat = in_beat + bit_cast::<LEFT_BITS, 1>(messages.get_bit(slot).into());
        }
        let ends = self.ends.q.val() | end;
        let mut first_be = self.first_be.q.val();
        let mut last_be = self.last_be.q.val();
        let mut end_dword = self.end_dword.q.val();
        // With the marks of the read.
        let mut first_be_kept = bits::<32>(0);
        let mut last_be_kept = bits::<32>(0);
        let mut end_dword_kept = bits::<24>(0);
        for slot in 0..SLOTS {
            let place = 4 * slot as u64;
            let begins = start.get_bit(slot);
            first_be = first_be | (bit_cast::<32, 4>(only(begins, run.first_be)) << place);
            last_be = last_be | (bit_cast::<32, 4>(only(begins, run.last_be)) << place);
            let stops = bit_cast::<4, 3>(run.end_dword);
            let stops = only(end.get_bit(slot), stops).get_bits::<3>(0);
            end_dword = end_dword | (bit_cast::<24, 3>(stops) << (3 * slot as u64));
            let asks = asked.get_bit(slot);
            let asks_end = only(asks, bits::<4>(READ_END)).get_bits::<3>(0);
            first_be_kept = first_be_kept | (bit_cast::<32, 4>(only(asks, read.first_be)) << place);
            last_be_kept = last_be_kept | (bit_cast::<32, 4>(only(asks, read.last_be)) << place);
            end_dword_kept = end_dword_kept | (bit_cast::<24, 3>(asks_end) << (3 * slot as u64));
        }
        let starts_kept = starts | asked;
        let ends_kept = ends | asked;
        first_be_kept = first_be_kept | first_be;
        last_be_kept = last_be_kept | last_be;
        end_dword_kept = end_dword_kept | end_dword;

        // send
        let fills = total >= S as u64;
        let sends = fills | (total.any() & !open & !self.follows.val());
        if room {
            self.valid.d.next = sends;
            self.open.d.next = open;
            self.waiting.d.next = if fills {
                bit_cast::<3, 4>(total - S as u64)
            } else if sends {
                bits::<3>(0)
            } else {
                bit_cast::<3, 4>(total)
            };
            self.beat.d.next = bit_cast::<W, D>(placed);
            self.beat_open.d.next = fills & !ends_kept.get_bit(S - 1);
            self.beat_messages.d.next = in_beat;
            if sends {
                self.messages.d.next = messages >> S as u64;
                self.data.d.next = bit_cast::<W, D>(placed >> (W as u64));
                self.starts.d.next = starts_kept >> S as u64;
                self.ends.d.next = ends_kept >> S as u64;
                self.first_be.d.next = first_be_kept >> (4 * S as u64);
                self.last_be.d.next = last_be_kept >> (4 * S as u64);
                self.end_dword.d.next = end_dword_kept >> (3 * S as u64);
            } else {
                self.messages.d.next = messages;
                self.data.d.next = bit_cast::<W, D>(placed);
                self.starts.d.next = starts_kept;
                self.ends.d.next = ends_kept;
                self.first_be.d.next = first_be_kept;
                self.last_be.d.next = last_be_kept;
                self.end_dword.d.next = end_dword_kept;
            }
        }

        // describe: the n-th TLP that begins in the beat has the n-th place of `tuser`, and so has the n-th that ends. The read is the last of both.
        let mut first_bes = bits::<BE_BITS>(0);
        let mut last_bes = bits::<BE_BITS>(0);
        let mut begin = bits::<RANKS>(0);
        let mut begin_at = bits::<START_BITS>(0);
        let mut stop = bits::<RANKS>(0);
        let mut stop_at = bits::<END_BITS>(0);
        let mut begun = bits::<3>(0);
        let mut ended = bits::<3>(0);
        let one_rank = bits::<RANKS>(1);
        for slot in 0..S {
            let first = bit_cast::<BE_BITS, 4>(first_be.get_bits::<4>(4 * slot));
            let last = bit_cast::<BE_BITS, 4>(last_be.get_bits::<4>(4 * slot));
            let start_place = bits::<START_BITS>(start_of(W, slot));
            let end_place = end_of(slot, end_dword.get_bits::<3>(3 * slot));
            for rank in 0..slot + 1 {
                let begins = starts.get_bit(slot) & (begun == rank as u64);
                first_bes = with_rank(first_bes, begins, 4, rank, first);
                last_bes = with_rank(last_bes, begins, 4, rank, last);
                begin = with_rank(begin, begins, 1, rank, one_rank);
                begin_at = with_rank(begin_at, begins, 2, rank, start_place);
                let stops = ends.get_bit(slot) & (ended == rank as u64);
                stop = with_rank(stop, stops, 1, rank, one_rank);
                stop_at = with_rank(stop_at, stops, sideband::dword_bits(W), rank, end_place);
            }
            begun = begun + bit_cast::<3, 1>(starts.get_bit(slot).into());
            ended = ended + bit_cast::<3, 1>(ends.get_bit(slot).into());
        }
        let read_first = bit_cast::<BE_BITS, 4>(read.first_be);
        let read_last = bit_cast::<BE_BITS, 4>(read.last_be);
        let reads_here = (asked & ((1 << S) - 1)).any();
        let mut read_start = bits::<START_BITS>(0);
        let mut read_end = bits::<END_BITS>(0);
        for slot in 0..S {
            let here = asked.get_bit(slot);
            let start_place = bits::<START_BITS>(start_of(W, slot));
            read_start = with_rank(read_start, here, 0, 0, start_place);
            read_end = with_rank(read_end, here, 0, 0, end_of(slot, bits::<3>(READ_END)));
        }
        for rank in 0..S {
            let begins = reads_here & (begun == rank as u64);
            first_bes = with_rank(first_bes, begins, 4, rank, read_first);
            last_bes = with_rank(last_bes, begins, 4, rank, read_last);
            begin = with_rank(begin, begins, 1, rank, one_rank);
            begin_at = with_rank(begin_at, begins, 2, rank, read_start);
            let stops = reads_here & (ended == rank as u64);
            stop = with_rank(stop, stops, 1, rank, one_rank);
            stop_at = with_rank(stop_at, stops, sideband::dword_bits(W), rank, read_end);
        }
        let user = user_signals::<W>(first_bes, last_bes, begin, begin_at, stop, stop_at);
        if room {
            self.user.d.next = user;
        }

        // cut
        if is_free & cuts {
            self.valid.d.next = true;
            self.user.d.next = cut_signals::<W>();
            self.beat_open.d.next = false;
            self.beat_messages.d.next = bits(0);
            self.cuts.d.next = false;
        }
        if self.valid.q.val() & self.rq.tready.val() {
            self.stream_open.d.next = self.beat_open.q.val();
            self.left.d.next = self.beat_messages.q.val();
        } else {
            self.left.d.next = bits(0);
        }
        self.messages_left.next = self.left.q.val();

        self.rq.tvalid.next = self.valid.q.val();
        self.rq.tdata.next = self.beat.q.val();
        self.rq.tkeep.next = bit_cast::<N, N>(Bits::<N>::mask());
        self.rq.tlast.next = false;
        self.rq.tuser.next = bit_cast::<U, USER>(self.user.q.val());

        if self.reset.val() {
            self.waiting.d.next = bits::<3>(0);
            self.data.d.next = bits::<W>(0);
            self.open.d.next = false;
            self.starts.d.next = bits::<SLOTS>(0);
            self.messages.d.next = bits::<SLOTS>(0);
            self.beat_messages.d.next = bits(0);
            self.left.d.next = bits(0);
            self.ends.d.next = bits::<SLOTS>(0);
            self.first_be.d.next = bits::<32>(0);
            self.last_be.d.next = bits::<32>(0);
            self.end_dword.d.next = bits::<24>(0);
            self.valid.d.next = !is_free;
            self.cuts.d.next = if self.valid.q.val() {
                self.beat_open.q.val()
            } else {
                self.stream_open.q.val()
            };
            if self.link_down.val() {
                self.valid.d.next = false;
                self.beat_open.d.next = false;
                self.stream_open.d.next = false;
                self.cuts.d.next = false;
            }
        }
    }
}
