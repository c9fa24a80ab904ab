//! Steps of an operation, one clock each, and their order.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayOp, SprayPolicy, SprayRequest};

/// What the engine does in a clock.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    /// Waits for a request and reads its queue pair.
    Idle,
    /// Takes the row apart: the plane in question, and the other.
    Fetch,
    /// `Choose`: candidates.
    Select,
    /// `Probe`: values that are assumed bad; how long ago the last probe was.
    Collect,
    /// Maps pass `slot_order`.
    OrderFirst,
    OrderSecond,
    /// First place at or after the position.
    Find,
    /// There is none: a new rotation, or from the start again.
    Restart,
    /// Single path and probe: the plane of the place found.
    TakePlane,
    /// The position passes `slot_at`.
    SlotFirst,
    SlotSecond,
    /// The value that serves the slot.
    Serve,
    /// Its entropy.
    Evaluate,
    /// `Reflect`: the entropy passes `entropy_index`.
    Subtract,
    Number,
    Name,
    /// State of a value, and what happens to it.
    Judge,
    Change,
    /// Looks for a slot that nothing serves, and for a backup in reserve.
    Unserved,
    Assign,
    /// `Configure`: start, key of plane 0, key of plane 1.
    DrawStart,
    DrawKey0,
    DrawKey1,
    Begin,
    /// `usable` follows the row.
    Settle,
    Respond,
}

/// The step after `Fetch`.
#[hdl_fn]
pub fn after_fetch(op: SprayOp) -> Step {
    match op {
        SprayOp::Choose => Step::Select,
        SprayOp::Probe => Step::Collect,
        SprayOp::Reflect => Step::Subtract,
        SprayOp::Query => Step::Settle,
        _ => Step::Judge,
    }
}

/// The step after a place was found.
#[hdl_fn]
pub fn after_found(op: SprayOp, policy: SprayPolicy) -> Step {
    match op {
        SprayOp::Probe => Step::TakePlane,
        SprayOp::Choose => match policy {
            SprayPolicy::SinglePath => Step::TakePlane,
            SprayPolicy::RoundRobin => Step::Serve,
            _ => Step::SlotFirst,
        },
        _ => Step::Assign,
    }
}

/// The step after no place was found; `again`: from the start on, too.
#[hdl_fn]
pub fn after_not_found(op: SprayOp, again: Bit) -> Step {
    match op {
        SprayOp::Choose | SprayOp::Probe => {
            if again {
                Step::Respond
            } else {
                Step::Restart
            }
        }
        _ => Step::Respond,
    }
}

/// Whether an operation needs plane 1's maps first. A single path is looked for in both, beginning with plane 0.
#[hdl_fn]
pub fn begins_with_plane_1(request: SprayRequest, policy: SprayPolicy) -> Bit {
    match request.op {
        SprayOp::Choose => request.plane & (policy != SprayPolicy::SinglePath),
        SprayOp::Feedback | SprayOp::Deny | SprayOp::Allow => request.index.get_bit(0),
        _ => false,
    }
}
