//! The value at a place, and its entropy.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::EntropyProfileEntry;

use crate::entropy::*;
use crate::row::*;
use crate::slot_at::{self, SlotAt};

/// Clocks from a place to its value.
pub const LATENCY: usize = 2;
/// Clocks from a position of a rotation to the value that serves its slot.
pub const LATENCY_IN_ORDER: usize = slot_at::LATENCY + LATENCY;

/// Place to index and entropy value, one per clock. The key must stand for the first two clocks, all else meanwhile.
///
/// LUT levels: as [`SlotAt`]; 8 (slot 1, backup in it 3, number 2, value 2); 4 and a carry chain.
#[derive(LogicBlock, Default)]
pub struct PlaceValue {
    pub clock: Signal<In, Clock>,
    pub place: Signal<In, Bits<7>>,
    /// The place is a position in the order of the key of `row`.
    pub ordered: Signal<In, Bit>,
    /// The place is a slot, of which the value that serves it is wanted; otherwise the place's own value is.
    pub served: Signal<In, Bit>,
    pub profile: Signal<In, EntropyProfileEntry>,
    pub rotation: Signal<In, Bits<6>>,
    pub plane: Signal<In, Bit>,
    pub row: Signal<In, PlaneRow>,

    pub index: Signal<Out, Bits<8>>,
    pub entropy: Signal<Out, Bits<32>>,

    slot_at: SlotAt,
    value: DFF<Served>,
    value_index: DFF<Bits<8>>,
    value_entropy: DFF<Bits<32>>,
}

impl Logic for PlaceValue {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, value, value_index, value_entropy);
        clock!(self, clock, slot_at);
        let place = self.place.val();
        let profile = self.profile.val();
        let rotation = self.rotation.val();
        let plane = self.plane.val();
        let row = self.row.val();
        self.slot_at.key.next = row.key;
        self.slot_at.position.next = place.get_bits::<6>(0);

        // serve
        let slot = if self.ordered.val() {
            self.slot_at.slot.val()
        } else {
            place.get_bits::<6>(0)
        };
        let in_slot = value_in_slot(profile, rotation, plane, slot, row);
        let at_place = value_of_place(profile, rotation, plane, place);
        self.value.d.next = if self.served.val() { in_slot } else { at_place };

        // evaluate
        self.value_index.d.next = self.value.q.val().index;
        self.value_entropy.d.next = value_of(profile, self.value.q.val().number);

        self.index.next = self.value_index.q.val();
        self.entropy.next = self.value_entropy.q.val();
    }
}
