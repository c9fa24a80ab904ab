//! Received frames from the FIFO to the card.

use hdl_macros::hdl;
use hdl_primitives::{DataSnk, MacRxSrc};
use rust_hdl::prelude::*;

use crate::frame_beat::FrameBeat;

/// Takes an entry of the FIFO per cycle of the card's clock, because the card cannot stall it. A frame whose rest is lost in a reset of the FIFO ends with a
/// beat of one byte and `error`. Latency 1. LUT levels: 1.
#[derive(LogicBlock, Default)]
pub struct RxDeliver {
    pub clock: Signal<In, Clock>,
    /// The FIFO is in reset: it offers nothing, and what it held is lost.
    pub fifo_reset: Signal<In, Bit>,

    pub in_: DataSnk<FrameBeat>,
    pub rx: MacRxSrc<512>,

    offers: DFF<Bit>,
    beat: DFF<FrameBeat>,
    /// The frame that left last is not complete.
    inside: DFF<Bit>,
}

impl Logic for RxDeliver {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, offers, beat, inside);
        let arrives = self.in_.valid.val() & !self.fifo_reset.val();
        let ends = self.fifo_reset.val() & self.inside.q.val();
        self.in_.ready.next = true;
        self.offers.d.next = arrives | ends;
        self.beat.d.next = if ends {
            FrameBeat {
                data: bits(0),
                bytes: bits(1),
                last: true,
                error: true,
            }
        } else {
            self.in_.data.val()
        };
        if ends {
            self.inside.d.next = false;
        } else if arrives {
            self.inside.d.next = !self.in_.data.val().last;
        }
        let beat = self.beat.q.val();
        self.rx.valid.next = self.offers.q.val();
        self.rx.data.next = beat.data;
        self.rx.bytes.next = bit_cast::<8, 7>(beat.bytes);
        self.rx.last.next = beat.last;
        self.rx.error.next = beat.error;
    }
}
