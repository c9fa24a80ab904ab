//! State of the prefetch of a queue pair, and its next read.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::wqe::Wqe;
use stellar_wire::hw::FromBits;
use stellar_wire::hw::{Qpn, SqIndex};

use crate::entry::has_rest;
use crate::records::{Ask, AskKind, Block, BlockCount};
use crate::ring::ring_place;

/// log2 of the entries of a block.
pub const BLOCK_LOG2: usize = 3;
/// Entries of a block, and maximum number of lines of a read: 512 bytes, which are 8 entries of 64 bytes or 4 of 128. A read does not cross a 512-byte boundary of the ring, so a ring aligned to 512
/// bytes is read in whole blocks, or halves of them.
pub const BLOCK_ENTRIES: u64 = 1 << BLOCK_LOG2;

/// Number of an engine's entries that were read and not taken: at most all of its pool.
pub type Ahead = Bits<14>;
/// Entries of a burst: a queue pair that has fewer ahead is visited again at once, and one that waits is woken up when they are there.
pub const BURST: u64 = 32;
/// A queue pair reads ahead of what was taken while it has fewer entries than this: a burst.
pub const OWN_AHEAD: u64 = 32;
/// It reads ahead without that limit while all queue pairs of the engine have fewer entries than this: 75 million messages a second and 2.5 us, the time of a read with its
/// wait, are 190, and queue pairs whose entries are there wait for their turn.
pub const ALL_AHEAD: u64 = 512;

/// Prefetch state of a queue pair. Slots are send queue indices, modulo 2^16.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PrefetchState {
    /// Bus address of the ring.
    pub base: Bits<64>,
    pub log2_entries: Bits<4>,
    /// The entries have 128 bytes, which are two lines, in place of 64.
    pub long_entries: Bit,
    /// log2 of the path MTU.
    pub mtu_log2: Bits<4>,
    /// Slot of the next entry to arrive. The entries of a read arrive together.
    pub arriving: SqIndex,
    /// Slot of the next entry to read. Entries from `arriving` on are outstanding.
    pub reading: SqIndex,
    /// Entries before this slot were taken, as far as the message table has told.
    pub taken: SqIndex,
    /// Producer index of the last doorbell.
    pub producer: SqIndex,
    /// Outstanding lines that were requested before the last restart. They arrive before all others.
    pub stale: Bits<16>,
    /// There are such lines. A bit of its own, because much depends on it right behind the memory.
    pub drops: Bit,
    /// Number of blocks in the chain, its number, and its first and last block.
    pub owned: BlockCount,
    pub chain: Bits<2>,
    pub first: Block,
    pub last: Block,
    /// Block of the slot before `arriving`, and whether that slot was its last. If no entry of the chain has arrived: its first block.
    pub filling: Block,
    pub filled: Bit,
    /// The queue pair waits to be visited.
    pub queued: Bit,
    /// The message table has missed the entry `arriving`.
    pub missed: Bit,
}

/// What a request of the message table does.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Asked {
    pub row: PrefetchState,
    /// Blocks return: from `first` to `last`.
    pub gives: Bit,
    pub first: Block,
    pub last: Block,
    pub count: BlockCount,
    /// The queue pair is woken up.
    pub wakes: Bit,
    /// There may be something to read.
    pub may_read: Bit,
    /// So many entries fewer are ahead.
    pub fewer: Ahead,
}

/// Returns whether the entry that a doorbell carried is the next one to read, and no read is outstanding. A doorbell carries 64 bytes, so an entry that has more is not.
#[hdl_fn]
pub fn is_next_read(row: PrefetchState, ask: Ask, offer: WqeFetched) -> Bit {
    let entry = Wqe::from_bits(offer.line);
    let is_next = (offer.qp == ask.qp) & (entry.slot == row.reading);
    let is_whole = !row.long_entries | !has_rest(entry);
    is_next & is_whole & (row.arriving == row.reading)
}

/// Returns whether the next entry lies in a block that the queue pair does not have yet.
#[hdl_fn]
pub fn needs_block(row: PrefetchState) -> Bit {
    !row.owned.any() | !row.reading.get_bits::<3>(0).any()
}

/// Returns the state after the queue pair got a block.
#[hdl_fn]
pub fn after_take(row: PrefetchState, block: Block) -> PrefetchState {
    let begins = !row.owned.any();
    let mut after = row;
    after.owned = row.owned + 1;
    after.last = block;
    after.chain = if begins { row.chain + 1 } else { row.chain };
    after.first = if begins { block } else { row.first };
    after.filling = if begins { block } else { row.filling };
    after.filled = row.filled & !begins;
    after
}

/// Bits of a number of entries under way. A queue pair reads nothing more with [`ALL_AHEAD`] entries ahead, as the engine knows three reads later.
const UNDER_WAY_BITS: usize = 10;
const _: () = assert!(ALL_AHEAD + 4 * BLOCK_ENTRIES < 1 << UNDER_WAY_BITS);

/// Returns whether so many entries are under way as [`ends_run`] expects at most.
#[hdl_fn]
pub fn are_few_under_way(row: PrefetchState) -> Bit {
    !((row.reading - row.arriving) >> (UNDER_WAY_BITS as u64)).any()
}

/// Returns whether `a + b` is `sum`, without a carry chain: where the sum is right, each carry follows from the bits below it. 3 levels.
#[hdl_fn]
fn is_sum(a: Bits<UNDER_WAY_BITS>, b: Bits<UNDER_WAY_BITS>, sum: Bits<UNDER_WAY_BITS>) -> Bit {
    let carries = a ^ b ^ sum;
    carries == (((a & b) | ((a | b) & !sum)) << 1)
}

/// Returns whether so many entries that arrive end with the last one under way, or with the last one of a burst. 3 levels.
#[hdl_fn]
pub fn ends_run(row: PrefetchState, entries: Bits<4>) -> Bit {
    let end = row.arriving.get_bits::<5>(0) + bit_cast::<5, 4>(entries);
    // So few are under way that the low bits say where they end.
    let ends = is_sum(
        row.arriving.get_bits::<UNDER_WAY_BITS>(0),
        bit_cast::<UNDER_WAY_BITS, 4>(entries),
        row.reading.get_bits::<UNDER_WAY_BITS>(0),
    );
    ends | !end.any()
}

/// Returns whether another read leaves the queue pair with at most a burst ahead, and with less before it.
#[hdl_fn]
pub fn lacks_burst(row: PrefetchState) -> Bit {
    ahead_of(row) < (BURST - BLOCK_ENTRIES)
}

/// Returns the state after the lines of a read arrived that began before the last restart.
#[hdl_fn]
pub fn after_drop(row: PrefetchState, lines: Bits<4>) -> PrefetchState {
    let stale = row.stale - bit_cast::<16, 4>(lines);
    PrefetchState {
        stale,
        drops: stale.any(),
        ..row
    }
}

/// Returns the state after entries of one block arrived, in block `block`.
#[hdl_fn]
pub fn after_arrival(row: PrefetchState, block: Block, entries: Bits<4>) -> PrefetchState {
    let end = row.arriving + bit_cast::<16, 4>(entries);
    let mut after = row;
    after.arriving = end;
    after.filling = block;
    after.filled = !end.get_bits::<3>(0).any();
    after.missed = row.missed & !ends_run(row, entries);
    after
}

/// Returns the number of entries that were read and not taken.
#[hdl_fn]
fn ahead_of(row: PrefetchState) -> Bits<16> {
    row.reading - row.taken
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
    Asked {
        row: if restarts { fresh } else { after },
        gives: returns | frees,
        first: if ask.chain == row.chain {
            ask.block
        } else {
            row.first
        },
        last: if frees { ask.block } else { row.last },
        count: if frees { bits::<11>(1) } else { row.owned },
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

/// Returns how many lines entries have.
#[hdl_fn]
fn lines_of(long_entries: Bit, entries: Bits<16>) -> Bits<16> {
    if long_entries {
        entries << 1
    } else {
        entries
    }
}

/// Returns the number of entries from the next one to read up to the end of its 512 bytes, or of the ring.
#[hdl_fn]
fn to_end(row: PrefetchState) -> Bits<16> {
    let in_ring = match row.log2_entries.to_u8() {
        1 => bits::<3>(1),
        2 => bits::<3>(3),
        _ => bits::<3>(7),
    };
    let in_read = if row.long_entries {
        bits::<3>(3)
    } else {
        bits::<3>(7)
    };
    bit_cast::<16, 3>(!row.reading.get_bits::<3>(0) & in_ring & in_read) + 1
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

/// Returns whether the next read has all entries that were posted.
#[hdl_fn]
pub fn is_rest(row: PrefetchState) -> Bit {
    (row.producer - row.reading) <= to_end(row)
}

/// Returns the number of entries of the next read of a queue pair, 0 to 8.
#[hdl_fn]
pub fn next_entries(row: PrefetchState) -> Bits<4> {
    let entries = if is_rest(row) {
        row.producer - row.reading
    } else {
        to_end(row)
    };
    entries.get_bits::<4>(0)
}

/// Returns the next read of a queue pair, of `entries` entries.
#[hdl_fn]
pub fn next_read(row: PrefetchState, qp: Qpn, entries: Bits<4>) -> WqeFetch {
    let place = bit_cast::<64, 15>(ring_place(row.reading, row.log2_entries));
    let bytes = if row.long_entries {
        place << 7
    } else {
        place << 6
    };
    let lines = lines_of(row.long_entries, bit_cast::<16, 4>(entries));
    WqeFetch {
        address: row.base + bytes,
        qp,
        lines: lines.get_bits::<4>(0),
        epoch: false,
    }
}
