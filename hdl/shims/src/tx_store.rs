//! Frames of the card into the FIFO.

use hdl_crossings::gray_pointer::gray_of;
use hdl_macros::hdl;
use hdl_primitives::{Checked, DataOfferSrc, MacTxSnk, Parameters};
use rust_hdl::prelude::*;

use crate::frame_word::{check_word, word_of, BeatFlags};

/// Writes the card's frames to a FIFO on the card's clock, and counts complete ones in gray code for the other side. The counter changes at the edge at
/// which the FIFO takes the last beat.
///
/// - A frame that a reset of the FIFO has lost in part is taken to its end, and not written.
/// - The card's reset may cut a frame. One more beat, of one byte and with `error`, ends it.
///
/// LUT levels: 2.
#[derive(LogicBlock, Default)]
pub struct TxStore<const W: usize, const P: usize, const C: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// The card's reset.
    pub reset: Signal<In, Bit>,
    /// The FIFO is in reset: frames are dropped.
    pub fifo_reset: Signal<In, Bit>,

    pub tx: MacTxSnk<W>,
    pub out: DataOfferSrc<Bits<P>>,
    /// Number of complete frames after this cycle modulo 2^`C`, in gray code: the input of a register that crosses.
    pub complete: Signal<Out, Bits<C>>,

    /// The frame in the FIFO is not complete.
    inside: DFF<Bit>,
    /// The rest of the frame that comes in is dropped.
    skipping: DFF<Bit>,
    frames: DFF<Bits<C>>,
}

impl<const W: usize, const P: usize, const C: usize> Parameters for TxStore<W, P, C> {
    fn check() {
        check_word("TxStore", W, P);
    }
}

impl<const W: usize, const P: usize, const C: usize> Logic for TxStore<W, P, C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, inside, skipping, frames);
        let reset = self.reset.val();
        let drops = self.fifo_reset.val() | self.skipping.q.val();
        let ends = reset & self.inside.q.val();
        let offers = (self.tx.valid.val() & !drops & !reset) | ends;
        let taken = offers & self.out.ready.val() & !self.fifo_reset.val();
        let last = self.tx.last.val() | ends;
        self.out.valid.next = offers;
        let flags = BeatFlags {
            bytes: if ends {
                bits::<8>(1)
            } else {
                self.tx.bytes.val()
            },
            last,
            error: ends,
        };
        let data = if ends {
            bits::<W>(0)
        } else {
            self.tx.data.val()
        };
        self.out.data.next = word_of::<W, P>(data, flags);
        self.tx.ready.next = (self.out.ready.val() & !reset) | drops;

        let frames = if self.fifo_reset.val() {
            bits::<C>(0)
        } else if taken & last {
            self.frames.q.val() + 1
        } else {
            self.frames.q.val()
        };
        self.frames.d.next = frames;
        self.complete.next = gray_of(frames);
        if taken {
            self.inside.d.next = !last;
        }
        if self.fifo_reset.val() {
            self.inside.d.next = false;
        }
        // The beat in flight belongs to the frame that the FIFO loses, or begins one in that time.
        if self.tx.valid.val() & drops {
            self.skipping.d.next = !self.tx.last.val();
        } else if self.fifo_reset.val() & self.inside.q.val() {
            self.skipping.d.next = true;
        }
        if reset {
            self.skipping.d.next = false;
        }
    }
}
