//! Slot at one position of a rotation.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::order::times_odd;

/// Cycles from a position to its slot.
pub const LATENCY: usize = 2;

/// Permutes a single position as `SlotOrder` permutes maps. The key must be stable meanwhile.
///
/// LUT levels: 6 (XOR 1, product 4, XOR 1), then 5.
#[derive(LogicBlock, Default)]
pub struct SlotAt {
    pub clock: Signal<In, Clock>,
    pub key: Signal<In, Bits<28>>,
    pub position: Signal<In, Bits<6>>,
    pub slot: Signal<Out, Bits<6>>,
    half: DFF<Bits<6>>,
    whole: DFF<Bits<6>>,
}

impl Logic for SlotAt {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, half, whole);
        let key = self.key.val();
        let first = times_odd(
            self.position.val() ^ key.get_bits::<6>(0),
            key.get_bits::<5>(6),
        );
        self.half.d.next = ((first << 3) | (first >> 3)) ^ key.get_bits::<6>(11);
        let second = times_odd(self.half.q.val(), key.get_bits::<5>(17));
        self.whole.d.next = second ^ (second >> 3) ^ key.get_bits::<6>(22);
        self.slot.next = self.whole.q.val();
    }
}
