//! Decisions on the oldest message, which completes.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::SqIndex;

use crate::completion::{SUCCESS, WR_FLUSH_ERR};
use crate::records::{Entry, Popped, Position, QueueRow};

/// Decides on the message at a position. `crosses`: it is the last one of its block. `free`: a completion can be held. `asks_ready`: the prefetch can be told.
#[hdl_fn]
pub fn pop(
    row: QueueRow,
    entry: Entry,
    at: Position,
    is_flush_step: Bit,
    crosses: Bit,
    free: Bit,
    asks_ready: Bit,
) -> Popped {
    let leaves = is_flush_step | entry.wqe.signaled;
    let is_last = row.outstanding == 1;
    let frees = crosses & !is_last;
    let idles = is_last & !at.next_present;
    let fits = free | !leaves;
    Popped {
        leaves,
        is_last,
        frees,
        tells: (frees | idles) & fits,
        may: fits & (asks_ready | !(frees | idles)),
    }
}

/// Returns the status of its completion. `is_request`: it completes because it is acknowledged, otherwise it is flushed.
#[hdl_fn]
pub fn status_of(row: QueueRow, slot: SqIndex, is_request: Bit) -> Bits<8> {
    let is_failed_slot = row.failed & (slot == row.failed_slot);
    if is_request {
        bits::<8>(SUCCESS)
    } else if is_failed_slot {
        row.failed_status
    } else {
        bits::<8>(WR_FLUSH_ERR)
    }
}
