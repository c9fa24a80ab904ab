//! What is known of a slot that an operation reads.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::SqIndex;

use crate::records::{Position, QueueRow};

/// Returns the position of `slot`. `is_next`: messages may start, so those before the next one to start have been started.
#[hdl_fn]
pub fn position_of(slot: SqIndex, row: QueueRow, arriving: SqIndex, is_next: Bit) -> Position {
    let next_slot = slot + 1;
    Position {
        is_started: is_next & (slot != row.next_slot),
        present: slot != arriving,
        next_present: next_slot != arriving,
        posted: slot != row.producer,
        next_posted: next_slot != row.producer,
    }
}

/// Returns the position behind `at`. `second`: the slot behind that.
#[hdl_fn]
pub fn position_behind(
    at: Position,
    second: SqIndex,
    row: QueueRow,
    arriving: SqIndex,
) -> Position {
    Position {
        is_started: false,
        present: at.next_present,
        next_present: second != arriving,
        posted: at.next_posted,
        next_posted: second != row.producer,
    }
}
