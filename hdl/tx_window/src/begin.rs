//! What an operation does when row and slots have been read.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{WindowOp, WindowRequest};

use crate::row::*;
use crate::search::*;
use crate::slots::*;
use crate::step::Step;

/// The state after the first clock of an operation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Begun {
    pub row: WindowRow,
    /// The word looked at.
    pub word: SlotWord,
    pub word_changed: Bit,
    pub pending: Pending,
    pub step: Step,
}

/// Begins. `word` is that of the next new packet for a `Push`, of the answered packet of a `Sack`, or else of the PSN asked for. 4 levels.
#[hdl_fn]
pub fn begin(asked: WindowRequest, row: WindowRow, word: SlotWord) -> Begun {
    let resends = asked.op == WindowOp::Resend;
    let sending = after_sending(row, asked.sent.length);
    let empty = empty_row(asked.psn);
    let first_lost = pending_without(row, asked.psn);
    Begun {
        row: if resends {
            sending
        } else if asked.op == WindowOp::Configure {
            empty
        } else {
            row
        },
        word: if resends {
            with_in_flight(word, slot_of(asked.psn))
        } else {
            word
        },
        word_changed: resends,
        pending: Pending {
            una: false,
            lost_0: resends & first_lost.lost_0,
            lost_1: resends & first_lost.lost_1,
        },
        step: match asked.op {
            WindowOp::Read | WindowOp::Lose => Step::Read,
            WindowOp::Sack => Step::Check,
            WindowOp::NextInFlight => Step::Find,
            WindowOp::Resend => Step::Seek,
            WindowOp::Push | WindowOp::Retract => Step::Range,
            _ => Step::Respond,
        },
    }
}
