//! How many packets a queue pair may send (reference: `MrcRequester::allowed`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::mtu::LENGTH_BITS;

use crate::segment::{at_most_63, smaller};

/// What the congestion window has left.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CwndSpace {
    /// Nothing is in flight: a packet of any length may leave.
    pub is_empty: Bit,
    /// More is in flight than the window allows.
    pub overdrawn: Bit,
    pub bytes: Bits<24>,
    /// Whole packets of the path MTU, 63 if more.
    pub packets: Bits<6>,
}

/// Subtracts the bytes in flight from the congestion window. Levels: a carry chain, a shift of 2 and 4.
#[hdl_fn]
pub fn cwnd_space(cwnd: Bits<24>, in_flight: Bits<24>, mtu_log2: Bits<4>) -> CwndSpace {
    let left = bit_cast::<25, 24>(cwnd) - bit_cast::<25, 24>(in_flight);
    let bytes = left.get_bits::<24>(0);
    let overdrawn = left.get_bit(24);
    CwndSpace {
        is_empty: !in_flight.any(),
        overdrawn,
        bytes,
        packets: if overdrawn {
            bits::<6>(0)
        } else {
            at_most_63(bytes >> bit_cast::<24, 4>(mtu_log2))
        },
    }
}

/// Returns whether the congestion window admits a packet. Levels: a carry chain and 1.
#[hdl_fn]
pub fn admits(space: CwndSpace, length: Bits<LENGTH_BITS>) -> Bit {
    space.is_empty | (!space.overdrawn & (space.bytes >= bit_cast::<24, LENGTH_BITS>(length)))
}

/// Packets of a burst.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BurstSize {
    /// Packets of its first message, at least 1.
    pub here: Bits<6>,
    /// Packets that may follow from other messages.
    pub more: Bits<6>,
}

/// Returns how many packets a burst may have, `most` at most, if the message has `left` packets from the first one on. If the windows allow none, the burst has one
/// packet, which may be too long. Levels: 9.
#[hdl_fn]
pub fn burst_size(by_windows: Bits<6>, left: Bits<24>, most: Bits<6>) -> BurstSize {
    let limit = smaller(by_windows, most);
    let here = smaller(at_most_63(left), limit);
    if limit.any() {
        BurstSize {
            here,
            more: limit - here,
        }
    } else {
        BurstSize {
            here: bits::<6>(1),
            more: bits::<6>(0),
        }
    }
}
