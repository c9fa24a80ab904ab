//! State of the prefetch of a queue pair, and its next read.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::wqe::Wqe;
use stellar_wire::hw::FromBits;
use stellar_wire::hw::{Qpn, SqIndex};

use crate::records::Ask;
use crate::ring::ring_place;

/// log2 of [`BUFFERED`].
pub const BUFFERED_LOG2: u64 = 4;
/// Entries of a queue pair that are buffered behind the next one: those of two reads, so that one read is outstanding while the entries of the previous one
/// are used.
pub const BUFFERED: u64 = 1 << BUFFERED_LOG2;
/// Maximum number of entries of a read: 512 bytes. A read does not cross a 512-byte boundary of the ring, so a ring aligned to 512 bytes is read in whole
/// blocks.
pub const MAX_READ_ENTRIES: u64 = 8;

/// Prefetch state of a queue pair. Slots are send queue indices, modulo 2^16.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PrefetchState {
    /// Bus address of the ring.
    pub base: Bits<64>,
    pub log2_entries: Bits<4>,
    /// The message table has requested an entry that has not arrived.
    pub pending: Bit,
    /// Number of buffered entries.
    pub buffered: Bits<5>,
    /// Slot of the next entry to arrive.
    pub arriving: SqIndex,
    /// Slot of the next entry to read. Entries from `arriving` on are outstanding.
    pub reading: SqIndex,
    /// Producer index of the last doorbell.
    pub producer: SqIndex,
    /// Outstanding entries that were requested before the last restart.
    pub stale: Bits<4>,
}

/// Returns the state after an entry arrived.
#[hdl_fn]
pub fn after_arrival(row: PrefetchState) -> PrefetchState {
    let is_stale = row.stale.any();
    let mut after = row;
    after.pending = row.pending & is_stale;
    after.buffered = if is_stale | row.pending {
        row.buffered
    } else {
        row.buffered + 1
    };
    after.arriving = if is_stale {
        row.arriving
    } else {
        row.arriving + 1
    };
    after.stale = if is_stale { row.stale - 1 } else { row.stale };
    after
}

/// Returns whether the entry that a doorbell carried is the requested one, and is not being read.
#[hdl_fn]
pub fn is_pushed(row: PrefetchState, ask: Ask, offer: WqeFetched) -> Bit {
    let entry = Wqe::from_bits(offer.entry);
    let is_next = (offer.qp == ask.qp) & (entry.slot == ask.slot);
    is_next & !row.buffered.any() & !row.stale.any() & (row.arriving == row.reading)
}

/// Returns whether the entry that a doorbell carried is the next one to read, and there is space for it.
#[hdl_fn]
pub fn is_next_read(row: PrefetchState, ask: Ask, offer: WqeFetched) -> Bit {
    let entry = Wqe::from_bits(offer.entry);
    let is_next = (offer.qp == ask.qp) & (entry.slot == row.reading);
    is_next & !row.buffered.get_bit(4) & !row.stale.any() & (row.arriving == row.reading)
}

/// Returns the state after a doorbell. `keeps`: the entry that it carried is buffered.
#[hdl_fn]
pub fn after_doorbell(row: PrefetchState, ask: Ask, keeps: Bit) -> PrefetchState {
    let buffered = PrefetchState {
        buffered: row.buffered + 1,
        arriving: row.arriving + 1,
        reading: row.reading + 1,
        producer: ask.producer,
        ..row
    };
    if keeps {
        buffered
    } else {
        row
    }
}

/// Returns the state after the message table requested the next entry. `pushed`: the doorbell carried it.
#[hdl_fn]
pub fn after_dequeue(row: PrefetchState, ask: Ask, pushed: Bit) -> PrefetchState {
    let has_buffered = row.buffered.any();
    let mut after = row;
    after.pending = !has_buffered & !pushed;
    after.buffered = if has_buffered {
        row.buffered - 1
    } else {
        row.buffered
    };
    after.arriving = if pushed {
        row.arriving + 1
    } else {
        row.arriving
    };
    after.reading = if pushed { row.reading + 1 } else { row.reading };
    after.producer = ask.producer;
    after
}

/// Returns the state after the start of another ring.
#[hdl_fn]
pub fn after_restart(row: PrefetchState, ask: Ask) -> PrefetchState {
    PrefetchState {
        base: ask.base,
        log2_entries: ask.log2_entries,
        stale: row.stale + (row.reading - row.arriving).get_bits::<4>(0),
        ..PrefetchState::default()
    }
}

/// Returns the next read of a queue pair. It has no entries if no read should start.
#[hdl_fn]
pub fn next_read(row: PrefetchState, qp: Qpn) -> WqeFetch {
    let left = row.producer - row.reading;
    let in_block = match row.log2_entries.to_u8() {
        1 => bits::<3>(1),
        2 => bits::<3>(3),
        _ => bits::<3>(7),
    };
    let to_end = bit_cast::<16, 3>(in_block - (row.reading.get_bits::<3>(0) & in_block)) + 1;
    let entries = if left < to_end { left } else { to_end };
    // Half of the buffer must be free.
    let may = (row.arriving == row.reading)
        & !row.stale.any()
        & (row.buffered <= (BUFFERED - MAX_READ_ENTRIES));
    WqeFetch {
        address: row.base + (bit_cast::<64, 15>(ring_place(row.reading, row.log2_entries)) << 6),
        qp,
        entries: if may {
            entries.get_bits::<4>(0)
        } else {
            bits::<4>(0)
        },
        epoch: false,
    }
}
