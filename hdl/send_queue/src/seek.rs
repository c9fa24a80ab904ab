//! Where an operation begins to read, and the steps to there.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::SqIndex;

use crate::lookup::needs_message;
use crate::message_step::{Effect, Step};
use crate::operation::Operation;
use crate::records::{AskKind, Block, Lookup, Place, QueueRow};

/// Returns the slot of the oldest outstanding message.
#[hdl_fn]
pub fn oldest_slot(row: QueueRow) -> SqIndex {
    row.next_slot - bit_cast::<16, 11>(row.outstanding)
}

/// Returns how many blocks lie between two slots.
#[hdl_fn]
fn blocks_between(from: SqIndex, to: SqIndex) -> Bits<8> {
    (to.get_bits::<13>(3) - from.get_bits::<13>(3)).get_bits::<8>(0)
}

/// Returns a number of blocks with 0 or 1 more.
#[hdl_fn]
fn one_more(hops: Bits<8>, passed: Bit) -> Bits<8> {
    let more: Bits<1> = passed.into();
    hops + bit_cast::<8, 1>(more)
}

/// Returns where the operation begins: at the slot that was asked for, at the oldest message, or at the next one. This is a guess, because the row has just been read: that the slot lies in the block of
/// the last message, and that the last message does not continue.
#[hdl_fn]
pub fn first_place(op: Operation, row: QueueRow) -> Place {
    let is_oldest = if op.is_flush_step {
        row.outstanding.any()
    } else {
        op.is_complete | op.is_lookup_by_psn
    };
    Place {
        slot: if op.is_by_slot {
            op.request.slot
        } else if is_oldest {
            oldest_slot(row)
        } else {
            row.next_slot
        },
        block: if is_oldest {
            row.first_block
        } else {
            row.next_block
        },
        hops: if op.is_by_slot {
            bits::<8>(0)
        } else if is_oldest {
            one_more(bits::<8>(0), row.first_passed)
        } else {
            one_more(bits::<8>(0), row.next_passed)
        },
    }
}

/// Returns whether two slots lie in the same block.
#[hdl_fn]
fn share_block(one: SqIndex, other: SqIndex) -> Bit {
    one.get_bits::<13>(3) == other.get_bits::<13>(3)
}

/// Returns whether a slot lies in the block of the last message started.
#[hdl_fn]
pub fn is_in_last_block(slot: SqIndex, row: QueueRow) -> Bit {
    share_block(slot, row.next_slot - 1)
}

/// Returns where the operation begins if the guess was wrong. `is_next`: at the last message started, which continues; otherwise at the slot that was asked for, which lies in another block than
/// that one.
#[hdl_fn]
pub fn corrected_place(is_next: Bit, slot: SqIndex, row: QueueRow) -> Place {
    if is_next {
        Place {
            slot: row.next_slot - 1,
            block: row.next_block,
            hops: bits::<8>(0),
        }
    } else {
        Place {
            slot,
            block: row.first_block,
            hops: one_more(blocks_between(oldest_slot(row), slot), row.first_passed),
        }
    }
}

/// Returns whether [`corrected_place`] of a slot that was asked for has links to follow, without counting them.
#[hdl_fn]
pub fn corrects_to_walk(slot: SqIndex, row: QueueRow) -> Bit {
    row.first_passed | !share_block(slot, oldest_slot(row))
}

/// Returns the step that follows where there are links to follow, or none.
#[hdl_fn]
fn step_to(walks: Bit) -> Step {
    if walks {
        Step::Walk
    } else {
        Step::Wait
    }
}

/// `LookUp`: goes to the place that was guessed. `usual`: what the step would do otherwise.
#[hdl_fn]
pub fn look_up_effect(place: Place, usual: Effect) -> Effect {
    Effect {
        step: step_to(place.hops.any()),
        to: place,
        ..usual
    }
}

/// The first step behind `LookUp`: the guess was wrong. `usual`: what the step would do otherwise.
#[hdl_fn]
pub fn redirect_effect(op: Operation, row: QueueRow, lookup: Lookup, usual: Effect) -> Effect {
    Effect {
        step: step_to(lookup.redirect_walks),
        to: corrected_place(op.is_next, op.request.slot, row),
        followed: false,
        ..usual
    }
}

/// `Walk`: goes to the block `followed`, if the operation reads a message. `frees`: the block of before has completed, which the prefetch is told. `asks_ready`: it hears.
#[hdl_fn]
pub fn walk_effect(
    lookup: Lookup,
    frees: Bit,
    asks_ready: Bit,
    followed: Block,
    stays: Effect,
) -> Effect {
    let row = stays.row;
    let freed = QueueRow {
        first_block: followed,
        first_passed: false,
        ..row
    };
    let moves = needs_message(lookup) & (!frees | asks_ready);
    let place = stays.to;
    let next_place = Place {
        hops: place.hops - 1,
        ..place
    };
    Effect {
        step: step_to(!moves | (place.hops != 1)),
        row: if frees & asks_ready { freed } else { row },
        asks: frees,
        ask_kind: AskKind::Frees,
        to: if moves { next_place } else { place },
        followed: moves,
        ..stays
    }
}
