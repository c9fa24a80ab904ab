//! Reads the lengths of the packets a SACK acknowledges.

use hdl_macros::hdl;
use hdl_reorder_buf::trailing_ones::{trailing_ones, trailing_ones__hdl};
use rust_hdl::prelude::*;

/// Clocks from `reading` to `taken`: that of the memory of sent packets.
pub const READ_LATENCY: usize = 2;

/// Walks over the slots of a word, one per clock, and says which packet's length comes out of the memory.
///
/// LUT levels: next slot 6, `last` 5 and a 64-bit carry, `taken_lost` 3 before its register.
#[derive(LogicBlock, Default)]
pub struct LengthWalk {
    pub clock: Signal<In, Clock>,
    /// Forgets everything under way.
    pub reset: Signal<In, Bit>,

    /// Takes the next word; only in the clock after `last`, or when nothing is under way.
    pub load: Signal<In, Bit>,
    pub slots: Signal<In, Bits<64>>,
    /// Of them (others are not looked at), those lost.
    pub lost: Signal<In, Bits<64>>,
    /// After this clock every slot of the word is on its way.
    pub last: Signal<Out, Bit>,

    /// Slot `bit` of the word loaded before is to be read in this clock.
    pub reading: Signal<Out, Bit>,
    pub bit: Signal<Out, Bits<6>>,
    /// Its length is there, [`READ_LATENCY`] clocks later.
    pub taken: Signal<Out, Bit>,
    pub taken_lost: Signal<Out, Bit>,
    /// A length will come after this clock (slots that are not on their way do not count).
    pub busy: Signal<Out, Bit>,

    left: DFF<Bits<64>>,
    lost_slots: DFF<Bits<64>>,
    index_valid: DFF<Bit>,
    index: DFF<Bits<6>>,
    read_valid: DFF<Bit>,
    read_lost: DFF<Bit>,
    taken_valid: DFF<Bit>,
    taken_was_lost: DFF<Bit>,
}

impl Logic for LengthWalk {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, left, lost_slots, index_valid, index);
        dff_setup!(
            self,
            clock,
            read_valid,
            read_lost,
            taken_valid,
            taken_was_lost
        );
        let left = self.left.q.val();
        let rest = left & (left - 1);
        let index = self.index.q.val();
        self.left.d.next = rest;
        self.index.d.next = trailing_ones(!left).get_bits::<6>(0);
        self.index_valid.d.next = left.any();
        if self.load.val() {
            self.left.d.next = self.slots.val();
            self.lost_slots.d.next = self.lost.val();
        }
        self.last.next = !rest.any();

        self.reading.next = self.index_valid.q.val();
        self.bit.next = index;
        self.read_valid.d.next = self.index_valid.q.val();
        self.read_lost.d.next = self.lost_slots.q.val().get_bit(index.index());
        self.taken_valid.d.next = self.read_valid.q.val();
        self.taken_was_lost.d.next = self.read_lost.q.val();
        self.taken.next = self.taken_valid.q.val();
        self.taken_lost.next = self.taken_was_lost.q.val();
        self.busy.next = self.index_valid.q.val() | self.read_valid.q.val();

        if self.reset.val() {
            self.left.d.next = bits::<64>(0);
            self.index_valid.d.next = false;
            self.read_valid.d.next = false;
            self.taken_valid.d.next = false;
        }
    }
}
