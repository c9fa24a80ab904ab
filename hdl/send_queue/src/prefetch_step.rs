//! Steps of the prefetch, and what the arrival of a read does in each.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::prefetch_state::{after_drop, after_visit, PrefetchState};

/// What the block does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum PrefetchStep {
    /// Accepts a request of the message table, a visit, or the first entry of a read. Reads the row.
    Take,
    /// The row has been read: updates it.
    Act,
    /// Entries arrived behind a full block: their block is the one behind that.
    Follow,
    /// A doorbell, with an entry that it may have carried: stores the entry, if it may. Waits while those of a read are stored.
    Push,
    /// Doorbell, visit, or entries that were taken: starts a read, if it may.
    Read,
    /// Entries of 128 bytes arrived: waits until they are stored, and updates the row.
    Gather,
}

/// What the block works on.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Work {
    Ask,
    Visit,
    Arrival,
}

/// What the read that arrives does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Arrival {
    /// Its entries lie behind a full block.
    pub crosses: Bit,
    /// Its first line has a place, and is stored.
    pub lands: Bit,
    /// Its other lines follow.
    pub others_follow: Bit,
    /// The row does not count its entries yet, because others of their lines are to be stored.
    pub gathers: Bit,
    /// The row counts its entries, this number.
    pub arrives: Bit,
    pub entries: Bits<4>,
    /// The row forgets so many lines.
    pub lines: Bits<4>,
    /// The row changes.
    pub writes: Bit,
}

/// Returns what an arrival does. `behind`: lines behind the first one; `storing`: some of them have not come. In `Act` the row comes late, so little depends on it: 2 levels.
#[hdl_fn]
pub fn arrival_of(
    step: PrefetchStep,
    work: Work,
    row: PrefetchState,
    behind: Bits<3>,
    storing: Bit,
) -> Arrival {
    let is_arrival = work == Work::Arrival;
    let acts = (step == PrefetchStep::Act) & is_arrival;
    let follows = step == PrefetchStep::Follow;
    let gathers = step == PrefetchStep::Gather;
    let gathered = gathers & !storing;
    let crosses = !row.drops & row.filled;
    let lands = (acts & !row.drops & !row.filled) | follows;
    let lines = bit_cast::<4, 3>(behind) + 1;
    let counts = acts & (row.drops | (!row.filled & !row.long_entries));
    Arrival {
        crosses: is_arrival & crosses,
        lands,
        others_follow: ((acts & !crosses) | follows) & behind.any(),
        gathers: lands & row.long_entries,
        arrives: (lands & !row.long_entries) | gathered,
        entries: if gathers { lines >> 1 } else { lines },
        lines,
        writes: counts | (follows & !row.long_entries) | gathered,
    }
}

/// Returns the row that `Act`, `Follow` or `Gather` writes: `asked` after a request, `came` after entries that arrived. Entries that cross into another block change the row in `Follow`, those of 128 bytes in `Gather`.
#[hdl_fn]
pub fn after_work(
    work: Work,
    row: PrefetchState,
    asked: PrefetchState,
    came: PrefetchState,
    lines: Bits<4>,
) -> PrefetchState {
    match work {
        Work::Ask => asked,
        Work::Visit => after_visit(row),
        Work::Arrival => {
            if row.drops {
                after_drop(row, lines)
            } else {
                came
            }
        }
    }
}

/// What the step after a step depends on, beside the read that arrives.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Endings {
    /// `Take`: something is accepted.
    pub accepts: Bit,
    /// `Act`: the doorbell may have carried an entry; there may be something to read.
    pub may_push: Bit,
    pub may_read: Bit,
    /// `Push`: other lines of a read are stored; the entry is stored, and no other one was posted.
    pub storing: Bit,
    pub pushes_last: Bit,
}

/// Returns the step after `step`.
#[hdl_fn]
pub fn next_step(step: PrefetchStep, arrival: Arrival, endings: Endings) -> PrefetchStep {
    match step {
        PrefetchStep::Take => {
            if endings.accepts {
                PrefetchStep::Act
            } else {
                PrefetchStep::Take
            }
        }
        PrefetchStep::Act => {
            if arrival.crosses {
                PrefetchStep::Follow
            } else if arrival.gathers {
                PrefetchStep::Gather
            } else if endings.may_push {
                PrefetchStep::Push
            } else if endings.may_read {
                PrefetchStep::Read
            } else {
                PrefetchStep::Take
            }
        }
        PrefetchStep::Follow => {
            if arrival.gathers {
                PrefetchStep::Gather
            } else {
                PrefetchStep::Take
            }
        }
        PrefetchStep::Gather => {
            if arrival.arrives {
                PrefetchStep::Take
            } else {
                PrefetchStep::Gather
            }
        }
        PrefetchStep::Push => {
            if endings.storing {
                PrefetchStep::Push
            } else if endings.pushes_last {
                PrefetchStep::Take
            } else {
                PrefetchStep::Read
            }
        }
        PrefetchStep::Read => PrefetchStep::Take,
    }
}
