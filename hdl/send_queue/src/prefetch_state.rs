//! State of the prefetch of a queue pair, and what arrivals, blocks and visits change in it.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::SqIndex;

use crate::records::{Block, BlockCount};

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

/// Returns the state after entries of one block arrived, in block `block`. Whether the message table still misses an entry comes late ([`ends_run`]), and is left to the caller.
#[hdl_fn]
pub fn after_arrival(row: PrefetchState, block: Block, entries: Bits<4>) -> PrefetchState {
    let end = row.arriving + bit_cast::<16, 4>(entries);
    let mut after = row;
    after.arriving = end;
    after.filling = block;
    after.filled = !end.get_bits::<3>(0).any();
    after
}

/// Returns the state of a queue pair that is visited.
#[hdl_fn]
pub fn after_visit(row: PrefetchState) -> PrefetchState {
    PrefetchState {
        queued: false,
        ..row
    }
}

/// Returns the number of entries that were read and not taken.
#[hdl_fn]
pub fn ahead_of(row: PrefetchState) -> Bits<16> {
    row.reading - row.taken
}

/// Returns how many lines entries have.
#[hdl_fn]
pub fn lines_of(long_entries: Bit, entries: Bits<16>) -> Bits<16> {
    if long_entries {
        entries << 1
    } else {
        entries
    }
}
