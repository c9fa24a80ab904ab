//! Steps of the prefetch, and what the arrival of a read does in each.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::prefetch_state::PrefetchState;

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
