//! Entropy value of a place.

use hdl_macros::{clock, hdl};
use hdl_primitives::ram::BlockRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{EntropyProfileEntry, EXPLICIT_ROW_BITS, PROFILE_BITS};

use crate::entropy::{explicit_row, value_in_slot, value_of, value_of_place, Served};
use crate::profile::ExplicitSnk;
use crate::row::PlaneRow;
use crate::slot_at::{self, SlotAt};

/// Cycles from a place to its value.
pub const LATENCY: usize = 2;
/// Cycles from a position of a rotation to the value that serves its slot.
pub const LATENCY_IN_ORDER: usize = slot_at::LATENCY + LATENCY;

/// Computes index and entropy value of a place, one per cycle. The key must be stable for the first two cycles, all other inputs until the result.
///
/// LUT levels: as [`SlotAt`]; 8 (slot 1, backup in it 3, number 2, value 2); 4 and a carry chain, or the memory of explicit values, and 1 behind either.
#[derive(LogicBlock, Default)]
pub struct PlaceValue {
    pub clock: Signal<In, Clock>,
    pub place: Signal<In, Bits<7>>,
    /// The place is a position in the order of the key of `row`.
    pub ordered: Signal<In, Bit>,
    /// High: the place is a slot, and the result is the value that serves it. Low: the result is the value of the place itself.
    pub served: Signal<In, Bit>,
    /// The place is `recycled_slot`; `place` and `ordered` are ignored.
    pub recycled: Signal<In, Bit>,
    pub recycled_slot: Signal<In, Bits<6>>,
    /// Writes explicit values.
    pub values: ExplicitSnk,
    pub profile: Signal<In, EntropyProfileEntry>,
    pub profile_number: Signal<In, Bits<PROFILE_BITS>>,
    pub rotation: Signal<In, Bits<6>>,
    pub plane: Signal<In, Bit>,
    pub row: Signal<In, PlaneRow>,

    pub index: Signal<Out, Bits<8>>,
    pub entropy: Signal<Out, Bits<32>>,

    slot_at: SlotAt,
    by_number: BlockRam<Bits<32>, EXPLICIT_ROW_BITS>,
    value: DFF<Served>,
    value_index: DFF<Bits<8>>,
    value_entropy: DFF<Bits<32>>,
}

impl Logic for PlaceValue {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, value, value_index, value_entropy);
        clock!(self, clock, slot_at, by_number);
        let place = self.place.val();
        let profile = self.profile.val();
        let rotation = self.rotation.val();
        let plane = self.plane.val();
        let row = self.row.val();
        self.slot_at.key.next = row.key;
        self.slot_at.position.next = place.get_bits::<6>(0);

        // look up the value
        let slot = if self.recycled.val() {
            self.recycled_slot.val()
        } else if self.ordered.val() {
            self.slot_at.slot.val()
        } else {
            place.get_bits::<6>(0)
        };
        let in_slot = value_in_slot(profile, rotation, plane, slot, row);
        let at_place = value_of_place(profile, rotation, plane, place);
        self.value.d.next = if self.served.val() { in_slot } else { at_place };

        // compute the entropy, or read it
        self.by_number.write_enable.next = self.values.valid.val();
        self.by_number.write_address.next = self.values.row.val();
        self.by_number.write_data.next = self.values.record.val().value;
        self.by_number.read_address.next =
            explicit_row(self.profile_number.val(), self.value.q.val().number);
        self.value_index.d.next = self.value.q.val().index;
        self.value_entropy.d.next = value_of(profile, self.value.q.val().number);

        self.index.next = self.value_index.q.val();
        self.entropy.next = if profile.explicit {
            self.by_number.read_data.val()
        } else {
            self.value_entropy.q.val()
        };
    }
}
