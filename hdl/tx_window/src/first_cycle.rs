//! First cycle of an operation, in which its row and its slots have been read.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{WindowOp, WindowRequest};

use crate::row::{after_sending, empty_row, WindowRow};
use crate::search::{pending_without, Pending};
use crate::slots::{slot_of, with_in_flight, SlotWord};
use crate::step::Step;

/// State after the first cycle.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FirstCycle {
    pub row: WindowRow,
    /// The word of slots that was read.
    pub word: SlotWord,
    pub word_changed: Bit,
    pub pending: Pending,
    pub step: Step,
}

/// Executes the first cycle. `word` is the word of the next new packet (`Allocate`), of the answered packet (`Sack`), or of the requested PSN. 4 levels.
#[hdl_fn]
pub fn first_cycle(asked: WindowRequest, row: WindowRow, word: SlotWord) -> FirstCycle {
    let is_retransmit = asked.op == WindowOp::MarkRetransmitted;
    let sending = after_sending(row, asked.sent.length);
    let empty = empty_row(asked.psn);
    let first_lost = pending_without(row, asked.psn);
    FirstCycle {
        row: if is_retransmit {
            sending
        } else if asked.op == WindowOp::Configure {
            empty
        } else {
            row
        },
        word: if is_retransmit {
            with_in_flight(word, slot_of(asked.psn))
        } else {
            word
        },
        word_changed: is_retransmit,
        pending: Pending {
            una: false,
            lost_0: is_retransmit & first_lost.lost_0,
            lost_1: is_retransmit & first_lost.lost_1,
        },
        step: match asked.op {
            WindowOp::Read | WindowOp::MarkLost => Step::ReadRecord,
            WindowOp::Sack => Step::CheckSack,
            WindowOp::NextInFlight => Step::SearchWord,
            WindowOp::MarkRetransmitted => Step::StartSearch,
            WindowOp::Allocate | WindowOp::Rollback => Step::UpdateRange,
            _ => Step::Respond,
        },
    }
}
