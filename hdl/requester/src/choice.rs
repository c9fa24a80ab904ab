//! What a port sends next of a queue pair (reference: `MrcRequester::transmit_burst`, `lost_for`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayResponse;
use stellar_wire::hw::window::WindowResponse;

use crate::ports::of_port;
use crate::records::RequesterState;
use crate::segment::at_most_63;

/// A probe, a lost packet, or new ones, in this order.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Choice {
    /// A probe is due, and this port is its plane's.
    pub probes: Bit,
    /// The queue pair's probe from now on.
    pub probe: Bit,
    pub probe_index: Bits<8>,
    pub probe_entropy: Bits<32>,
    /// A packet is to be sent again.
    pub again: Bit,
    pub lost_psn: Bits<24>,
    /// Packets the window has room for, 63 if more.
    pub window_room: Bits<6>,
}

/// What `port` sends. What was lost on one plane goes out on the other while that one works. Levels: two carry chains and 4.
#[hdl_fn]
pub fn choose(
    state: RequesterState,
    port: Bit,
    spray: SprayResponse,
    window: WindowResponse,
) -> Choice {
    let probe_index = if state.probe {
        state.probe_index
    } else {
        spray.index
    };
    let probe_entropy = if state.probe {
        state.probe_entropy
    } else {
        spray.entropy
    };
    let probe = state.probe | spray.found;
    let other_usable = of_port(spray.usable, !port);
    let lost_here = of_port(window.lost, port);
    let lost_other = of_port(window.lost, !port);
    let from_plane_1 = lost_other ^ port;
    let lost_psn = if from_plane_1 {
        window.first_lost1
    } else {
        window.first_lost0
    };
    let window_left = bit_cast::<24, 11>(state.mpr) - (window.next_psn - window.una);
    let window_room = if window_left.get_bit(23) {
        bits::<6>(0)
    } else {
        at_most_63(window_left)
    };
    Choice {
        probes: probe & (probe_index.get_bit(0) == port),
        probe,
        probe_index,
        probe_entropy,
        again: lost_other | (lost_here & !other_usable),
        lost_psn,
        window_room,
    }
}
