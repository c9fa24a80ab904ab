//! The slots of the blocks.

use hdl_macros::hdl_fn;
use hdl_tx_window::blocks::{
    from_slot, last_place_before, place_of, slot_of, unacknowledged, BlockSlots,
};
use hdl_tx_window::row::WindowRow;
use hdl_tx_window::visit::Visit;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;

use super::pool::{low_of, nth, Low, Number, Pool, BLOCKS, PACKETS};

/// The slots of every block.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Slots {
    pub b0: BlockSlots,
    pub b1: BlockSlots,
    pub b2: BlockSlots,
    pub b3: BlockSlots,
}

/// The slots of every block that are in flight or lost.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Open {
    pub b0: Bits<32>,
    pub b1: Bits<32>,
    pub b2: Bits<32>,
    pub b3: Bits<32>,
}

/// Returns the slots that are in flight or lost.
#[hdl_fn]
pub fn open_in(slots: Slots) -> Open {
    Open {
        b0: unacknowledged(slots.b0),
        b1: unacknowledged(slots.b1),
        b2: unacknowledged(slots.b2),
        b3: unacknowledged(slots.b3),
    }
}

/// Returns the slots of the block with this number.
#[hdl_fn]
pub fn slots_of(slots: Slots, number: Number) -> BlockSlots {
    match number.to_u8() {
        0 => slots.b0,
        1 => slots.b1,
        2 => slots.b2,
        _ => slots.b3,
    }
}

#[hdl_fn]
fn written(slots: BlockSlots, writes: Bit, visit: Visit, number: usize) -> BlockSlots {
    if writes & (visit.block.get_bits::<2>(0) == bits::<2>(number as u64)) {
        visit.slots
    } else {
        slots
    }
}

/// Returns the slots after those of the visited block were written.
#[hdl_fn]
pub fn after_write(slots: Slots, writes: Bit, visit: Visit) -> Slots {
    Slots {
        b0: written(slots.b0, writes, visit, 0),
        b1: written(slots.b1, writes, visit, 1),
        b2: written(slots.b2, writes, visit, 2),
        b3: written(slots.b3, writes, visit, 3),
    }
}

#[hdl_fn]
fn nth_open(open: Open, n: usize) -> Bits<32> {
    match n {
        0 => open.b0,
        1 => open.b1,
        2 => open.b2,
        _ => open.b3,
    }
}

#[hdl_fn]
fn open_of(open: Open, number: Number) -> Bits<32> {
    match number.to_u8() {
        0 => open.b0,
        1 => open.b1,
        2 => open.b2,
        _ => open.b3,
    }
}

/// Returns whether the packet at `una` is in flight or lost.
#[hdl_fn]
pub fn is_una_open(open: Open, row: WindowRow) -> Bit {
    let slots = open_of(open, row.head.get_bits::<2>(0));
    (slots & slot_of(row.una)).any()
}

/// Returns whether no slot outside the window is in flight or lost, and that of `una` is, if `una_open`.
#[hdl_fn]
pub fn is_inside(pool: Pool, open: Open, row: WindowRow, odd: Bit, una_open: Bit) -> Bit {
    let mut good = (row.next_psn - row.una) <= PACKETS;
    let end = last_place_before(row.next_psn);
    let ends_inside = row.next_psn.get_bits::<5>(0).any();
    for n in 0..BLOCKS {
        let own = nth(pool, n);
        let slots = nth_open(open, n);
        let held = !own.free & (own.odd == odd);
        let is_first = held & (own.place == low_of(place_of(row.una)));
        let is_last = held & (own.place == low_of(end)) & ends_inside;
        let before = slots & !from_slot(row.una);
        let behind = slots & from_slot(row.next_psn);
        good = good & !(is_first & before.any()) & !(is_last & behind.any());
    }
    good & (!una_open | (row.una == row.next_psn) | is_una_open(open, row))
}

/// Returns whether no slot of the window before the block at `place` is in flight or lost, and none of this block before `una`.
#[hdl_fn]
pub fn is_acked_before(
    pool: Pool,
    open: Open,
    odd: Bit,
    first: Low,
    una: Psn,
    blocks: Bits<3>,
) -> Bit {
    let mut good = blocks <= (BLOCKS as u64);
    for n in 0..BLOCKS {
        let own = nth(pool, n);
        let slots = nth_open(open, n);
        let held = !own.free & (own.odd == odd);
        let index = bit_cast::<3, 2>(own.place - first);
        let before = slots & !from_slot(una);
        good = good
            & !(held & (index < blocks) & slots.any())
            & !(held & (index == blocks) & before.any());
    }
    good
}
