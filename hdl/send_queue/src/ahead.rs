//! What is read ahead of a queue pair's messages, and what is read next.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::wqe::offset;

use crate::records::Ask;
use crate::ring::ring_place;

/// log2 of [`KEPT`].
pub const KEPT_LOG2: u64 = 4;
/// Entries of a queue pair that are kept behind the one that is looked at next: those of a read, while those of the read before are used.
pub const KEPT: u64 = 1 << KEPT_LOG2;
/// Entries of a read at most: 512 bytes. A read does not leave their block, so a ring that begins at a multiple of 512 bytes is read in whole blocks.
pub const MOST_READ: u64 = 8;

/// What is known of a queue pair's entries. Slots are send queue indices, modulo 2^16.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct AheadRow {
    /// Bus address of the ring.
    pub base: Bits<64>,
    pub log2_entries: Bits<4>,
    /// An entry was asked for and has not come.
    pub wanted: Bit,
    /// Entries that came and were not asked for.
    pub kept: Bits<5>,
    /// Slot of the entry that comes next.
    pub arriving: Bits<16>,
    /// Slot of the first entry that is not read. Those from `arriving` on are under way.
    pub reading: Bits<16>,
    /// The doorbell's index.
    pub producer: Bits<16>,
    /// Entries under way since before the last restart.
    pub stale: Bits<4>,
}

/// The row after an entry came.
#[hdl_fn]
pub fn arrived(row: AheadRow) -> AheadRow {
    let is_stale = row.stale.any();
    let mut after = row;
    after.wanted = row.wanted & is_stale;
    after.kept = if is_stale | row.wanted {
        row.kept
    } else {
        row.kept + 1
    };
    after.arriving = if is_stale {
        row.arriving
    } else {
        row.arriving + 1
    };
    after.stale = if is_stale { row.stale - 1 } else { row.stale };
    after
}

/// Whether an entry that came with a doorbell is the one asked for, and not read yet.
#[hdl_fn]
pub fn is_pushed(row: AheadRow, ask: Ask, offer: WqeFetched) -> Bit {
    let slot = offer.entry.get_bits::<16>(offset::SLOT);
    let is_next = (offer.qp == ask.qp) & (slot == ask.slot);
    is_next & !row.kept.any() & !row.stale.any() & (row.arriving == row.reading)
}

/// Whether an entry that came with a doorbell is the next one to be read, and there is room to keep it.
#[hdl_fn]
pub fn is_next_read(row: AheadRow, ask: Ask, offer: WqeFetched) -> Bit {
    let slot = offer.entry.get_bits::<16>(offset::SLOT);
    let is_next = (offer.qp == ask.qp) & (slot == row.reading);
    is_next & !row.kept.get_bit(4) & !row.stale.any() & (row.arriving == row.reading)
}

/// The row after a doorbell; `keeps` the entry that came with it.
#[hdl_fn]
pub fn rung(row: AheadRow, ask: Ask, keeps: Bit) -> AheadRow {
    let kept = AheadRow {
        kept: row.kept + 1,
        arriving: row.arriving + 1,
        reading: row.reading + 1,
        producer: ask.producer,
        ..row
    };
    if keeps {
        kept
    } else {
        row
    }
}

/// The row after the next entry was asked for. `pushed`: it came with the doorbell.
#[hdl_fn]
pub fn handed(row: AheadRow, ask: Ask, pushed: Bit) -> AheadRow {
    let has_kept = row.kept.any();
    let mut after = row;
    after.wanted = !has_kept & !pushed;
    after.kept = if has_kept { row.kept - 1 } else { row.kept };
    after.arriving = if pushed {
        row.arriving + 1
    } else {
        row.arriving
    };
    after.reading = if pushed { row.reading + 1 } else { row.reading };
    after.producer = ask.producer;
    after
}

/// The row of another ring.
#[hdl_fn]
pub fn restarted(row: AheadRow, ask: Ask) -> AheadRow {
    AheadRow {
        base: ask.base,
        log2_entries: ask.log2_entries,
        stale: row.stale + (row.reading - row.arriving).get_bits::<4>(0),
        ..AheadRow::default()
    }
}

/// The next read of a queue pair; of no entries, if it is not the time for one.
#[hdl_fn]
pub fn next_read(row: AheadRow, qp: Bits<10>) -> WqeFetch {
    let left = row.producer - row.reading;
    let in_block = match row.log2_entries.to_u8() {
        1 => bits::<3>(1),
        2 => bits::<3>(3),
        _ => bits::<3>(7),
    };
    let to_end = bit_cast::<16, 3>(in_block - (row.reading.get_bits::<3>(0) & in_block)) + 1;
    let entries = if left < to_end { left } else { to_end };
    // Half of what can be kept is free for it.
    let may = (row.arriving == row.reading) & !row.stale.any() & (row.kept <= (KEPT - MOST_READ));
    WqeFetch {
        address: row.base + (bit_cast::<64, 15>(ring_place(row.reading, row.log2_entries)) << 6),
        qp,
        entries: if may {
            entries.get_bits::<4>(0)
        } else {
            bits::<4>(0)
        },
    }
}
