//! Finds the next slot of a set in ring order.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::trailing_ones::trailing_ones;
use rust_hdl::prelude::*;

use crate::slots::lowest_of_16;

/// Steps from word `first` to the next word of the set, itself included. 5 levels (turn 2, first one 3).
#[hdl_fn]
fn words_to_next(ring: Bits<16>, first: Bits<4>) -> Bits<4> {
    let twice = bit_cast::<32, 16>(ring) | (bit_cast::<32, 16>(ring) << 16);
    lowest_of_16((twice >> first).get_bits::<16>(0))
}

/// Finds the first slot of a set, from a PSN on round the ring.
///
/// Given with `start`: the PSN, the set's word the PSN lies in, and which words of the set have any slot. In the next clock `hit` says whether the slot
/// lies in that word from the PSN on; if not, `more` says that `far_word` has it (from its lowest bit: that may be the same word come round). The
/// word is then given with `far`, and found in the next clock.
///
/// LUT levels: `start` 2, `psn` 6, `more` 4, word after 7.
#[derive(LogicBlock, Default)]
pub struct SlotSeek {
    pub clock: Signal<In, Clock>,

    pub start: Signal<In, Bit>,
    pub from: Signal<In, Bits<24>>,
    /// Words of the set with any slot.
    pub summary: Signal<In, Bits<16>>,
    /// `set_word` is word `far_word` of the search begun with `start`; at the earliest two clocks after that.
    pub far: Signal<In, Bit>,
    pub set_word: Signal<In, Bits<64>>,

    pub hit: Signal<Out, Bit>,
    /// The slot found, as the PSN not before `from` that has it.
    pub psn: Signal<Out, Bits<24>>,
    pub more: Signal<Out, Bit>,
    /// One clock after `more`.
    pub far_word: Signal<Out, Bits<4>>,

    /// Slots of the word that is looked at.
    slots: DFF<Bits<64>>,
    /// Number of that word: its PSNs without their low 6 bits.
    place: DFF<Bits<18>>,
    /// Other words with slots.
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
            // One far word is enough if the summary is right; a wrong one (of a queue pair never configured) must not keep the server for ever.
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
