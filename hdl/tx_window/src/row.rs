//! The row of a queue pair, and how operations change it.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;
use stellar_wire::mtu::LENGTH_BITS;

use crate::blocks::Block;
use crate::sent_memory::SUM_BITS;

/// Position of the window of one queue pair. The window is empty if `una` is `next_psn`; then it holds no block.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WindowRow {
    /// First PSN that is in flight or lost; `next_psn` if there is none.
    pub una: Psn,
    /// PSN of the next new packet.
    pub next_psn: Psn,
    /// Payload bytes in flight.
    pub in_flight: Bits<24>,
    /// Bit p: a packet is lost on plane p. `first_lost_p` is the lowest one.
    pub lost: Bits<2>,
    pub first_lost_0: Psn,
    pub first_lost_1: Psn,
    /// Block of `una`, and block of the newest packet.
    pub head: Block,
    pub tail: Block,
}

/// Returns an empty window whose first packet will be `psn`.
#[hdl_fn]
pub fn empty_row(psn: Psn) -> WindowRow {
    WindowRow {
        una: psn,
        next_psn: psn,
        in_flight: bits::<24>(0),
        lost: bits::<2>(0),
        first_lost_0: psn,
        first_lost_1: psn,
        head: bits::<10>(0),
        tail: bits::<10>(0),
    }
}

/// Returns whether nothing is in flight or lost. A carry chain.
#[hdl_fn]
pub fn is_empty(row: WindowRow) -> Bit {
    row.una == row.next_psn
}

/// Returns whether a PSN is in the window. Two carry chains.
#[hdl_fn]
pub fn has_psn(row: WindowRow, psn: Psn) -> Bit {
    (psn - row.una) < (row.next_psn - row.una)
}

/// Returns the number of blocks that a window holds. Two carry chains of 8 bits and 1 level.
#[hdl_fn]
pub fn blocks_held(row: WindowRow) -> Bits<8> {
    let places = row.next_psn.get_bits::<8>(5) - row.una.get_bits::<8>(5);
    if is_empty(row) {
        bits::<8>(0)
    } else if row.next_psn.get_bits::<5>(0).any() {
        places + 1
    } else {
        places
    }
}

/// Does what `WindowPool::room` does. `held` is the number of blocks that the window holds, 0 if it is empty. 3 levels behind a carry chain.
#[hdl_fn]
pub fn room(next_psn: Psn, held: Bits<8>, free: Bits<11>) -> Bits<6> {
    // A window without blocks takes its first one, and the next one if more than one remains free then.
    let full = if held.any() {
        bit_cast::<11, 8>(held) < free
    } else {
        free > 2
    };
    let slot = next_psn.get_bits::<5>(0);
    let rest = bits::<6>(32) - bit_cast::<6, 5>(slot);
    if full {
        bits::<6>(32)
    } else if held.any() {
        bit_cast::<6, 5>(rest.get_bits::<5>(0))
    } else if free.any() {
        rest
    } else {
        bits::<6>(0)
    }
}

/// Adds `length` bytes to those in flight.
#[hdl_fn]
pub fn after_sending(row: WindowRow, length: Bits<LENGTH_BITS>) -> WindowRow {
    let mut after = row;
    after.in_flight = row.in_flight + bit_cast::<24, LENGTH_BITS>(length);
    after
}

/// Adds `count` new packets of `bytes` in total, of which the first lies in block `first`. A carry chain.
#[hdl_fn]
pub fn after_allocate(
    row: WindowRow,
    count: Bits<6>,
    bytes: Bits<24>,
    first: Block,
    is_empty: Bit,
) -> WindowRow {
    let mut after = row;
    after.in_flight = row.in_flight + bytes;
    after.next_psn = row.next_psn + bit_cast::<24, 6>(count);
    after.head = if is_empty { first } else { row.head };
    after.tail = first;
    after
}

/// Removes `length` bytes from those in flight.
#[hdl_fn]
pub fn after_bytes_left_flight(row: WindowRow, length: Bits<SUM_BITS>) -> WindowRow {
    let mut after = row;
    after.in_flight = row.in_flight - bit_cast::<24, SUM_BITS>(length);
    after
}

/// Marks `psn`, which is in flight, lost on a plane. 5 levels and two carry chains.
#[hdl_fn]
pub fn after_loss(row: WindowRow, psn: Psn, plane: Bit, length: Bits<LENGTH_BITS>) -> WindowRow {
    let ahead = psn - row.una;
    let first_0 = !row.lost.get_bit(0) | (ahead < (row.first_lost_0 - row.una));
    let first_1 = !row.lost.get_bit(1) | (ahead < (row.first_lost_1 - row.una));
    let mut after = after_bytes_left_flight(row, bit_cast::<SUM_BITS, LENGTH_BITS>(length));
    after.lost = bits::<2>(0)
        .replace_bit(0, row.lost.get_bit(0) | !plane)
        .replace_bit(1, row.lost.get_bit(1) | plane);
    after.first_lost_0 = if first_0 & !plane {
        psn
    } else {
        row.first_lost_0
    };
    after.first_lost_1 = if first_1 & plane {
        psn
    } else {
        row.first_lost_1
    };
    after
}
