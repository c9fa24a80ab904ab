//! Positions of entries in the ring of a send queue.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::SqIndex;

/// Returns the number of entries of the ring.
#[hdl_fn]
pub fn ring_entries(log2_entries: Bits<4>) -> Bits<16> {
    let mut entries = bits::<16>(0);
    for log2 in 0..16_usize {
        entries = entries.replace_bit(log2, log2_entries == (log2 as u64));
    }
    entries
}

/// Returns the position of a slot in the ring.
#[hdl_fn]
pub fn ring_place(slot: SqIndex, log2_entries: Bits<4>) -> Bits<15> {
    let mut place = bits::<15>(0);
    for bit in 0..15_usize {
        place = place.replace_bit(bit, slot.get_bit(bit) & (log2_entries > (bit as u64)));
    }
    place
}
