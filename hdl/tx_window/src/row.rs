//! The row of a queue pair, and what each operation makes of it.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::mtu::LENGTH_BITS;

use crate::sent_memory::SUM_BITS;

use crate::slots::Occupied;

/// Where the window of one queue pair stands.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WindowRow {
    /// First PSN not known to be received: in flight or lost, or else `next_psn`.
    pub una: Bits<24>,
    /// PSN of the next new packet.
    pub next_psn: Bits<24>,
    /// Payload bytes in flight.
    pub in_flight: Bits<24>,
    /// Bit p: a packet is lost on plane p, the lowest one is `first_lost_p`.
    pub lost: Bits<2>,
    pub first_lost_0: Bits<24>,
    pub first_lost_1: Bits<24>,
    pub occupied: Occupied,
}

/// An empty window whose first packet will be `psn`.
#[hdl_fn]
pub fn empty_row(psn: Bits<24>) -> WindowRow {
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

/// The row with `length` bytes more in flight.
#[hdl_fn]
pub fn after_sending(row: WindowRow, length: Bits<LENGTH_BITS>) -> WindowRow {
    let mut after = row;
    after.in_flight = row.in_flight + bit_cast::<24, LENGTH_BITS>(length);
    after
}

/// The row after `count` new packets of `bytes` in all. A carry chain.
#[hdl_fn]
pub fn after_push(row: WindowRow, count: Bits<6>, bytes: Bits<24>) -> WindowRow {
    let mut after = row;
    after.in_flight = row.in_flight + bytes;
    after.next_psn = row.next_psn + bit_cast::<24, 6>(count);
    after
}

/// The row without the newest packets, from `psn` on, of `bytes` in all. A carry chain.
#[hdl_fn]
pub fn after_retract(row: WindowRow, psn: Bits<24>, bytes: Bits<24>) -> WindowRow {
    let mut after = row;
    after.in_flight = row.in_flight - bytes;
    after.next_psn = psn;
    after
}

/// The row with `length` bytes fewer in flight.
#[hdl_fn]
pub fn after_landing(row: WindowRow, length: Bits<SUM_BITS>) -> WindowRow {
    let mut after = row;
    after.in_flight = row.in_flight - bit_cast::<24, SUM_BITS>(length);
    after
}

/// The row after the packet in flight `psn` was lost on a plane. 5 levels and two carry chains.
#[hdl_fn]
pub fn after_loss(
    row: WindowRow,
    psn: Bits<24>,
    plane: Bit,
    length: Bits<LENGTH_BITS>,
) -> WindowRow {
    let ahead = psn - row.una;
    let first_0 = !row.lost.get_bit(0) | (ahead < (row.first_lost_0 - row.una));
    let first_1 = !row.lost.get_bit(1) | (ahead < (row.first_lost_1 - row.una));
    let mut after = after_landing(row, bit_cast::<SUM_BITS, LENGTH_BITS>(length));
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
