//! How many packets an RC queue pair may send (reference: `RcRequester::due`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::RequesterConfig;

use crate::records::RequesterState;
use crate::segment::at_most_63;

/// What may leave from `next` on.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RcRoom {
    /// These packets are sent again.
    pub again: Bit,
    /// Packets, 63 if more.
    pub packets: Bits<6>,
    /// Behind the last of them the window is full.
    pub fills: Bit,
}

/// What an RC queue pair may send: all that it went back over, or what its window has room for. Levels: two carry chains and 4.
#[hdl_fn]
pub fn rc_room(settings: RequesterConfig, state: RequesterState) -> RcRoom {
    let again = state.rc.to_send != state.rc.sent;
    let window_left = bit_cast::<24, 11>(settings.mpr) - (state.rc.sent - state.una);
    let behind = state.rc.sent - state.rc.to_send;
    let room = if again { behind } else { window_left };
    RcRoom {
        again,
        packets: at_most_63(room),
        fills: !again | !window_left.any(),
    }
}
