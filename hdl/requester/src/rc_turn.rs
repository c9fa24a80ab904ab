//! What a port may send for an RC queue pair with a path policy (reference: `RcPaths::turn`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::RequesterConfig;
use stellar_wire::hw::spray::SprayResponse;

use crate::choice::{probes_from, with_due_probe};
use crate::records::{RcPathState, RcState, RequesterState};

/// Returns whether an RC queue pair has a path policy. Levels: 3.
#[hdl_fn]
pub fn has_paths(settings: RequesterConfig) -> Bit {
    settings.rc & settings.slow_rtt.any()
}

/// What the port sends, in the order of priority. If nothing of it holds, it may send data.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RcTurn {
    /// First the policy is told that nothing is in flight, and asked again.
    pub tells_empty: Bit,
    /// A probe is due, and its path belongs to this port's plane.
    pub probes: Bit,
    /// The policy holds data back.
    pub held_back: Bit,
    /// State of the queue pair with the pause and with the probe that is due.
    pub state: RequesterState,
}

/// Returns what `port` sends. `spray` is the response of the spray engine; what would leave was sent before if `is_retransmit`; nothing is in flight if `empty`. Levels: 2.
#[hdl_fn]
pub fn rc_turn(
    state: RequesterState,
    spray: SprayResponse,
    is_retransmit: Bit,
    empty: Bit,
    told_empty: Bit,
    port: Bit,
) -> RcTurn {
    let due = with_due_probe(state, spray, true);
    RcTurn {
        tells_empty: spray.held & spray.drains & empty & !told_empty,
        probes: probes_from(due, port),
        held_back: spray.held & !(spray.drains & is_retransmit),
        state: RequesterState {
            rc: RcState {
                paths: RcPathState {
                    held: spray.held,
                    held_until: spray.until,
                    ..state.rc.paths
                },
                ..state.rc
            },
            ..due
        },
    }
}
