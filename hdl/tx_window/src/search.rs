//! Searches in the slots of a window.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;

use crate::row::WindowRow;
use crate::slots::{is_hit, unacknowledged, unacknowledged_with, words_unacknowledged, SlotWord};

/// Target of a search.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Target {
    /// The first unacknowledged slot.
    Una,
    /// The first packet lost on plane 0; on plane 1.
    Lost0,
    Lost1,
}

/// Searches that are needed because the row is out of date.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Pending {
    pub una: Bit,
    pub lost_0: Bit,
    pub lost_1: Bit,
}

/// Returns the target of the next search.
#[hdl_fn]
pub fn next_target(pending: Pending) -> Target {
    if pending.una {
        Target::Una
    } else if pending.lost_0 {
        Target::Lost0
    } else {
        Target::Lost1
    }
}

/// Removes the next search.
#[hdl_fn]
pub fn after_next_target(pending: Pending) -> Pending {
    Pending {
        una: false,
        lost_0: pending.lost_0 & pending.una,
        lost_1: pending.lost_1 & (pending.una | pending.lost_0),
    }
}

#[hdl_fn]
pub fn is_pending(pending: Pending) -> Bit {
    pending.una | pending.lost_0 | pending.lost_1
}

/// Returns the searches that are needed when `psn` is no longer lost: it was the first packet lost on plane 0, or on plane 1. 4 levels.
#[hdl_fn]
pub fn pending_without(row: WindowRow, psn: Psn) -> Pending {
    Pending {
        una: false,
        lost_0: row.lost.get_bit(0) & (row.first_lost_0 == psn),
        lost_1: row.lost.get_bit(1) & (row.first_lost_1 == psn),
    }
}

/// Adds the searches that are needed when these slots of a word are acknowledged. 5 levels.
#[hdl_fn]
pub fn pending_after(pending: Pending, row: WindowRow, index: Bits<4>, slots: Bits<64>) -> Pending {
    Pending {
        una: pending.una | is_hit(row.una, index, slots),
        lost_0: pending.lost_0 | row.lost.get_bit(0) & is_hit(row.first_lost_0, index, slots),
        lost_1: pending.lost_1 | row.lost.get_bit(1) & is_hit(row.first_lost_1, index, slots),
    }
}

/// Returns where a search starts. No slot before it can match.
#[hdl_fn]
pub fn search_start(target: Target, row: WindowRow) -> Psn {
    match target {
        Target::Una => row.una,
        Target::Lost0 => row.first_lost_0,
        _ => row.first_lost_1,
    }
}

/// A search: the inputs of `SlotSeek`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Search {
    pub from: Psn,
    pub summary: Bits<16>,
    pub set_word: Bits<64>,
}

/// Returns the search for a target. `word` is the word in which it starts.
#[hdl_fn]
pub fn search_for(target: Target, row: WindowRow, word: SlotWord) -> Search {
    Search {
        from: search_start(target, row),
        summary: match target {
            Target::Una => words_unacknowledged(row.occupied),
            Target::Lost0 => row.occupied.lost_0,
            _ => row.occupied.lost_1,
        },
        set_word: match target {
            Target::Una => unacknowledged(word),
            Target::Lost0 => word.lost_0,
            _ => word.lost_1,
        },
    }
}

/// Returns the search for the first unacknowledged slot, which starts in word `index`. The row does not contain the new state of that word yet. 5 levels.
#[hdl_fn]
pub fn una_search(row: WindowRow, index: Bits<4>, word: SlotWord) -> Search {
    let slots = unacknowledged(word);
    Search {
        from: row.una,
        summary: unacknowledged_with(row.occupied, index, slots),
        set_word: slots,
    }
}

/// Returns the row after a search. If there was a `hit`, `psn` is the result.
#[hdl_fn]
pub fn after_search(row: WindowRow, target: Target, hit: Bit, psn: Psn) -> WindowRow {
    let mut after = row;
    after.una = if target != Target::Una {
        row.una
    } else if hit {
        psn
    } else {
        row.next_psn
    };
    after.first_lost_0 = if target == Target::Lost0 {
        psn
    } else {
        row.first_lost_0
    };
    after.first_lost_1 = if target == Target::Lost1 {
        psn
    } else {
        row.first_lost_1
    };
    let lost_0 = row.lost.get_bit(0) & (hit | (target != Target::Lost0));
    let lost_1 = row.lost.get_bit(1) & (hit | (target != Target::Lost1));
    after.lost = bits::<2>(0).replace_bit(0, lost_0).replace_bit(1, lost_1);
    after
}
