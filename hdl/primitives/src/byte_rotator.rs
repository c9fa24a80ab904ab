//! Takes a beat at any byte offset out of two neighbouring beats.

use rust_hdl::prelude::*;

use crate::parameters::{Checked, Parameters};
use crate::sim;

/// Takes a beat at any byte offset out of two neighbouring beats: `out_data` is the `W` bits at byte `in_offset` of the window `{in_high, in_low}`, two cycles later.
///
/// Cycle 1 shifts by the upper half of the offset, cycle 2 by the lower half: at `W` = 1,024 that is 16:1 and 8:1, two levels of 4:1
/// multiplexers (one LUT6 each) per cycle. `out_data` holds while no valid window passes.
#[derive(LogicBlock, Default)]
pub struct ByteRotator<const W: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub in_valid: Signal<In, Bit>,
    pub in_low: Signal<In, Bits<W>>,
    pub in_high: Signal<In, Bits<W>>,
    /// First byte taken, 0 to `W / 8 - 1`. Higher bits are ignored.
    pub in_offset: Signal<In, Bits<8>>,
    pub out_valid: Signal<Out, Bit>,
    pub out_data: Signal<Out, Bits<W>>,
    _between: Option<Bits<W>>,
}

impl<const W: usize> ByteRotator<W> {
    /// Cycles from the window to its bytes.
    pub const LATENCY: usize = 2;
    /// Bits of an offset.
    const OFFSET_BITS: usize = (W / 8).trailing_zeros() as usize;
    /// Offset bits left to the second cycle.
    const FINE_BITS: usize = Self::OFFSET_BITS / 2;
}

impl<const W: usize> Parameters for ByteRotator<W> {
    fn check() {
        assert!(
            (32..=2048).contains(&W) && W.is_power_of_two(),
            "ByteRotator of {W} bits: use a power of two from 32 to 2,048"
        );
    }
}

impl<const W: usize> Logic for ByteRotator<W> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.out_valid.next = self._between.is_some();
            if let Some(data) = self._between {
                self.out_data.next = data;
            }
            self._between = self.in_valid.val().then(|| {
                let shift = 8 * (self.in_offset.val().index() % (W / 8));
                let (low, high) = (self.in_low.val(), self.in_high.val());
                let window = |at: usize| {
                    if at < W {
                        low.get_bit(at)
                    } else {
                        high.get_bit(at - W)
                    }
                };
                (0..W).fold(Bits::default(), |out: Bits<W>, i| {
                    out.replace_bit(i, window(i + shift))
                })
            });
        }
    }

    fn connect(&mut self) {
        self.out_valid.connect();
        self.out_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let (offset, fine) = (Self::OFFSET_BITS, Self::FINE_BITS);
        // The second clock still shifts by up to 2^fine - 1 bytes.
        let partial = W + 8 * ((1 << fine) - 1);
        let hardware = format!(
            "  reg valid_1;
  reg [{partial_top}:0] partial;
  reg [{fine_top}:0] fine;
  wire [{window_top}:0] coarse_shifted = {{in_high, in_low}} >> {{in_offset[{offset_top}:{fine}], {zeros}'b0}};
  wire [{partial_top}:0] fine_shifted = partial >> {{fine, 3'b0}};
  initial valid_1 = 1'b0;
  initial out_valid = 1'b0;
  initial out_data = {W}'b0;
  always @(posedge clock) begin
    valid_1 <= in_valid;
    out_valid <= valid_1;
    if (in_valid) begin
      partial <= coarse_shifted[{partial_top}:0];
      fine <= in_offset[{fine_top}:0];
    end
    if (valid_1) out_data <= fine_shifted[{data_top}:0];
  end
",
            partial_top = partial - 1,
            fine_top = fine - 1,
            window_top = 2 * W - 1,
            offset_top = offset - 1,
            zeros = fine + 3,
            data_top = W - 1,
        );
        Verilog::Custom(sim::text::<Self>(&hardware, sim::byte_rotator()))
    }
}
