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
    /// A burst: the place after it.
    FindMore,
    /// There is none: a new rotation, or from the start again.
    Restart,
    /// Single path and probe: the plane of the place found.
    TakePlane,
    /// The position passes `slot_at`.
    SlotFirst,
    SlotSecond,
    /// The value that serves the slot; a burst on a single path stays here, a clock for each packet.
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

/// What the order of steps depends on, besides operation and policy.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Facts {
    /// `Select`: there is a candidate.
    pub can_choose: Bit,
    /// `Find`, `FindMore`: there is a place.
    pub found: Bit,
    /// The search went from the start on, too, and found nothing since.
    pub again: Bit,
    /// Paths are wanted beyond this one.
    pub more: Bit,
    /// `TakePlane`: nothing comes of the place found.
    pub in_vain: Bit,
    /// `Change`: a backup may move.
    pub moves: Bit,
}

/// Whether a rotation of this policy has an order by key.
#[hdl_fn]
pub fn is_permuted(policy: SprayPolicy) -> Bit {
    (policy == SprayPolicy::Obs) | (policy == SprayPolicy::EvState)
}

/// The step after another; `Idle` ends with a request, and goes to `Fetch` or `DrawStart`.
#[hdl_fn]
pub fn step_after(step: Step, op: SprayOp, policy: SprayPolicy, facts: Facts) -> Step {
    let fetched = after_fetch(op, policy);
    let found = after_found(op, policy, facts.more);
    let not_found = after_not_found(op, facts.again);
    let searches = if (op == SprayOp::Choose) & is_permuted(policy) {
        Step::OrderFirst
    } else {
        Step::Find
    };
    let repeats = facts.more & (policy == SprayPolicy::SinglePath);
    match step {
        Step::Idle | Step::Respond => Step::Idle,
        Step::Fetch => fetched,
        Step::Select => {
            if facts.can_choose {
                searches
            } else {
                Step::Respond
            }
        }
        Step::Restart => searches,
        Step::OrderFirst => Step::OrderSecond,
        Step::Collect | Step::OrderSecond | Step::Unserved => Step::Find,
        Step::Find | Step::FindMore => {
            if facts.found {
                found
            } else {
                not_found
            }
        }
        Step::TakePlane => {
            if facts.in_vain {
                Step::Respond
            } else {
                Step::Serve
            }
        }
        Step::SlotFirst => Step::SlotSecond,
        Step::SlotSecond => Step::Serve,
        Step::Serve => {
            if repeats {
                Step::Serve
            } else {
                Step::Evaluate
            }
        }
        Step::Subtract => Step::Number,
        Step::Number => Step::Name,
        Step::Name => Step::Judge,
        Step::Judge => Step::Change,
        Step::Change => {
            if facts.moves {
                Step::Unserved
            } else {
                Step::Respond
            }
        }
        Step::DrawStart => Step::DrawKey0,
        Step::DrawKey0 => Step::DrawKey1,
        Step::DrawKey1 => Step::Begin,
        Step::Begin => Step::Settle,
        Step::Evaluate | Step::Assign | Step::Settle => Step::Respond,
    }
}

/// Only EV-state has values to probe.
#[hdl_fn]
fn after_fetch(op: SprayOp, policy: SprayPolicy) -> Step {
    match op {
        SprayOp::Choose => Step::Select,
        SprayOp::Probe => {
            if policy == SprayPolicy::EvState {
                Step::Collect
            } else {
                Step::Settle
            }
        }
        SprayOp::Reflect => Step::Subtract,
        SprayOp::Query => Step::Settle,
        _ => Step::Judge,
    }
}

#[hdl_fn]
fn after_found(op: SprayOp, policy: SprayPolicy, more: Bit) -> Step {
    let in_rotation = if more {
        Step::FindMore
    } else if policy == SprayPolicy::RoundRobin {
        Step::Serve
    } else {
        Step::SlotFirst
    };
    match op {
        SprayOp::Probe => Step::TakePlane,
        SprayOp::Choose => {
            if policy == SprayPolicy::SinglePath {
                Step::TakePlane
            } else {
                in_rotation
            }
        }
        _ => Step::Assign,
    }
}

#[hdl_fn]
fn after_not_found(op: SprayOp, again: Bit) -> Step {
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
