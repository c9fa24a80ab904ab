//! The row of a queue pair, and what each operation makes of it.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::slots::{
    unacknowledged, unacknowledged__hdl, words_unacknowledged, words_unacknowledged__hdl, Occupied,
    SlotWord,
};

/// Where the window of one queue pair stands.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WindowRow {
    /// First PSN not known to be received: in flight or lost, or else `next_psn`.
    pub una: Bits<24>,
    /// PSN of the next new packet.
    pub next_psn: Bits<24>,
    /// Payload bytes in flight.
    pub in_flight: Bits<24>,
    /// Bit p: a packet is lost on plane p, the lowest one is `first_lost_p`.
    pub lost: Bits<2>,
    pub first_lost_0: Bits<24>,
    pub first_lost_1: Bits<24>,
    pub occupied: Occupied,
}

/// What is looked for in the slots.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Target {
    /// The first slot unacknowledged.
    Una,
    /// The first packet lost on plane 0, on plane 1.
    Lost0,
    Lost1,
    /// A packet in flight.
    InFlight,
}

/// What is to be looked for, as it is no longer what the row says.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Pending {
    pub una: Bit,
    pub lost_0: Bit,
    pub lost_1: Bit,
}

/// The next one of them.
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

/// What is left after that.
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

/// Slots of a word that are looked for.
#[hdl_fn]
pub fn slots_sought(target: Target, word: SlotWord) -> Bits<64> {
    match target {
        Target::Una => unacknowledged(word),
        Target::Lost0 => word.lost_0,
        Target::Lost1 => word.lost_1,
        _ => word.in_flight,
    }
}

/// Words that have any.
#[hdl_fn]
pub fn words_sought(target: Target, occupied: Occupied) -> Bits<16> {
    match target {
        Target::Una => words_unacknowledged(occupied),
        Target::Lost0 => occupied.lost_0,
        Target::Lost1 => occupied.lost_1,
        _ => occupied.in_flight,
    }
}

/// Where a search begins: nothing that is sought lies before it.
#[hdl_fn]
pub fn search_start(target: Target, row: WindowRow) -> Bits<24> {
    match target {
        Target::Una => row.una,
        Target::Lost0 => row.first_lost_0,
        _ => row.first_lost_1,
    }
}

/// The row after a search: `psn` if there is a `hit`.
#[hdl_fn]
pub fn after_search(row: WindowRow, target: Target, hit: Bit, psn: Bits<24>) -> WindowRow {
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

/// An empty window whose first packet will be `psn`.
#[hdl_fn]
pub fn empty_row(psn: Bits<24>) -> WindowRow {
    WindowRow {
        una: psn,
        next_psn: psn,
        in_flight: bits::<24>(0),
        lost: bits::<2>(0),
        first_lost_0: psn,
        first_lost_1: psn,
        occupied: Occupied {
            in_flight: bits::<16>(0),
            lost_0: bits::<16>(0),
            lost_1: bits::<16>(0),
        },
    }
}

/// The row with `length` bytes more in flight, of a new packet or of one sent again.
#[hdl_fn]
pub fn after_sending(row: WindowRow, is_new: Bit, length: Bits<13>) -> WindowRow {
    let mut after = row;
    after.next_psn = if is_new {
        row.next_psn + 1
    } else {
        row.next_psn
    };
    after.in_flight = row.in_flight + bit_cast::<24, 13>(length);
    after
}

/// The row with `length` bytes fewer in flight.
#[hdl_fn]
pub fn after_landing(row: WindowRow, length: Bits<13>) -> WindowRow {
    let mut after = row;
    after.in_flight = row.in_flight - bit_cast::<24, 13>(length);
    after
}

/// The row after the packet in flight `psn` was lost on a plane. 5 levels and two carry chains.
#[hdl_fn]
pub fn after_loss(row: WindowRow, psn: Bits<24>, plane: Bit, length: Bits<13>) -> WindowRow {
    let ahead = psn - row.una;
    let first_0 = !row.lost.get_bit(0) | (ahead < (row.first_lost_0 - row.una));
    let first_1 = !row.lost.get_bit(1) | (ahead < (row.first_lost_1 - row.una));
    let mut after = after_landing(row, length);
    after.lost = bits::<2>(0)
        .replace_bit(0, row.lost.get_bit(0) | !plane)
        .replace_bit(1, row.lost.get_bit(1) | plane);
    after.first_lost_0 = if first_0 & !plane {
        psn
    } else {
        row.first_lost_0
    };
    after.first_lost_1 = if first_1 & plane {
        psn
    } else {
        row.first_lost_1
    };
    after
}

/// `psn` is the first packet lost on plane 0, on plane 1. 4 levels.
#[hdl_fn]
pub fn pending_without(row: WindowRow, psn: Bits<24>) -> Pending {
    Pending {
        una: false,
        lost_0: row.lost.get_bit(0) & (row.first_lost_0 == psn),
        lost_1: row.lost.get_bit(1) & (row.first_lost_1 == psn),
    }
}
