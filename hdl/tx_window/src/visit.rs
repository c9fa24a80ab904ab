//! A visit of one block on the way through the list of a window: what it tells about `una` and about the first lost packets.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;

use crate::blocks::{lowest_of_32, place_of, psn_at, Block, BlockSlots, Place};
use crate::row::WindowRow;
use crate::sack::{names_behind, LastNamed};

/// A block that has been read, with its slots as the operation leaves them.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Visit {
    pub block: Block,
    pub place: Place,
    /// Number of blocks of the window before this one.
    pub index: Bits<8>,
    pub slots: BlockSlots,
    /// The row names a lost packet of this block. A visit before this one does not change that.
    pub named: Pending,
    /// The slots among which the operation looks for the lowest one: unacknowledged ones (`Sack`), or ones in flight (`NextInFlight`).
    pub wanted: Bits<32>,
}

/// Packets that are looked for, because the row does not name them any more.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Pending {
    pub lost_0: Bit,
    pub lost_1: Bit,
}

#[hdl_fn]
fn is_pending(pending: Pending) -> Bit {
    pending.lost_0 | pending.lost_1
}

/// How a visit ends.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct VisitEnd {
    /// It ends in this cycle. Everything else is valid with this.
    pub advances: Bit,
    /// Another one follows.
    pub more: Bit,
    /// The block has a slot that is wanted, and the PSN of the lowest one.
    pub any_wanted: Bit,
    pub first_wanted: Psn,
    /// `Sack`: a packet that is not acknowledged has been found.
    pub una_found: Bit,
    /// The row as the visit leaves it.
    pub row: WindowRow,
}

/// Returns the lost packets of the block at `place` that the row names. 3 levels.
#[hdl_fn]
pub fn named_at(row: WindowRow, place: Place) -> Pending {
    Pending {
        lost_0: row.lost.get_bit(0) & (place_of(row.first_lost_0) == place),
        lost_1: row.lost.get_bit(1) & (place_of(row.first_lost_1) == place),
    }
}

/// Returns the packets that are looked for in this block: the row named one of this block, or one of a block before, in which none is left. 1 level.
#[hdl_fn]
fn sought_here(visit: Visit, pending: Pending) -> Pending {
    Pending {
        lost_0: pending.lost_0 | visit.named.lost_0,
        lost_1: pending.lost_1 | visit.named.lost_1,
    }
}

/// Returns what is still looked for behind this block. 3 levels.
#[hdl_fn]
pub fn pending_after(visit: Visit, pending: Pending) -> Pending {
    let sought = sought_here(visit, pending);
    Pending {
        lost_0: sought.lost_0 & !visit.slots.lost_0.any(),
        lost_1: sought.lost_1 & !visit.slots.lost_1.any(),
    }
}

/// Returns the row after a visit: the first lost packets, if they are in this block. 4 levels.
#[hdl_fn]
fn with_first_lost(row: WindowRow, visit: Visit, pending: Pending) -> WindowRow {
    let sought = sought_here(visit, pending);
    let rest = pending_after(visit, pending);
    let found_0 = psn_at(visit.place, lowest_of_32(visit.slots.lost_0));
    let found_1 = psn_at(visit.place, lowest_of_32(visit.slots.lost_1));
    let mut after = row;
    after.first_lost_0 = if sought.lost_0 {
        found_0
    } else {
        row.first_lost_0
    };
    after.first_lost_1 = if sought.lost_1 {
        found_1
    } else {
        row.first_lost_1
    };
    let lost_0 = (row.lost.get_bit(0) | sought.lost_0) & !rest.lost_0;
    let lost_1 = (row.lost.get_bit(1) | sought.lost_1) & !rest.lost_1;
    after.lost = bits::<2>(0).replace_bit(0, lost_0).replace_bit(1, lost_1);
    after
}

/// Returns the PSN of the lowest slot that is wanted, if there is one. 4 levels.
#[hdl_fn]
pub fn first_wanted(visit: Visit) -> Psn {
    psn_at(visit.place, lowest_of_32(visit.wanted))
}

/// What an operation looks for.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Goal {
    /// `Sack`: the first packet that is not acknowledged, and all that it names. `una_found`: a block before this one has the former.
    pub is_sack: Bit,
    pub una_found: Bit,
    pub last_named: LastNamed,
    /// `NextInFlight`: a packet in flight.
    pub is_next: Bit,
}

/// Returns whether the operation goes on to the next block, if the window has one: it looks for a packet, for the first lost one of a plane, or for others that the SACK names. 4 levels behind a carry chain of 8 bits.
#[hdl_fn]
pub fn goes_on(visit: Visit, pending: Pending, goal: Goal) -> Bit {
    let found = visit.wanted.any();
    let una_found = goal.una_found | found;
    if goal.is_next {
        !found
    } else {
        is_pending(pending_after(visit, pending))
            | (goal.is_sack & (!una_found | names_behind(goal.last_named, visit.index)))
    }
}

/// Returns the row after a visit. A SACK moves the window to the first slot that is not acknowledged, or to its end behind the last block (`is_last`). `NextInFlight` changes nothing. 5 levels.
#[hdl_fn]
pub fn row_after(
    row: WindowRow,
    visit: Visit,
    pending: Pending,
    goal: Goal,
    is_last: Bit,
) -> WindowRow {
    let seeks_una = goal.is_sack & !goal.una_found;
    let found = visit.wanted.any();
    let passed = with_first_lost(row, visit, pending);
    let mut moved = if goal.is_next { row } else { passed };
    moved.una = if seeks_una & found {
        first_wanted(visit)
    } else if seeks_una & is_last {
        row.next_psn
    } else {
        row.una
    };
    moved.head = if seeks_una & found {
        visit.block
    } else {
        row.head
    };
    moved
}
