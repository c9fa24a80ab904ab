//! What a request of the message table changes in the state of the prefetch.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::prefetch_state::{ahead_of, lines_of, Ahead, PrefetchState, OWN_AHEAD};
use crate::records::{Ask, AskKind, Block, BlockCount};

/// Blocks that return: the first and the last one of a chain, and how many there are.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Chain {
    pub first: Block,
    pub last: Block,
    pub count: BlockCount,
}

/// What a request of the message table does.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Asked {
    pub row: PrefetchState,
    /// The blocks of `chain` return.
    pub gives: Bit,
    pub chain: Chain,
    /// The queue pair is woken up.
    pub wakes: Bit,
    /// There may be something to read.
    pub may_read: Bit,
    /// So many entries fewer are ahead.
    pub fewer: Ahead,
}

/// Returns whether a request tells how far entries were taken.
#[hdl_fn]
fn tells_taken(kind: AskKind) -> Bit {
    (kind == AskKind::Takes) | (kind == AskKind::Misses) | (kind == AskKind::Idles)
}

/// Returns the effect of a request. A push comes on top of it.
#[hdl_fn]
pub fn after_ask(row: PrefetchState, ask: Ask) -> Asked {
    let restarts = ask.kind == AskKind::Restarts;
    let rings = ask.kind == AskKind::Rings;
    let misses = ask.kind == AskKind::Misses;
    let frees = ask.kind == AskKind::Frees;
    let idles = ask.kind == AskKind::Idles;
    let takes = tells_taken(ask.kind);
    let is_idle = idles & (ask.slot == row.reading);
    let returns = (restarts | is_idle) & row.owned.any();
    let comes = misses & (ask.slot == row.arriving);
    let mut after = row;
    after.producer = if rings { ask.producer } else { row.producer };
    after.owned = if returns {
        bits::<11>(0)
    } else if frees {
        row.owned - 1
    } else {
        row.owned
    };
    after.missed = row.missed | comes;
    after.taken = if takes { ask.slot } else { row.taken };
    let under_way = row.reading - row.arriving;
    let fresh = PrefetchState {
        base: ask.base,
        log2_entries: ask.log2_entries,
        long_entries: ask.long_entries,
        mtu_log2: ask.mtu_log2,
        stale: row.stale + lines_of(row.long_entries, under_way),
        drops: row.drops | (row.reading != row.arriving),
        chain: row.chain,
        queued: row.queued,
        ..PrefetchState::default()
    };
    let chain = Chain {
        first: if ask.chain == row.chain {
            ask.block
        } else {
            row.first
        },
        last: if frees { ask.block } else { row.last },
        count: if frees { bits::<11>(1) } else { row.owned },
    };
    Asked {
        row: if restarts { fresh } else { after },
        gives: returns | frees,
        chain,
        wakes: (restarts & row.missed) | (misses & !comes),
        may_read: rings | takes,
        fewer: if restarts {
            ahead_of(row).get_bits::<14>(0)
        } else if takes {
            (ask.slot - row.taken).get_bits::<14>(0)
        } else {
            bits::<14>(0)
        },
    }
}

/// Returns how many entries fewer are ahead, if the row `acts` on a request with this effect.
#[hdl_fn]
pub fn fewer_ahead(acts: Bit, effect: Asked) -> Ahead {
    if acts {
        effect.fewer
    } else {
        bits::<14>(0)
    }
}

/// Returns whether the queue pair has fewer entries ahead than it may have on its own, after a request if there is one. 4 levels.
#[hdl_fn]
pub fn is_near(row: PrefetchState, asks: Bit, ask: Ask) -> Bit {
    let takes = asks & tells_taken(ask.kind);
    // Both are compared before one is chosen: the row comes late.
    let before = ahead_of(row) < OWN_AHEAD;
    let after = (row.reading - ask.slot) < OWN_AHEAD;
    if takes {
        after
    } else {
        before
    }
}

/// Returns whether it still has, if it reads one entry more.
#[hdl_fn]
pub fn is_near_behind(row: PrefetchState) -> Bit {
    ahead_of(row) < (OWN_AHEAD - 1)
}
