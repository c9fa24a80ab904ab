//! Selects what a port sends next for a queue pair (reference: `MrcRequester::transmit_each`, `lost_for`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::TxRequest;
use stellar_wire::hw::spray::SprayResponse;
use stellar_wire::hw::window::WindowResponse;
use stellar_wire::hw::Psn;
use stellar_wire::mrc::Peth;
use stellar_wire::Opcode;

use crate::ports::of_port;
use crate::records::{Op, RequesterState};
use crate::segment::at_most_63;
use crate::silent_plane::avoids;

/// The choice, in the order of priority: a probe, a lost packet, or new packets.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Choice {
    /// A probe is due, and its path belongs to this port's plane.
    pub probes: Bit,
    /// A lost packet is retransmitted.
    pub is_retransmit: Bit,
    pub lost_psn: Psn,
    /// New packets that the PSN window allows, 63 if more.
    pub window_space: Bits<6>,
    /// The queue pair holds no block of the pool, and none is free.
    pub starves: Bit,
}

/// Returns the probe of `state`. It names the PSN before `next_psn`. Levels: 2 and a carry chain.
#[hdl_fn]
pub fn probe_packet(op: Op, next_psn: Psn, state: RequesterState) -> TxRequest {
    let tail = if state.probe_is_tail {
        bits::<16>(Peth::TAIL_PROBE as u64)
    } else {
        bits::<16>(0)
    };
    TxRequest {
        qp: op.qp,
        port: op.port,
        opcode: bits::<8>(Opcode::MrcProbe.code() as u64),
        psn: next_psn - 1,
        timestamp: op.now.get_bits::<16>(0),
        probe_id: bit_cast::<16, 8>(state.probe_index) | tail,
        entropy: state.probe_entropy,
        ..TxRequest::default()
    }
}

/// Returns `state` with the probe that is due. One that was due before comes before that of `spray`, which has one only if it was `asked`. Levels: 1.
#[hdl_fn]
pub fn with_due_probe(state: RequesterState, spray: SprayResponse, asked: Bit) -> RequesterState {
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
    RequesterState {
        probe: state.probe | (spray.found & asked),
        probe_index,
        probe_is_tail: state.probe & state.probe_is_tail,
        probe_entropy,
        ..state
    }
}

/// Returns whether the probe that is due belongs to the plane of `port`. Levels: 1.
#[hdl_fn]
pub fn probes_from(state: RequesterState, port: Bit) -> Bit {
    state.probe & (state.probe_index.get_bit(0) == port)
}

/// Selects what `port` sends. `state` has the probe that is due. A packet lost on one plane is retransmitted on the other one, as long as that is usable. A plane that is silent gets probes only. Levels:
/// two carry chains and 5.
#[hdl_fn]
pub fn choose(
    state: RequesterState,
    plane_up: Bits<2>,
    port: Bit,
    spray: SprayResponse,
    window: WindowResponse,
) -> Choice {
    let avoided = avoids(state, plane_up, port);
    let other_usable = of_port(spray.usable, !port) & !avoids(state, plane_up, !port);
    let lost_here = of_port(window.lost, port);
    let lost_other = of_port(window.lost, !port);
    let from_plane_1 = lost_other ^ port;
    let lost_psn = if from_plane_1 {
        window.first_lost1
    } else {
        window.first_lost0
    };
    let window_left = bit_cast::<24, 13>(state.mpr) - (window.next_psn - window.una);
    let window_space = if window_left.get_bit(23) | avoided {
        bits::<6>(0)
    } else {
        at_most_63(window_left)
    };
    Choice {
        probes: probes_from(state, port),
        is_retransmit: (lost_other | (lost_here & !other_usable)) & !avoided,
        lost_psn,
        window_space,
        starves: !window.room.any() & window.is_empty & !avoided,
    }
}
