//! Received frames on their way into the FIFO, or not.

use hdl_macros::hdl;
use hdl_primitives::{Checked, DataFlowSrc, MacRxSnk, Parameters};
use rust_hdl::prelude::*;

use crate::frame_word::{check_word, word_of, BeatFlags};

/// Bytes of the longest frame: one of 9,216 bytes of payload with all headers.
pub const MOST_BYTES: usize = 9_600;
/// Entries that may have been written and are not in `count` yet: in the register `offers`, in the FIFO's pointer, and in the register `room`. One to spare.
const UNCOUNTED: usize = 4;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Part {
    /// The next beat is the first one of a frame.
    Between,
    /// The beats of the frame are admitted.
    Admits,
    /// The beats of the frame are dropped.
    Drops,
}

/// Admits frames from a MAC to a FIFO of 2^(`C` - 1) beats of `W` bits, on the MAC's clock. `P` is `W` and [`FLAG_BITS`](crate::frame_word::FLAG_BITS).
///
/// The MAC cannot wait, so the decision is made at the first beat: there must be room for the longest frame. A frame is admitted whole or dropped whole, and
/// after an overrun the next frame that finds room is admitted. A frame of more than [`MOST_BYTES`] bytes is cut there and marked as damaged.
///
/// Latency 1. LUT levels: 2.
#[derive(LogicBlock, Default)]
pub struct RxAdmit<const W: usize, const P: usize, const C: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// The MAC is in reset: the next beat begins a frame.
    pub mac_reset: Signal<In, Bit>,
    /// The FIFO is in reset: nothing enters.
    pub fifo_reset: Signal<In, Bit>,

    pub rx: MacRxSnk<W>,
    /// Entries of the FIFO, as its write side knows.
    pub count: Signal<In, Bits<C>>,
    /// To the FIFO, which has room.
    pub out: DataFlowSrc<Bits<P>>,
    /// High for one cycle: a frame was dropped, or cut because it is too long.
    pub dropped: Signal<Out, Bit>,

    part: DFF<Part>,
    /// Beats of the frame that have been admitted.
    beats: DFF<Bits<8>>,
    room: DFF<Bit>,
    offers: DFF<Bit>,
    word: DFF<Bits<P>>,
    lost: DFF<Bit>,
}

impl<const W: usize, const P: usize, const C: usize> RxAdmit<W, P, C> {
    /// Beats of the longest frame.
    pub const MOST_BEATS: usize = MOST_BYTES * 8 / W;
    /// Entries of the FIFO up to which a frame is admitted.
    const ADMITS_UP_TO: u64 = ((1 << (C - 1)) - Self::MOST_BEATS - UNCOUNTED) as u64;
}

impl<const W: usize, const P: usize, const C: usize> Parameters for RxAdmit<W, P, C> {
    fn check() {
        check_word("RxAdmit", W, P);
        assert!(
            C <= 16 && (1 << (C - 1)) >= 2 * Self::MOST_BEATS,
            "RxAdmit with C = {C}: use a FIFO of twice the longest frame, which has {} beats, up to C = 16",
            Self::MOST_BEATS
        );
    }
}

impl<const W: usize, const P: usize, const C: usize> Logic for RxAdmit<W, P, C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, part, beats, room, offers, word, lost);
        self.room.d.next = (self.count.val() <= Self::ADMITS_UP_TO) & !self.fifo_reset.val();
        let arrives = self.rx.valid.val() & !self.mac_reset.val();
        let last = self.rx.last.val();
        let part = self.part.q.val();
        let first = part == Part::Between;
        let begins = arrives & first & self.room.q.val();
        let goes_on = arrives & (part == Part::Admits) & !self.fifo_reset.val();
        let cut = goes_on & !last & (self.beats.q.val() == (Self::MOST_BEATS as u64 - 1));
        self.offers.d.next = begins | goes_on;
        let flags = BeatFlags {
            bytes: self.rx.bytes.val(),
            last: last | cut,
            error: (last & self.rx.error.val()) | cut,
        };
        self.word.d.next = word_of::<W, P>(self.rx.data.val(), flags);
        self.lost.d.next = cut | (arrives & first & !self.room.q.val());
        if arrives {
            self.beats.d.next = if first {
                bits::<8>(1)
            } else {
                self.beats.q.val() + 1
            };
            if last {
                self.part.d.next = Part::Between;
            } else if cut {
                self.part.d.next = Part::Drops;
            } else if first {
                if self.room.q.val() {
                    self.part.d.next = Part::Admits;
                } else {
                    self.part.d.next = Part::Drops;
                }
            } else if self.fifo_reset.val() {
                self.part.d.next = Part::Drops;
            }
        }
        // A reset of the FIFO loses the frame, also if no beat comes in that time.
        if self.fifo_reset.val() & (part == Part::Admits) & !arrives {
            self.part.d.next = Part::Drops;
        }
        if self.mac_reset.val() {
            self.part.d.next = Part::Between;
        }
        self.out.valid.next = self.offers.q.val();
        self.out.data.next = self.word.q.val();
        self.dropped.next = self.lost.q.val();
    }
}
