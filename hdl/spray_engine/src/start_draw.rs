//! First path of a queue pair.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::key_stream::times_nibble;

/// Cycles from a word to the path.
pub const LATENCY: usize = 2;

/// Converts a word into a number below `paths`: the high half of their product.
///
/// LUT levels: 3 and two carry chains; 1 and a carry chain.
#[derive(LogicBlock, Default)]
pub struct StartDraw {
    pub clock: Signal<In, Clock>,
    pub word: Signal<In, Bits<32>>,
    /// At most 128.
    pub paths: Signal<In, Bits<8>>,
    pub start: Signal<Out, Bits<7>>,
    low: DFF<Bits<40>>,
    high: DFF<Bits<40>>,
    drawn: DFF<Bits<7>>,
}

impl Logic for StartDraw {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, low, high, drawn);
        let paths = self.paths.val();
        self.low.d.next = times_nibble(self.word.val(), paths.get_bits::<4>(0));
        self.high.d.next = times_nibble(self.word.val(), paths.get_bits::<4>(4));
        let product = self.low.q.val() + (self.high.q.val() << 4);
        self.drawn.d.next = product.get_bits::<7>(32);
        self.start.next = self.drawn.q.val();
    }
}
