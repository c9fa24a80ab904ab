//! Planes that do not answer (reference: `requester/mrc/silence.rs`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::ports::{of_port, pair};
use crate::records::RequesterState;

/// Bit of a count of losses that is set when the plane is silent: from 16 losses on.
const SILENT: usize = 4;

/// Losses of each plane since an answer to one of its packets, 16 at most.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PlaneLosses {
    pub plane0: Bits<5>,
    pub plane1: Bits<5>,
}

/// Returns `losses` and one more, if the plane is up. Levels: 3.
#[hdl_fn]
fn one_more(losses: Bits<5>, up: Bit) -> Bits<5> {
    if !up {
        bits::<5>(0)
    } else if losses.get_bit(SILENT) {
        losses
    } else {
        losses + 1
    }
}

/// Counts a packet of `plane` that was late or is known to be lost. If the own port is down, that is the reason. Levels: 4.
#[hdl_fn]
pub fn lost(losses: PlaneLosses, plane_up: Bits<2>, plane: Bit) -> PlaneLosses {
    PlaneLosses {
        plane0: if plane {
            losses.plane0
        } else {
            one_more(losses.plane0, plane_up.get_bit(0))
        },
        plane1: if plane {
            one_more(losses.plane1, plane_up.get_bit(1))
        } else {
            losses.plane1
        },
    }
}

/// Records an answer to the last transmission of a packet on `plane`, or to a probe of it. Levels: 1.
#[hdl_fn]
pub fn heard(losses: PlaneLosses, plane: Bit) -> PlaneLosses {
    PlaneLosses {
        plane0: if plane { losses.plane0 } else { bits::<5>(0) },
        plane1: if plane { bits::<5>(0) } else { losses.plane1 },
    }
}

/// Returns whether a plane is silent. Levels: 1.
#[hdl_fn]
pub fn any_silent(losses: PlaneLosses) -> Bit {
    losses.plane0.get_bit(SILENT) | losses.plane1.get_bit(SILENT)
}

/// Returns whether data packets keep away from `plane`: it is silent, and the other one is up and is not. Levels: 2.
#[hdl_fn]
pub fn avoids(state: RequesterState, plane_up: Bits<2>, plane: Bit) -> Bit {
    let silent0 = state.losses.plane0.get_bit(SILENT);
    let silent1 = state.losses.plane1.get_bit(SILENT);
    let here = if plane { silent1 } else { silent0 };
    let other = if plane { silent0 } else { silent1 };
    state.path_policy.keeps_all_paths & here & !other & of_port(plane_up, !plane)
}

/// Returns the planes that are up and that data packets keep away from: bit p belongs to plane p. Levels: 3.
#[hdl_fn]
pub fn silent_planes(state: RequesterState, plane_up: Bits<2>) -> Bits<2> {
    pair(
        avoids(state, plane_up, false) & plane_up.get_bit(0),
        avoids(state, plane_up, true) & plane_up.get_bit(1),
    )
}
