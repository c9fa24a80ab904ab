//! Slots of a window: 16 words of 64. PSN p has slot p mod 1,024: word `psn[9:6]`, bit `psn[5:0]`.

use hdl_macros::hdl_fn;
use hdl_primitives::trailing_ones::trailing_ones;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::PacketState;
use stellar_wire::hw::Psn;

/// Number of words.
pub const WORDS: usize = 16;

/// State of 64 consecutive slots. A slot of the window with no bit set is acknowledged. Outside the window no bit is set.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SlotWord {
    pub in_flight: Bits<64>,
    /// Lost; last sent on plane 0, and on plane 1.
    pub lost_0: Bits<64>,
    pub lost_1: Bits<64>,
}

/// Slots of two consecutive words.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SlotRange {
    pub here: Bits<64>,
    pub beyond: Bits<64>,
}

/// Summary of the words: those with slots in flight, lost on plane 0, lost on plane 1.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Occupied {
    pub in_flight: Bits<16>,
    pub lost_0: Bits<16>,
    pub lost_1: Bits<16>,
}

/// Returns the slots that are in flight or lost.
#[hdl_fn]
pub fn unacknowledged(word: SlotWord) -> Bits<64> {
    word.in_flight | word.lost_0 | word.lost_1
}

/// Returns the words that have slots in flight or lost.
#[hdl_fn]
pub fn words_unacknowledged(occupied: Occupied) -> Bits<16> {
    occupied.in_flight | occupied.lost_0 | occupied.lost_1
}

/// Removes these slots from the word.
#[hdl_fn]
pub fn without(word: SlotWord, slots: Bits<64>) -> SlotWord {
    SlotWord {
        in_flight: word.in_flight & !slots,
        lost_0: word.lost_0 & !slots,
        lost_1: word.lost_1 & !slots,
    }
}

/// Marks these slots in flight, which were free or lost.
#[hdl_fn]
pub fn with_in_flight(word: SlotWord, slots: Bits<64>) -> SlotWord {
    SlotWord {
        in_flight: word.in_flight | slots,
        lost_0: word.lost_0 & !slots,
        lost_1: word.lost_1 & !slots,
    }
}

/// Returns `count` slots from that of `first` on, at most 32: those in its word, and those in the next one. A carry chain and 3 levels.
#[hdl_fn]
pub fn range_of(first: Psn, count: Bits<6>) -> SlotRange {
    let place = first.get_bits::<6>(0);
    let end = bit_cast::<7, 6>(place) + bit_cast::<7, 6>(count);
    let from = Bits::<64>::mask() << place;
    let below_end = !(Bits::<64>::mask() << end.get_bits::<6>(0));
    let goes_on = end.get_bit(6);
    SlotRange {
        here: if goes_on { from } else { from & below_end },
        beyond: if goes_on { below_end } else { bits::<64>(0) },
    }
}

/// Marks these slots in flight, or removes them.
#[hdl_fn]
pub fn with_range(word: SlotWord, slots: Bits<64>, in_flight: Bit) -> SlotWord {
    if in_flight {
        with_in_flight(word, slots)
    } else {
        without(word, slots)
    }
}

/// Marks these slots lost on a plane.
#[hdl_fn]
pub fn with_lost(word: SlotWord, slots: Bits<64>, plane: Bit) -> SlotWord {
    SlotWord {
        in_flight: word.in_flight & !slots,
        lost_0: if plane {
            word.lost_0
        } else {
            word.lost_0 | slots
        },
        lost_1: if plane {
            word.lost_1 | slots
        } else {
            word.lost_1
        },
    }
}

#[hdl_fn]
fn with_bit(old: Bits<16>, place: Bits<16>, value: Bit) -> Bits<16> {
    if value {
        old | place
    } else {
        old & !place
    }
}

/// Returns the words with unacknowledged slots, where `slots` are those of word `index`. 5 levels.
#[hdl_fn]
pub fn unacknowledged_with(old: Occupied, index: Bits<4>, slots: Bits<64>) -> Bits<16> {
    with_bit(
        words_unacknowledged(old),
        bits::<16>(1) << index,
        slots.any(),
    )
}

/// Updates the summary of one word. 5 levels.
#[hdl_fn]
pub fn with_word(old: Occupied, index: Bits<4>, word: SlotWord) -> Occupied {
    let place = bits::<16>(1) << index;
    Occupied {
        in_flight: with_bit(old.in_flight, place, word.in_flight.any()),
        lost_0: with_bit(old.lost_0, place, word.lost_0.any()),
        lost_1: with_bit(old.lost_1, place, word.lost_1.any()),
    }
}

/// Returns the lowest element of a set of 16 that is not empty. 3 levels.
#[hdl_fn]
pub fn lowest_of_16(set: Bits<16>) -> Bits<4> {
    trailing_ones(!bit_cast::<64, 16>(set)).get_bits::<4>(0)
}

/// Returns the slot of a PSN in its word, one-hot. 1 level.
#[hdl_fn]
pub fn slot_of(psn: Psn) -> Bits<64> {
    bits::<64>(1) << psn.get_bits::<6>(0)
}

/// Returns the state of a PSN. 4 levels.
#[hdl_fn]
pub fn state_of(word: SlotWord, psn: Psn, inside: Bit) -> PacketState {
    let bit = psn.get_bits::<6>(0);
    if !inside {
        PacketState::Free
    } else if word.in_flight.get_bit(bit.index()) {
        PacketState::InFlight
    } else if (word.lost_0 | word.lost_1).get_bit(bit.index()) {
        PacketState::Lost
    } else {
        PacketState::Acked
    }
}

/// Returns whether the slot of a PSN is one of `slots` of word `index`. The PSN must be in the window. 4 levels.
#[hdl_fn]
pub fn is_hit(psn: Psn, index: Bits<4>, slots: Bits<64>) -> Bit {
    (psn.get_bits::<4>(6) == index) & slots.get_bit(psn.get_bits::<6>(0).index())
}
