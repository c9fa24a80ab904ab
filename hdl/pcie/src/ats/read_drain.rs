//! Tells when the reads of a moment have ended.

use hdl_macros::hdl;
use hdl_primitives::{FlowSnk, LutRam};
use rust_hdl::prelude::*;

use crate::read::records::TAG_BITS;

const COUNT_BITS: usize = TAG_BITS + 1;

/// Counts the outstanding reads of an engine, and those of them that were outstanding when a drain began. Reads that begin later do not delay it.
///
/// Each drain begins a new side, 0 or 1 in turn, and a read belongs to the side of the moment in which it began. The next drain begins when this one is
/// done, so two sides are enough. Levels: 3 (side of a tag, count).
#[derive(LogicBlock, Default)]
pub struct ReadDrain {
    pub clock: Signal<In, Clock>,
    /// Forgets all reads.
    pub reset: Signal<In, Bit>,

    /// Tag of a read that begins.
    pub asked: FlowSnk<Bits<8>>,
    /// Tag of a read that is no longer outstanding: its completions have come, or will not be waited for.
    pub ended: FlowSnk<Bits<8>>,

    /// One cycle while `done`: begins a drain. What begins in this cycle belongs to it.
    pub drain: Signal<In, Bit>,
    /// No read is outstanding that was when the last drain began. Valid from the cycle after `drain`.
    pub done: Signal<Out, Bit>,

    sides: LutRam<Bit, TAG_BITS>,
    side: DFF<Bit>,
    outstanding: DFF<Bits<COUNT_BITS>>,
    before: DFF<Bits<COUNT_BITS>>,
}

impl Logic for ReadDrain {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, side, outstanding, before);
        clock!(self, clock, sides);
        let side = self.side.q.val();
        let asks = self.asked.valid.val();
        let ends = self.ended.valid.val();
        self.sides.write_enable.next = asks;
        self.sides.write_address.next = self.asked.record.val();
        self.sides.write_data.next = side;
        self.sides.read_address.next = self.ended.record.val();
        let of_before = ends & (self.sides.read_data.val() != side);

        let outstanding = self.outstanding.q.val() + bit_cast::<COUNT_BITS, 1>(asks.into())
            - bit_cast::<COUNT_BITS, 1>(ends.into());
        self.outstanding.d.next = outstanding;
        if self.drain.val() {
            self.side.d.next = !side;
            self.before.d.next = outstanding;
        } else {
            self.before.d.next = self.before.q.val() - bit_cast::<COUNT_BITS, 1>(of_before.into());
        }
        self.done.next = !self.before.q.val().any();

        if self.reset.val() {
            self.outstanding.d.next = bits(0);
            self.before.d.next = bits(0);
        }
    }
}
