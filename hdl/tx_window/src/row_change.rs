//! What a step changes in the row.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{WindowOp, WindowRequest};

use crate::allocation::Allocation;
use crate::result::Finding;
use crate::row::{after_allocate, after_loss, after_sending, empty_row, WindowRow};
use crate::step::Step;
use crate::visit::VisitEnd;

/// Returns the row with which the operation begins. 1 level.
#[hdl_fn]
pub fn row_at_start(asked: WindowRequest, fetched: WindowRow) -> WindowRow {
    if asked.op == WindowOp::Configure {
        empty_row(asked.psn)
    } else {
        fetched
    }
}

/// Returns the row after a step other than `Fetch`.
#[hdl_fn]
pub fn changed_row(
    row: WindowRow,
    step: Step,
    asked: WindowRequest,
    finding: Finding,
    is_empty: Bit,
    allocation: Allocation,
    end: VisitEnd,
) -> WindowRow {
    let record = finding.record;
    match step {
        Step::Seek => {
            if finding.found_there & (asked.op == WindowOp::MarkRetransmitted) {
                after_sending(row, asked.sent.length)
            } else {
                row
            }
        }
        Step::ReadRecord => {
            if finding.record_comes {
                after_loss(row, asked.psn, record.ev.get_bit(0), record.length)
            } else {
                row
            }
        }
        Step::Allocate => {
            if asked.count.any() {
                after_allocate(row, asked.count, asked.bytes, allocation.first, is_empty)
            } else {
                row
            }
        }
        Step::AllocateEnd => WindowRow {
            tail: allocation.second,
            ..row
        },
        Step::Visit => {
            if end.advances {
                end.row
            } else {
                row
            }
        }
        _ => row,
    }
}
