//! Puts payload behind headers. The output is the beats of a frame with zeros in place of the iCRC.

use hdl_macros::hdl;
use hdl_primitives::{ByteMask, ByteRotator, Checked, Parameters, Snk};
use rust_hdl::prelude::*;

use crate::records::{FrameHeader, FrameLayout, TxBeat};

/// Cycles from a valid header to the first beat of its frame, if nothing stalls.
pub const LATENCY: usize = 4;

/// Puts the payload of each frame behind its headers. A beat has `W` bits and `N` = W / 8 = 2^`B` bytes.
///
/// A frame begins when its header and all of its payload are there. An acknowledgement begins before a request, which may wait for its payload. Then its beats
/// follow each other, except in cycles without `room`. The first beat of the next frame follows the last one directly. A payload beat passes the rotator
/// together with the previous one, which supplies the bytes in front; bytes of a rotated beat that are not payload are masked. A frame whose payload could not
/// be read sends nothing, and takes one cycle or two. LUT levels: from the counter to the next state 5 (8-bit compare 2, end 1, begin 1, load 1), mask 4, rotator 2
/// per cycle; behind the block RAM of the payload's ends 3.
#[derive(LogicBlock, Default)]
pub struct FrameAssembler<const W: usize, const N: usize, const B: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Of an acknowledgement, which has no payload.
    pub answer: Snk<FrameHeader>,
    pub request: Snk<FrameHeader>,

    /// This and the following `payload_` signals connect to the outputs of [`crate::PayloadBuffer`], which describes them.
    pub payload_waiting: Signal<In, Bit>,
    pub payload_start: Signal<Out, Bit>,
    pub payload_data: Signal<In, Bits<W>>,
    pub payload_last: Signal<In, Bit>,
    pub payload_error: Signal<In, Bit>,
    pub payload_take: Signal<Out, Bit>,
    /// Number of payload beats of a frame, in the cycle after that in which the last of them is used; otherwise 0.
    pub payload_freed: Signal<Out, Bits<8>>,
    /// High for one cycle: a frame was dropped, because its payload could not be read.
    pub left_out: Signal<Out, Bit>,
    /// High for one cycle: a packet's payload had more or fewer beats than its record. Frames are wrong until a reset.
    pub payload_mismatch: Signal<Out, Bit>,

    /// A beat may leave.
    pub room: Signal<In, Bit>,
    /// One cycle per beat, when it is issued.
    pub issued: Signal<Out, Bit>,

    pub out_valid: Signal<Out, Bit>,
    pub out_data: Signal<Out, Bits<W>>,
    pub out_beat: Signal<Out, TxBeat>,

    // The current frame.
    busy: DFF<Bit>,
    layout: DFF<FrameLayout>,
    /// By how many bytes the payload is rotated. A register of its own, because it moves every bit of a beat.
    rotation: DFF<Bits<8>>,
    /// Header bytes that were not sent yet.
    headers: DFF<Bits<1232>>,
    beat: DFF<Bits<8>>,
    /// The previous payload beat.
    held: DFF<Bits<W>>,
    mismatch: DFF<Bit>,
    freed: DFF<Bits<8>>,

    rotator: ByteRotator<W>,
    // Parallel to the rotator's first cycle.
    placed_valid: DFF<Bit>,
    placed_header: DFF<Bits<W>>,
    placed: DFF<TxBeat>,
    /// Range of payload bytes in this beat: first byte, and byte behind the last one; `payload` says whether there are any.
    from: DFF<Bits<7>>,
    below: DFF<Bits<8>>,
    payload: DFF<Bit>,
    // Registers parallel to the second stage of the rotator.
    rotated_valid: DFF<Bit>,
    rotated_header: DFF<Bits<W>>,
    rotated: DFF<TxBeat>,
    rotated_lanes: DFF<Bits<N>>,
    mask: ByteMask<W, N>,

    valid: DFF<Bit>,
    data: DFF<Bits<W>>,
    info: DFF<TxBeat>,
}

impl<const W: usize, const N: usize, const B: usize> Parameters for FrameAssembler<W, N, B> {
    fn check() {
        assert!(
            (B == 6 || B == 7) && N == 1 << B && W == 8 * N,
            "FrameAssembler<{W}, {N}, {B}>: use <512, 64, 6> or <1024, 128, 7>"
        );
    }
}

impl<const W: usize, const N: usize, const B: usize> Logic for FrameAssembler<W, N, B> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, layout, rotation, headers, beat, held, mismatch, freed);
        dff_setup!(
            self,
            clock,
            placed_valid,
            placed_header,
            placed,
            from,
            below,
            payload
        );
        dff_setup!(
            self,
            clock,
            rotated_valid,
            rotated_header,
            rotated,
            rotated_lanes
        );
        dff_setup!(self, clock, valid, data, info);
        clock!(self, clock, rotator);

        // issue
        let layout = self.layout.q.val();
        let beat = self.beat.q.val();
        let last = beat == layout.last_beat;
        // The beat in front of the payload buffer is the frame's first until the frame takes it. It comes from a block RAM, so whether it is an error stops few registers
        // only. The next frame does not wait to hear it: behind a frame that fails, which still looks busy, it begins a cycle later.
        let starts = self.busy.q.val() & (beat == 0);
        let failed = starts & layout.has_payload & self.payload_error.val();
        let moves = self.busy.q.val() & self.room.val();
        let issue = moves & !failed;
        let ends = (issue & last) | failed;
        let free = (moves & last) | !self.busy.q.val();
        let request = self.request.record.val();
        let has_payload = request.layout.has_payload;
        let complete = self.payload_waiting.val() | !has_payload;
        let answers = self.answer.valid.val();
        let begins_request = self.request.valid.val() & complete & free & !answers;
        let begins = begins_request | (answers & free);
        let next = if answers {
            self.answer.record.val()
        } else {
            request
        };
        self.answer.ready.next = free;
        self.request.ready.next = begins_request;
        self.payload_start.next = begins_request & has_payload;
        self.issued.next = issue;
        if begins {
            self.busy.d.next = true;
            self.layout.d.next = next.layout;
            // Headers never end with a beat, so the payload always begins behind the first byte of one.
            let payload_at = next.layout.payload_at;
            self.rotation.d.next = bits::<8>(0) - bit_cast::<8, 7>(payload_at);
            self.headers.d.next = next.bytes;
            self.beat.d.next = bits(0);
        } else if moves {
            self.busy.d.next = !last & !failed;
            self.headers.d.next = self.headers.q.val() >> (W as u64);
            self.beat.d.next = beat + 1;
        } else if failed {
            self.busy.d.next = false;
        }
        self.left_out.next = failed;
        self.freed.d.next = if ends {
            layout.payload_beats
        } else {
            bits::<8>(0)
        };
        self.payload_freed.next = self.freed.q.val();

        // take_payload
        let into = beat - layout.payload_beat;
        let reached = beat >= layout.payload_beat;
        let uses = moves & reached & (into < layout.payload_beats);
        let take = uses & !failed;
        self.payload_take.next = uses | failed;
        if uses {
            self.held.d.next = self.payload_data.val();
        }
        let final_beat = into + 1 == layout.payload_beats;
        let wrong_end = final_beat != self.payload_last.val();
        self.mismatch.d.next = (take & wrong_end) | (failed & !self.payload_last.val());
        self.payload_mismatch.next = self.mismatch.q.val();
        self.rotator.in_valid.next = issue;
        self.rotator.in_low.next = self.held.q.val();
        self.rotator.in_high.next = self.payload_data.val();
        self.rotator.in_offset.next = self.rotation.q.val();

        // place
        let at_end = beat == layout.end_beat;
        self.placed_valid.d.next = issue;
        self.placed_header.d.next = bit_cast::<W, 1232>(self.headers.q.val());
        self.placed.d.next = TxBeat {
            nesting: layout.nesting,
            first: beat == 0,
            second: beat == 1,
            last,
            bytes: if last {
                layout.last_bytes
            } else {
                bits::<8>(N as u64)
            },
            icrc: beat == layout.icrc_beat,
            icrc_at: layout.icrc_at,
            icrc_rest: beat > layout.icrc_beat,
        };
        self.payload.d.next = reached & (beat <= layout.end_beat);
        self.from.d.next = if beat == layout.payload_beat {
            layout.payload_at
        } else {
            bits::<7>(0)
        };
        self.below.d.next = if at_end {
            bit_cast::<8, 7>(layout.end_at)
        } else {
            bits::<8>(N as u64)
        };

        // choose_lanes
        let all = Bits::<N>::mask();
        let onwards = all << self.from.q.val().to_u64();
        let behind = all << self.below.q.val().to_u64();
        self.rotated_valid.d.next = self.placed_valid.q.val();
        self.rotated_header.d.next = self.placed_header.q.val();
        self.rotated.d.next = self.placed.q.val();
        self.rotated_lanes.d.next = if self.payload.q.val() {
            onwards & !behind
        } else {
            bits::<N>(0)
        };

        // merge
        self.mask.data.next = self.rotator.out_data.val();
        self.mask.lanes.next = self.rotated_lanes.q.val();
        self.valid.d.next = self.rotated_valid.q.val();
        self.data.d.next = self.rotated_header.q.val() | self.mask.masked.val();
        self.info.d.next = self.rotated.q.val();

        self.out_valid.next = self.valid.q.val();
        self.out_data.next = self.data.q.val();
        self.out_beat.next = self.info.q.val();

        if self.reset.val() {
            self.busy.d.next = false;
            self.mismatch.d.next = false;
            self.freed.d.next = bits(0);
            self.placed_valid.d.next = false;
            self.rotated_valid.d.next = false;
            self.valid.d.next = false;
        }
    }
}
