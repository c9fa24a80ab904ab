//! Writes the bytes of completions to their places in the buffer.

use hdl_macros::hdl;
use hdl_primitives::ByteRotator;
use rust_hdl::prelude::*;

use super::records::{CheckedBeat, CommandReport, PLACE_BITS};

/// Places of the bytes of one beat.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct BeatPlace {
    /// There are bytes to write.
    place: Bit,
    /// First and last byte in the ring.
    from: Bits<PLACE_BITS>,
    to: Bits<PLACE_BITS>,
    report: CommandReport,
}

/// Writes the bytes of completions to their places in the buffer: one beat of `W` bits per cycle, without stalls. `B` = log2(W / 8), `N` = W / 8.
///
/// The beat is rotated so that each byte is in the lane of its place, and written to one word and the next with byte enables. The rotation is here
/// and not at the read side, so that a command is a contiguous range of bytes: its completions begin at any lane, and the segments of a command
/// may have different alignments. A completion with more or fewer beats than its length, or with an error at its end, fails its command. Reports leave
/// with the write. Levels: place 5 (select, 18-bit subtract), sum 3, lanes 4 (shift by thermometer), rotator 2.
#[derive(LogicBlock, Default)]
pub struct CompletionWriter<const W: usize, const B: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub in_valid: Signal<In, Bit>,
    pub in_beat: Signal<In, CheckedBeat>,
    pub in_data: Signal<In, Bits<W>>,

    /// Word of the buffer, and what to write to it and to the next one.
    pub write_word: Signal<Out, Bits<14>>,
    pub write_low: Signal<Out, Bits<N>>,
    pub write_high: Signal<Out, Bits<N>>,
    pub write_data: Signal<Out, Bits<W>>,
    pub report: Signal<Out, CommandReport>,
    /// One cycle per completion whose payload is damaged.
    pub damaged_seen: Signal<Out, Bit>,

    rotator: ByteRotator<W>,
    /// For the next beat: lanes left, and place of its lane 0.
    left: DFF<Bits<13>>,
    base: DFF<Bits<PLACE_BITS>>,
    data: DFF<Bits<W>>,
    offset: DFF<Bits<8>>,
    /// Lane of the last byte, counted from `base`.
    last_lane: DFF<Bits<B>>,
    beat_base: DFF<Bits<PLACE_BITS>>,
    placed: DFF<BeatPlace>,
    summed: DFF<BeatPlace>,
    word: DFF<Bits<14>>,
    low: DFF<Bits<N>>,
    high: DFF<Bits<N>>,
    reported: DFF<CommandReport>,
    saw_damaged: DFF<Bit>,
}

impl<const W: usize, const B: usize, const N: usize> Logic for CompletionWriter<W, B, N> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, left, base, data, offset, last_lane, beat_base);
        dff_setup!(
            self,
            clock,
            placed,
            summed,
            word,
            low,
            high,
            reported,
            saw_damaged
        );
        clock!(self, clock, rotator);
        let lanes = N as u64;

        // place_beat
        let valid = self.in_valid.val();
        let beat = self.in_beat.val();
        let left = if beat.first {
            beat.lanes
        } else {
            self.left.q.val()
        };
        let base = if beat.first {
            beat.start - bit_cast::<PLACE_BITS, 2>(beat.lead)
        } else {
            self.base.q.val()
        };
        let more = left > lanes;
        // If there are too few beats, lanes remain unused. If there are too many, no lanes remain for the last beat.
        let damaged = beat.place & beat.last & (beat.error | more | !left.any());
        if valid {
            self.left.d.next = if more { left - lanes } else { bits(0) };
            self.base.d.next = base + lanes;
        }
        self.last_lane.d.next = if more {
            Bits::<B>::mask()
        } else {
            left.get_bits::<B>(0) - 1
        };
        self.beat_base.d.next = base;
        // A turn by this much to the right brings lane 0 to `base`.
        let turn = bits::<B>(0) - base.get_bits::<B>(0);
        self.offset.d.next = bit_cast::<8, B>(turn);
        self.data.d.next = self.in_data.val();
        let reports = valid & beat.last;
        self.saw_damaged.d.next = valid & damaged;
        self.damaged_seen.next = self.saw_damaged.q.val();
        self.placed.d.next = BeatPlace {
            place: valid & beat.place & left.any(),
            from: if beat.first { beat.start } else { base },
            to: bits(0),
            report: CommandReport {
                command: beat.report.command,
                finished: reports & beat.report.finished,
                failed: reports & (beat.report.failed | damaged),
            },
        };

        // rotate: the beat and itself again make a window that turns.
        self.rotator.in_valid.next = self.placed.q.val().place;
        self.rotator.in_low.next = self.data.q.val();
        self.rotator.in_high.next = self.data.q.val();
        self.rotator.in_offset.next = self.offset.q.val();

        // find_end
        let mut summed = self.placed.q.val();
        summed.to = self.beat_base.q.val() + bit_cast::<PLACE_BITS, B>(self.last_lane.q.val());
        self.summed.d.next = summed;

        // choose_lanes
        let place = self.summed.q.val();
        let all = bit_cast::<N, N>(Bits::<N>::mask());
        let above = all << bit_cast::<N, B>(place.from.get_bits::<B>(0));
        let below = all >> bit_cast::<N, B>(!place.to.get_bits::<B>(0));
        // A beat ends in the word in which it begins, or in the next one.
        let crosses = place.from.get_bit(B) ^ place.to.get_bit(B);
        self.low.d.next = if !place.place {
            bits(0)
        } else if crosses {
            above
        } else {
            above & below
        };
        self.high.d.next = if place.place & crosses {
            below
        } else {
            bits(0)
        };
        self.word.d.next = bit_cast::<14, PLACE_BITS>(place.from >> (B as u64));
        self.reported.d.next = place.report;

        // write
        self.write_word.next = self.word.q.val();
        self.write_low.next = self.low.q.val();
        self.write_high.next = self.high.q.val();
        self.write_data.next = self.rotator.out_data.val();
        self.report.next = self.reported.q.val();

        if self.reset.val() {
            self.placed.d.next.place = false;
            self.placed.d.next.report.finished = false;
            self.placed.d.next.report.failed = false;
            self.summed.d.next.place = false;
            self.summed.d.next.report.finished = false;
            self.summed.d.next.report.failed = false;
            self.low.d.next = bits(0);
            self.high.d.next = bits(0);
            self.reported.d.next.finished = false;
            self.reported.d.next.failed = false;
        }
    }
}
