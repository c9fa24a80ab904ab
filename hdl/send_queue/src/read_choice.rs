//! Whether a queue pair may read entries, or use one that was pushed.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::WqeFetched;
use stellar_wire::hw::Qpn;

use crate::next_read::{is_next_read, is_rest, lacks_burst, needs_block, next_entries};
use crate::prefetch_state::{after_arrival, after_take, Ahead, PrefetchState};
use crate::records::{Ask, Block};
use crate::visit_queue::Turn;

/// What the choice depends on, beside the queue pair's row.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Chance {
    /// The queue pair may read in this cycle, if it has to.
    pub now: Bit,
    /// It is visited; otherwise a doorbell came (`rings`), or entries were taken.
    pub is_visit: Bit,
    pub rings: Bit,
    /// It has fewer entries ahead than it may have.
    pub near: Bit,
    pub nobody_waits: Bit,
    /// Nobody is visited before those that wait.
    pub nobody_again: Bit,
    /// There is space for a read that waits to leave.
    pub room: Bit,
    /// A block is free, `head`; fewer than half are; the pool may not be used in this cycle.
    pub spare: Bit,
    pub scarce: Bit,
    pub took: Bit,
    pub head: Block,
}

/// The choice.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReadChoice {
    /// It reads so many entries, and takes a block for them if `takes_block`.
    pub begins: Bit,
    pub entries: Bits<4>,
    pub takes_block: Bit,
    /// It waits for a visit, behind the others.
    pub queues: Bit,
    /// It is visited next.
    pub again: Bit,
    /// It may not read what it has.
    pub in_vain: Bit,
    pub row: PrefetchState,
}

/// Returns whether the queue pair of `row` reads, and whether it waits for more. LUT levels: 7, of which 4 in whether the read has all that is left.
#[hdl_fn]
pub fn choose_read(row: PrefetchState, chance: Chance) -> ReadChoice {
    let entries = next_entries(row);
    let any_left = row.producer != row.reading;
    let needs = needs_block(row);
    let poor = !row.owned.any() & chance.spare & (chance.is_visit | chance.nobody_waits);
    let available = !needs | ((!chance.scarce | poor) & !chance.took);
    // A doorbell reads before those that wait, so that each queue pair has something to send early. Who has sent waits behind them.
    let at_once = chance.nobody_waits | is_rest(row) | chance.rings;
    let begins = chance.now
        & any_left
        & chance.near
        & available
        & (chance.is_visit | (!row.queued & at_once))
        & chance.room;
    let asks_more = any_left & (chance.near | !chance.is_visit);
    let more = asks_more & !(begins & is_rest(row));
    let again_follows = lacks_burst(row) & chance.nobody_again;
    let with_block = if needs {
        after_take(row, chance.head)
    } else {
        row
    };
    let mut after = if begins { with_block } else { row };
    after.reading = if begins {
        row.reading + bit_cast::<16, 4>(entries)
    } else {
        row.reading
    };
    after.queued = row.queued | more;
    ReadChoice {
        begins,
        entries,
        takes_block: begins & needs,
        queues: chance.now & asks_more & !row.queued & !(begins & (is_rest(row) | again_follows)),
        again: begins & !is_rest(row) & again_follows,
        in_vain: chance.now & chance.is_visit & !begins & more,
        row: after,
    }
}

/// Returns the turn in which the queue pair reads, or does not. `gives`: blocks return.
#[hdl_fn]
pub fn turn_of(qp: Qpn, choice: ReadChoice, is_visit: Bit, gives: Bit) -> Turn {
    Turn {
        qp,
        again: choice.again,
        in_vain: choice.in_vain,
        changes: gives | choice.begins | (choice.queues & !is_visit),
    }
}

/// Returns how many entries more are ahead: those of a read that begins, or the one that `pushes`.
#[hdl_fn]
pub fn more_ahead(choice: ReadChoice, pushes: Bit) -> Ahead {
    if choice.begins {
        bit_cast::<14, 4>(choice.entries)
    } else if pushes {
        bits::<14>(1)
    } else {
        bits::<14>(0)
    }
}

/// Whether a pushed entry is used.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PushChoice {
    /// It is, in the last block of `row`, which it takes if `takes_block`.
    pub may: Bit,
    pub takes_block: Bit,
    /// It is the last entry that was posted.
    pub is_last: Bit,
    /// The row with the entry.
    pub row: PrefetchState,
}

/// Returns whether the entry `offered` that a doorbell carried is used as if it had been read: it is the next one to read, and there is a block for it. LUT levels: 5.
#[hdl_fn]
pub fn choose_push(
    row: PrefetchState,
    ask: Ask,
    offered: WqeFetched,
    chance: Chance,
) -> PushChoice {
    let needs = needs_block(row);
    let poor = !row.owned.any() & chance.spare & chance.nobody_waits;
    let base = if needs {
        after_take(row, chance.head)
    } else {
        row
    };
    let mut pushed = after_arrival(base, base.last, bits::<4>(1));
    pushed.reading = row.reading + 1;
    pushed.missed = false;
    PushChoice {
        may: is_next_read(row, ask, offered) & (!needs | !chance.scarce | poor),
        takes_block: needs,
        is_last: (row.producer - row.reading) == 1,
        row: pushed,
    }
}
