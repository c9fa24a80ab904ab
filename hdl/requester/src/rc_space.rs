//! Packets that an RC queue pair may send (reference: `RcRequester::due`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::RequesterConfig;

use crate::records::RequesterState;
use crate::segment::at_most_63;

/// Packets that may be sent from `to_send` on.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RcSpace {
    /// They are retransmissions.
    pub is_retransmit: Bit,
    /// Number of packets, 63 if more.
    pub packets: Bits<6>,
    /// The last of these packets fills the window.
    pub fills_window: Bit,
}

/// Returns how many packets an RC queue pair may send. After go-back-N, these are the packets to retransmit; otherwise they are the new packets
/// that its window allows. Levels: two carry chains and 4.
#[hdl_fn]
pub fn rc_space(settings: RequesterConfig, state: RequesterState) -> RcSpace {
    let is_retransmit = state.rc.to_send != state.rc.sent;
    let window_left = bit_cast::<24, 13>(settings.mpr) - (state.rc.sent - state.una);
    let behind = state.rc.sent - state.rc.to_send;
    let space = if is_retransmit { behind } else { window_left };
    RcSpace {
        is_retransmit,
        packets: at_most_63(space),
        fills_window: !is_retransmit | !window_left.any(),
    }
}
