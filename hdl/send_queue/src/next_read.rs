//! The next read of a queue pair.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::wqe::Wqe;
use stellar_wire::hw::{FromBits, Qpn};

use crate::entry::has_rest;
use crate::prefetch_state::{ahead_of, lines_of, PrefetchState, BLOCK_ENTRIES, BURST};
use crate::records::Ask;
use crate::ring::ring_place;

/// Returns whether the next entry lies in a block that the queue pair does not have yet.
#[hdl_fn]
pub fn needs_block(row: PrefetchState) -> Bit {
    !row.owned.any() | !row.reading.get_bits::<3>(0).any()
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

/// Returns the next read of a queue pair, of `entries` entries, which begins in an epoch.
#[hdl_fn]
pub fn next_read(row: PrefetchState, qp: Qpn, entries: Bits<4>, epoch: Bit) -> WqeFetch {
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
        epoch,
    }
}

/// Returns whether another read leaves the queue pair with at most a burst ahead, and with less before it.
#[hdl_fn]
pub fn lacks_burst(row: PrefetchState) -> Bit {
    ahead_of(row) < (BURST - BLOCK_ENTRIES)
}

/// Returns whether the entry that a doorbell carried is the next one to read, and no read is outstanding. A doorbell carries 64 bytes, so an entry that has more is not.
#[hdl_fn]
pub fn is_next_read(row: PrefetchState, ask: Ask, offer: WqeFetched) -> Bit {
    let entry = Wqe::from_bits(offer.line);
    let is_next = (offer.qp == ask.qp) & (entry.slot == row.reading);
    let is_whole = !row.long_entries | !has_rest(entry);
    is_next & is_whole & (row.arriving == row.reading)
}
