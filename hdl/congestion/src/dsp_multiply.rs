//! A multiplier of one DSP.

use hdl_primitives::sim::text;
use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;

use crate::sim;

/// Multiplies two unsigned numbers with one DSP. `product` is `a * b` of two cycles ago. The registers before and after the multiplier are those of the DSP (AREG, BREG, MREG).
///
/// A DSP48E2 multiplies 27 by 18 signed bits, so `A` is at most 26, `B` at most 17, and `P` = `A` + `B`. There is no reset; two cycles flush the
/// pipeline.
#[derive(LogicBlock, Default)]
pub struct DspMultiply<const A: usize, const B: usize, const P: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub a: Signal<In, Bits<A>>,
    pub b: Signal<In, Bits<B>>,
    pub product: Signal<Out, Bits<P>>,
    /// Operands of the previous cycle.
    _operands: (u64, u64),
}

impl<const A: usize, const B: usize, const P: usize> DspMultiply<A, B, P> {
    /// Cycles from the operands to the product.
    pub const LATENCY: usize = 2;
}

impl<const A: usize, const B: usize, const P: usize> Parameters for DspMultiply<A, B, P> {
    fn check() {
        assert!(
            (1..=26).contains(&A) && (1..=17).contains(&B) && P == A + B,
            "DspMultiply<{A}, {B}, {P}>: use A of 1 to 26, B of 1 to 17 and P = A + B = {}, or several of them",
            A + B
        );
    }
}

impl<const A: usize, const B: usize, const P: usize> Logic for DspMultiply<A, B, P> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let (a, b) = self._operands;
            self.product.next = (a * b).to_bits();
            self._operands = (self.a.val().to_u64(), self.b.val().to_u64());
        }
    }

    fn connect(&mut self) {
        self.product.connect();
    }

    fn hdl(&self) -> Verilog {
        let hardware = format!(
            "\x20 reg [{a}:0] left = {A}'d0;\n\
             \x20 reg [{b}:0] right = {B}'d0;\n\
             \x20 initial product = {P}'d0;\n\
             \x20 always @(posedge clock) begin\n\
             \x20   left <= a;\n\
             \x20   right <= b;\n\
             \x20   product <= {{{B}'d0, left}} * {{{A}'d0, right}};\n\
             \x20 end\n",
            a = A - 1,
            b = B - 1,
        );
        Verilog::Custom(text::<Self>(&hardware, sim::dsp_multiply(A, B)))
    }
}
