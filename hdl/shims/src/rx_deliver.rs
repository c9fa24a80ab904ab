//! Received frames from the FIFO to the card.

use hdl_macros::hdl;
use hdl_primitives::{Checked, DataSnk, MacRxSrc, Parameters};
use rust_hdl::prelude::*;

use crate::frame_word::{check_word, data_of, flags_of, word_of, BeatFlags};

/// Takes an entry of the FIFO per cycle of the card's clock, because the card cannot stall it. A frame whose rest is lost in a reset of the FIFO ends with a
/// beat of one byte and `error`. Latency 1. LUT levels: 1.
#[derive(LogicBlock, Default)]
pub struct RxDeliver<const W: usize, const P: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// The FIFO is in reset: it offers nothing, and what it held is lost.
    pub fifo_reset: Signal<In, Bit>,

    pub in_: DataSnk<Bits<P>>,
    pub rx: MacRxSrc<W>,

    offers: DFF<Bit>,
    word: DFF<Bits<P>>,
    /// The frame that left last is not complete.
    inside: DFF<Bit>,
}

impl<const W: usize, const P: usize> Parameters for RxDeliver<W, P> {
    fn check() {
        check_word("RxDeliver", W, P);
    }
}

impl<const W: usize, const P: usize> Logic for RxDeliver<W, P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, offers, word, inside);
        let arrives = self.in_.valid.val() & !self.fifo_reset.val();
        let ends = self.fifo_reset.val() & self.inside.q.val();
        self.in_.ready.next = true;
        self.offers.d.next = arrives | ends;
        let closing = BeatFlags {
            bytes: bits(1),
            last: true,
            error: true,
        };
        self.word.d.next = if ends {
            word_of::<W, P>(bits::<W>(0), closing)
        } else {
            self.in_.data.val()
        };
        if ends {
            self.inside.d.next = false;
        } else if arrives {
            self.inside.d.next = !flags_of::<P>(self.in_.data.val()).last;
        }
        let flags = flags_of::<P>(self.word.q.val());
        self.rx.valid.next = self.offers.q.val();
        self.rx.data.next = data_of::<W, P>(self.word.q.val());
        self.rx.bytes.next = flags.bytes;
        self.rx.last.next = flags.last;
        self.rx.error.next = flags.error;
    }
}
