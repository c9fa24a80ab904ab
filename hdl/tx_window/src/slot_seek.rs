//! Search for the next slot of a set, in ring order.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::trailing_ones::trailing_ones;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;

use crate::slots::lowest_of_16;

/// Returns the distance from word `first` to the next word of the set, 0 if `first` is in the set. 5 levels (turn 2, first one 3).
#[hdl_fn]
fn words_to_next(ring: Bits<16>, first: Bits<4>) -> Bits<4> {
    let twice = bit_cast::<32, 16>(ring) | (bit_cast::<32, 16>(ring) << 16);
    lowest_of_16((twice >> first).get_bits::<16>(0))
}

/// Finds the first slot of a set, from a PSN on, around the ring.
///
/// `start` comes with the PSN, the word of the set that contains the PSN, and a summary of the words that have slots. In the next cycle `hit` is high if
/// the slot lies in that word, at or after the PSN. Otherwise, `more` is high if it is the lowest slot of `far_word`. That may be the same word after one turn
/// around the ring. The caller then provides that word with `far`, and `hit` is valid in the next cycle.
///
/// LUT levels: `start` 2, `psn` 6, `more` 4, word after 7.
#[derive(LogicBlock, Default)]
pub struct SlotSeek {
    pub clock: Signal<In, Clock>,

    pub start: Signal<In, Bit>,
    pub from: Signal<In, Psn>,
    /// Words of the set that have slots.
    pub summary: Signal<In, Bits<16>>,
    /// `set_word` is the word `far_word` of the search. Earliest two cycles after `start`.
    pub far: Signal<In, Bit>,
    pub set_word: Signal<In, Bits<64>>,

    pub hit: Signal<Out, Bit>,
    /// The result: the first PSN from `from` on that has this slot.
    pub psn: Signal<Out, Psn>,
    pub more: Signal<Out, Bit>,
    /// Valid one cycle after `more`.
    pub far_word: Signal<Out, Bits<4>>,

    /// Slots of the word that is searched.
    slots: DFF<Bits<64>>,
    /// Number of that word: its PSNs without their low 6 bits.
    place: DFF<Bits<18>>,
    /// Words that have slots.
    others: DFF<Bits<16>>,
    far_place: DFF<Bits<18>>,
}

impl Logic for SlotSeek {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, slots, place, others, far_place);
        let from = self.from.val();
        let slots = self.slots.q.val();
        let place = self.place.q.val();
        let others = self.others.q.val();
        if self.start.val() {
            self.slots.d.next = self.set_word.val() & (Bits::<64>::mask() << from.get_bits::<6>(0));
            self.place.d.next = from.get_bits::<18>(6);
            self.others.d.next = self.summary.val();
        }
        if self.far.val() {
            self.slots.d.next = self.set_word.val();
            self.place.d.next = self.far_place.q.val();
            // With a correct summary, one further word is enough. The summary of a queue pair that was never configured may be wrong, and must not
            // block the unit forever.
            self.others.d.next = bits::<16>(0);
        }
        let hit = slots.any();
        let after = place + 1;
        self.far_place.d.next =
            after + bit_cast::<18, 4>(words_to_next(others, after.get_bits::<4>(0)));
        self.hit.next = hit;
        self.psn.next = (bit_cast::<24, 18>(place) << 6)
            | bit_cast::<24, 6>(trailing_ones(!slots).get_bits::<6>(0));
        self.more.next = !hit & others.any();
        self.far_word.next = self.far_place.q.val().get_bits::<4>(0);
    }
}
