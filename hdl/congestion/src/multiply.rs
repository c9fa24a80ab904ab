//! The multiplier of congestion control.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::dsp_multiply::DspMultiply;

/// Cycles from `start` to `done`: operands, partial products, sum.
const LATENCY: usize = 3;
/// Width of `b` for which one DSP is enough.
const NARROW: usize = 17;

/// Multiplies 48 by 17 bits, or 24 by 24 bits, with three DSPs.
///
/// If `a` has more than 24 bits, `b` must have at most 17. Otherwise the product is wrong, because the partial product that a fourth DSP would compute is
/// missing. One product can start in every cycle. Levels: 2 before the last carry chain (three partial products added).
#[derive(LogicBlock, Default)]
pub struct Multiply {
    pub clock: Signal<In, Clock>,
    /// Discards the products in progress.
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub a: Signal<In, Bits<48>>,
    pub b: Signal<In, Bits<24>>,
    /// High [`Multiply::LATENCY`] cycles after `start`.
    pub done: Signal<Out, Bit>,
    /// Valid with `done`.
    pub product: Signal<Out, Bits<65>>,

    low: DspMultiply<24, 17, 41>,
    low_by_high: DspMultiply<24, 7, 31>,
    high_by_low: DspMultiply<24, 17, 41>,
    started: [DFF<Bit>; LATENCY],
    sum: DFF<Bits<65>>,
}

impl Multiply {
    /// Cycles from `start` to `done`.
    pub const LATENCY: usize = LATENCY;
}

impl Logic for Multiply {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, sum);
        clock!(self, clock, low, low_by_high, high_by_low);
        let a = self.a.val();
        let b = self.b.val();
        self.low.a.next = a.get_bits::<24>(0);
        self.low.b.next = b.get_bits::<NARROW>(0);
        self.low_by_high.a.next = a.get_bits::<24>(0);
        self.low_by_high.b.next = b.get_bits::<7>(NARROW);
        self.high_by_low.a.next = a.get_bits::<24>(24);
        self.high_by_low.b.next = b.get_bits::<NARROW>(0);
        self.sum.d.next = bit_cast::<65, 41>(self.low.product.val())
            + (bit_cast::<65, 31>(self.low_by_high.product.val()) << NARROW as u64)
            + (bit_cast::<65, 41>(self.high_by_low.product.val()) << 24);

        for i in 0..LATENCY {
            self.started[i].clock.next = self.clock.val();
            if self.reset.val() {
                self.started[i].d.next = false;
            } else if i == 0 {
                self.started[i].d.next = self.start.val();
            } else {
                self.started[i].d.next = self.started[i - 1].q.val();
            }
        }
        self.done.next = self.started[LATENCY - 1].q.val();
        self.product.next = self.sum.q.val();
    }
}
