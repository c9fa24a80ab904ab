//! The row of a queue pair, and how operations change it.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;
use stellar_wire::mtu::LENGTH_BITS;

use crate::sent_memory::SUM_BITS;

use crate::slots::Occupied;

/// Position of the window of one queue pair.
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
    pub occupied: Occupied,
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
        occupied: Occupied {
            in_flight: bits::<16>(0),
            lost_0: bits::<16>(0),
            lost_1: bits::<16>(0),
        },
    }
}

/// Adds `length` bytes to those in flight.
#[hdl_fn]
pub fn after_sending(row: WindowRow, length: Bits<LENGTH_BITS>) -> WindowRow {
    let mut after = row;
    after.in_flight = row.in_flight + bit_cast::<24, LENGTH_BITS>(length);
    after
}

/// Adds `count` new packets of `bytes` in total. A carry chain.
#[hdl_fn]
pub fn after_allocate(row: WindowRow, count: Bits<6>, bytes: Bits<24>) -> WindowRow {
    let mut after = row;
    after.in_flight = row.in_flight + bytes;
    after.next_psn = row.next_psn + bit_cast::<24, 6>(count);
    after
}

/// Removes the newest packets, from `psn` on, of `bytes` in total. A carry chain.
#[hdl_fn]
pub fn after_rollback(row: WindowRow, psn: Psn, bytes: Bits<24>) -> WindowRow {
    let mut after = row;
    after.in_flight = row.in_flight - bytes;
    after.next_psn = psn;
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
