//! Blocks of 32 consecutive PSNs. PSN p is slot `p[4:0]` of the block whose place is `p[23:5]`.

use hdl_macros::hdl_fn;
use hdl_primitives::trailing_ones::trailing_ones;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::PacketState;
use stellar_wire::hw::Psn;

/// Number of a block of the pool. A pool has at most 2^10 of them.
pub type Block = Bits<10>;

/// Place of a block: its PSNs without their low 5 bits.
pub type Place = Bits<19>;

/// State of the slots of a block. A slot of the window with no bit set is acknowledged. Outside the window no bit is set.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BlockSlots {
    pub in_flight: Bits<32>,
    /// Lost; last sent on plane 0, and on plane 1.
    pub lost_0: Bits<32>,
    pub lost_1: Bits<32>,
}

/// Slots of two consecutive blocks.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SlotRange {
    pub here: Bits<32>,
    pub beyond: Bits<32>,
}

/// Returns the place of the block of a PSN.
#[hdl_fn]
pub fn place_of(psn: Psn) -> Place {
    psn.get_bits::<19>(5)
}

/// Returns the PSN of a slot of the block at a place.
#[hdl_fn]
pub fn psn_at(place: Place, slot: Bits<5>) -> Psn {
    (bit_cast::<24, 19>(place) << 5) | bit_cast::<24, 5>(slot)
}

/// Returns the place of the last block of a window that ends before `next_psn`. A carry chain and 1 level.
#[hdl_fn]
pub fn last_place_before(next_psn: Psn) -> Place {
    let place = next_psn.get_bits::<19>(5);
    if next_psn.get_bits::<5>(0).any() {
        place
    } else {
        place - 1
    }
}

/// Returns whether a PSN lies in the last block of a window that ends before `next_psn`. 3 levels behind `next_psn`, without a carry chain.
#[hdl_fn]
pub fn is_in_last_block(psn: Psn, next_psn: Psn) -> Bit {
    let place = place_of(psn);
    let end = place_of(next_psn);
    if next_psn.get_bits::<5>(0).any() {
        end == place
    } else {
        end == place + 1
    }
}

/// Returns the slots that are in flight or lost.
#[hdl_fn]
pub fn unacknowledged(slots: BlockSlots) -> Bits<32> {
    slots.in_flight | slots.lost_0 | slots.lost_1
}

/// Removes the slots that are not `kept`, and marks those that are `added` in flight. A slot that is added is not kept. 1 level.
#[hdl_fn]
pub fn changed_slots(slots: BlockSlots, kept: Bits<32>, added: Bits<32>) -> BlockSlots {
    BlockSlots {
        in_flight: (slots.in_flight & kept) | added,
        lost_0: slots.lost_0 & kept,
        lost_1: slots.lost_1 & kept,
    }
}

/// Marks these slots lost on a plane.
#[hdl_fn]
pub fn with_lost(slots: BlockSlots, lost: Bits<32>, plane: Bit) -> BlockSlots {
    BlockSlots {
        in_flight: slots.in_flight & !lost,
        lost_0: if plane {
            slots.lost_0
        } else {
            slots.lost_0 | lost
        },
        lost_1: if plane {
            slots.lost_1 | lost
        } else {
            slots.lost_1
        },
    }
}

/// Returns the slots from that of a PSN on. 3 levels.
#[hdl_fn]
pub fn from_slot(psn: Psn) -> Bits<32> {
    Bits::<32>::mask() << psn.get_bits::<5>(0)
}

/// Returns `count` slots from that of `first` on, at most 32: those in its block, and those in the next one. A carry chain and 3 levels.
#[hdl_fn]
pub fn range_of(first: Psn, count: Bits<6>) -> SlotRange {
    let end = bit_cast::<6, 5>(first.get_bits::<5>(0)) + count;
    let from = Bits::<32>::mask() << first.get_bits::<5>(0);
    let below_end = !(Bits::<32>::mask() << end.get_bits::<5>(0));
    let goes_on = end.get_bit(5);
    SlotRange {
        here: if goes_on { from } else { from & below_end },
        beyond: if goes_on { below_end } else { bits::<32>(0) },
    }
}

/// Returns the lowest element of a set of 8 that is not empty. 2 levels.
#[hdl_fn]
pub fn lowest_of_8(set: Bits<8>) -> Bits<3> {
    trailing_ones(!bit_cast::<64, 8>(set)).get_bits::<3>(0)
}

/// Returns the lowest element of a set of 32 that is not empty. 4 levels.
#[hdl_fn]
pub fn lowest_of_32(set: Bits<32>) -> Bits<5> {
    trailing_ones(!bit_cast::<64, 32>(set)).get_bits::<5>(0)
}

/// Returns the slot of a PSN in its block, one-hot. 1 level.
#[hdl_fn]
pub fn slot_of(psn: Psn) -> Bits<32> {
    bits::<32>(1) << psn.get_bits::<5>(0)
}

/// Returns the state of a PSN of the window, from the slots of its block. 4 levels.
#[hdl_fn]
pub fn state_of(slots: BlockSlots, psn: Psn) -> PacketState {
    let slot = psn.get_bits::<5>(0);
    if slots.in_flight.get_bit(slot.index()) {
        PacketState::InFlight
    } else if (slots.lost_0 | slots.lost_1).get_bit(slot.index()) {
        PacketState::Lost
    } else {
        PacketState::Acked
    }
}
