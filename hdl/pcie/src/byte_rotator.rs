//! Selects one beat at any byte of a two-beat window.

use rust_hdl::prelude::*;

/// `out` is `W` bits of `{high, low}` from byte `offset` on, [`ByteRotator::LATENCY`] clocks later. `B` is log2(W / 8).
///
/// Two registered stages: shift by multiples of 2^(B/2) bytes, then by bytes. At W = 1,024 a 16:1 and an 8:1 multiplexer: 2 LUT6 levels each.
#[derive(LogicBlock)]
pub struct ByteRotator<const W: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub low: Signal<In, Bits<W>>,
    pub high: Signal<In, Bits<W>>,
    pub offset: Signal<In, Bits<B>>,
    pub out: Signal<Out, Bits<W>>,
    /// After the first stage: the window that is still needed, and the bytes still to shift by.
    _coarse: (Vec<bool>, usize),
}

impl<const W: usize, const B: usize> ByteRotator<W, B> {
    /// Clocks from `low`, `high` and `offset` to `out`.
    pub const LATENCY: usize = 2;
    /// Address bits of the second stage.
    const FINE: usize = B / 2;
    /// Bits of the window after the first stage.
    const COARSE_WIDTH: usize = W + ((1 << Self::FINE) - 1) * 8;
}

impl<const W: usize, const B: usize> Default for ByteRotator<W, B> {
    fn default() -> Self {
        assert!(
            W == 8 << B && B >= 2,
            "ByteRotator<{W}, {B}>: use B of at least 2 and W = 8 * 2^B = {}",
            8usize << B
        );
        Self {
            clock: Default::default(),
            low: Default::default(),
            high: Default::default(),
            offset: Default::default(),
            out: Default::default(),
            _coarse: (vec![false; Self::COARSE_WIDTH], 0),
        }
    }
}

impl<const W: usize, const B: usize> Logic for ByteRotator<W, B> {
    fn update(&mut self) {
        if !self.clock.pos_edge() {
            return;
        }
        let (coarse, fine) = &self._coarse;
        let mut out = Bits::<W>::default();
        for i in 0..W {
            out = out.replace_bit(i, coarse[i + fine * 8]);
        }
        self.out.next = out;

        let (low, high) = (self.low.val(), self.high.val());
        let offset = self.offset.val().index();
        let fine = offset % (1 << Self::FINE);
        let skip = (offset - fine) * 8;
        let coarse = (skip..skip + Self::COARSE_WIDTH)
            .map(|i| {
                if i < W {
                    low.get_bit(i)
                } else {
                    i < 2 * W && high.get_bit(i - W)
                }
            })
            .collect();
        self._coarse = (coarse, fine);
    }

    fn connect(&mut self) {
        self.out.connect();
    }

    fn hdl(&self) -> Verilog {
        let (fine, width) = (Self::FINE, Self::COARSE_WIDTH);
        Verilog::Custom(format!(
            "// @module {name}\n\
             \x20 wire [{window}:0] shifted = {{high, low}} >> {{offset[{top}:{fine}], {coarse_zeros}'d0}};\n\
             \x20 reg [{last}:0] coarse = {width}'d0;\n\
             \x20 reg [{fine_top}:0] fine = {fine}'d0;\n\
             \x20 wire [{last}:0] aligned = coarse >> {{fine, 3'd0}};\n\
             \x20 initial out = {W}'d0;\n\
             \x20 always @(posedge clock) begin\n\
             \x20   coarse <= shifted[{last}:0];\n\
             \x20   fine <= offset[{fine_top}:0];\n\
             \x20   out <= aligned[{out_top}:0];\n\
             \x20 end\n\
             //@ assign gate_active = coarse != shifted[{last}:0] || fine != offset[{fine_top}:0] || out != aligned[{out_top}:0];\n",
            name = std::any::type_name::<Self>(),
            window = 2 * W - 1,
            top = B - 1,
            coarse_zeros = fine + 3,
            last = width - 1,
            fine_top = fine - 1,
            out_top = W - 1,
        ))
    }
}
