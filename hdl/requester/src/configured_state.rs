//! What configurations change in the state of a queue pair.

use hdl_macros::hdl_fn;
use stellar_wire::hw::requester::RequesterConfig;
use stellar_wire::hw::spray::{PathUse, SprayOp, SprayRequest, SprayResponse};

use crate::deadline::longest_tail;
use crate::records::{ConfigureKind, DelayState, Op, PathPolicy, RcState, RequesterState};

/// Returns the state of a queue pair whose requester is configured: it has sent nothing. The path policy stays, because the spray engine is configured on its own. No logic.
#[hdl_fn]
pub fn configured_state(settings: RequesterConfig, path_policy: PathPolicy) -> RequesterState {
    let delays = DelayState {
        tail: longest_tail(settings.rto),
        ..DelayState::default()
    };
    let rc = RcState {
        to_send: settings.first_psn,
        sent: settings.first_psn,
        ..RcState::default()
    };
    RequesterState {
        una: settings.first_psn,
        mpr: settings.mpr,
        path_policy,
        delays,
        rc,
        ..RequesterState::default()
    }
}

/// Returns the request to the spray engine: its configuration, or what software does to one path. Levels: 1.
#[hdl_fn]
pub fn path_use_request(op: Op, path_use: PathUse) -> SprayRequest {
    SprayRequest {
        op: match op.configure {
            ConfigureKind::PathUse => {
                if path_use.denied {
                    SprayOp::Deny
                } else {
                    SprayOp::Allow
                }
            }
            _ => SprayOp::Configure,
        },
        qp: op.qp,
        index: path_use.index,
        now: op.now,
        ..SprayRequest::default()
    }
}

/// Returns the state after software has denied or allowed a path. A plane may have lost its last path, so that no burst may count on one. A probe that waits for its port does not leave on a path that is
/// denied. Levels: 3.
#[hdl_fn]
pub fn after_path_use(
    state: RequesterState,
    path_use: PathUse,
    response: SprayResponse,
) -> RequesterState {
    let is_of_probe = state.probe_index == path_use.index;
    let mut after = state;
    after.path_policy.keeps_all_paths = state.path_policy.spreads & !response.denies;
    after.probe = state.probe & !(path_use.denied & is_of_probe);
    after
}
