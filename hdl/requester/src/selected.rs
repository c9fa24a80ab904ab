//! What a transmission was selected to send.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::SentPacket;
use stellar_wire::hw::Psn;

use crate::ports::of_port;
use crate::rc_space::RcSpace;
use crate::records::{Op, RequesterState};

/// What `TransmitSelect` knows of the first packet, and of the queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Selected {
    /// State of the queue pair, with a probe that waits for its port.
    pub state: RequesterState,
    /// First PSN that is not known to be received.
    pub una: Psn,
    pub psn: Psn,
    /// MRC: payload bytes in flight.
    pub in_flight: Bits<24>,
    /// The packets are retransmissions; MRC: `last_sent` is the record of the last transmission.
    pub is_retransmit: Bit,
    pub last_sent: SentPacket,
    /// MRC: the queue pair holds no block of the pool, and none is free.
    pub starves: Bit,
    /// RC: the last packet of the burst fills the window.
    pub fills_window: Bit,
}

/// Returns what is known when the operation starts. Over RC nothing else comes to it. A probe whose plane went down is dropped, so that it does not keep the values of the other plane from being probed.
/// Levels: 1, beside that of `rc_space`.
#[hdl_fn]
pub fn selected_at_start(op: Op, rc_space: RcSpace, plane_up: Bits<2>) -> Selected {
    let mut state = op.state;
    state.probe = op.state.probe & of_port(plane_up, op.state.probe_index.get_bit(0));
    Selected {
        state,
        una: op.state.una,
        psn: op.state.rc.to_send,
        is_retransmit: op.settings.rc & rc_space.is_retransmit,
        fills_window: rc_space.fills_window,
        ..Selected::default()
    }
}

/// Returns how often the first packet has timed out. Levels: 1.
#[hdl_fn]
pub fn retries_before(selected: Selected) -> Bits<8> {
    if selected.is_retransmit {
        selected.last_sent.retries
    } else {
        bits::<8>(0)
    }
}
