//! Permutation of maps: from slots to positions of a rotation, and from positions to slots.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::order::{
    to_positions_first, to_positions_second, to_slots_first, to_slots_second, OrderKey,
};

/// Cycles from a map to its permutation, in both directions.
pub const LATENCY: usize = 2;

/// Permutes maps from slots to positions of a rotation and, in parallel, from positions to slots. The key must be stable while a map passes.
///
/// LUT levels: 7 in each of the two cycles (28 layers, two per level).
#[derive(LogicBlock, Default)]
pub struct SlotOrder {
    pub clock: Signal<In, Clock>,
    pub key: Signal<In, OrderKey>,

    /// Bit s belongs to slot s.
    pub slots: Signal<In, Bits<64>>,
    /// Bit x belongs to the slot at position x.
    pub ordered: Signal<Out, Bits<64>>,

    /// Bit x belongs to position x.
    pub positions: Signal<In, Bits<64>>,
    /// Bit s belongs to the position of slot s.
    pub located: Signal<Out, Bits<64>>,

    half_ordered: DFF<Bits<64>>,
    all_ordered: DFF<Bits<64>>,
    half_located: DFF<Bits<64>>,
    all_located: DFF<Bits<64>>,
}

impl Logic for SlotOrder {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            half_ordered,
            all_ordered,
            half_located,
            all_located
        );
        let key = self.key.val();
        self.half_ordered.d.next = to_positions_first(self.slots.val(), key);
        self.all_ordered.d.next = to_positions_second(self.half_ordered.q.val(), key);
        self.half_located.d.next = to_slots_first(self.positions.val(), key);
        self.all_located.d.next = to_slots_second(self.half_located.q.val(), key);
        self.ordered.next = self.all_ordered.q.val();
        self.located.next = self.all_located.q.val();
    }
}
