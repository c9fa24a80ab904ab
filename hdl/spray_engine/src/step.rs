//! Steps of an operation, one cycle each, and their order.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{NamedBy, SprayOp, SprayPolicy, SprayRequest};

use crate::policy::{has_one_path, has_states, is_permuted, probes_paths};

/// What the engine does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    /// Accepts a request, and reads the row of its queue pair.
    Idle,
    /// Selects the own plane and the other one by the request.
    Fetch,
    /// `Choose`: determines the candidates.
    Select,
    /// `Probe` and `Query`: what they do depends on the policy. Hopper and HP3: finds whether the delay or the pause of a change of path is over, and ends it.
    HoldFirst,
    HoldSecond,
    EndHold,
    /// Hopper and HP3, `Probe`: determines the paths that may be probed.
    MapPaths,
    /// `Probe`: determines the values that are assumed bad, and the time since the last probe.
    CollectProbes,
    /// Finds which of the slots to take again are candidates.
    Recall,
    /// Takes slots again, one per cycle.
    Recycle,
    /// The maps pass `slot_order`.
    OrderFirst,
    OrderSecond,
    /// Finds the first place at or after the position.
    Find,
    /// Burst: finds the next place.
    FindMore,
    /// No place was found: starts a new rotation, or searches again from the start.
    NewRotation,
    /// Single path and probe: selects the plane of the place found.
    TakePlane,
    /// The position passes `slot_at`.
    SlotFirst,
    SlotSecond,
    /// Looks up the value that serves the slot. A burst on a single path stays in this step for one cycle per packet.
    LookupValue,
    /// Computes the entropy of the value.
    ComputeEntropy,
    /// `Ack`: the entropy passes `entropy_index`. The bucket of an explicit value is read while the base is subtracted.
    SubtractBase,
    ComputeNumber,
    /// `Ack`, and operations on the path in use: selects the plane of the index.
    TakeIndex,
    /// Classifies the state change of a value, and applies it.
    ClassifyChange,
    ApplyChange,
    /// Hopper and HP3: learns from round trips, marks and answers to probes.
    Hear,
    /// Computes the delay of a change of path, a bit per cycle.
    Extrapolate,
    AddDelay,
    LimitDelay,
    SetDelay,
    /// One path at a time: takes the path drawn.
    Bend,
    /// Finds a slot that no value serves, and assigns a backup in reserve to it.
    FindUnserved,
    AssignBackup,
    /// `Configure`: draws the first path and the keys of both planes, and initialises the planes.
    DrawStart,
    DrawKey0,
    DrawKey1,
    InitPlanes,
    /// `usable` follows the row one cycle later.
    WaitUsable,
    Respond,
    /// `Choose` that avoids a backup, behind `Fetch`: determines its slot.
    AvoidBackup,
    /// Behind `Hear`: what it decided is in registers.
    Conclude,
    /// A row of many comes a cycle later ([`hdl_primitives::DeepRowRam`]).
    AwaitRow,
}

/// Conditions that determine the next step, besides operation and policy.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct StepConditions {
    /// `Fetch`: the request names the value of the path in use.
    pub by_home: Bit,
    /// `Fetch`: the request avoids a backup.
    pub avoids_backup: Bit,
    /// `Select`: there is a candidate.
    pub can_choose: Bit,
    /// `Select`: slots are to be taken again.
    pub recalls: Bit,
    /// `Recycle`: there is an entry, and its slot is a candidate.
    pub goes_on: Bit,
    pub recalled: Bit,
    /// `Find`, `FindMore`: there is a place.
    pub found: Bit,
    /// The search has started again from the first position, and has found nothing since.
    pub wrapped: Bit,
    /// More paths are requested.
    pub more: Bit,
    /// `TakePlane`: the place found is not used.
    pub is_discarded: Bit,
    /// `ApplyChange`: a backup may be freed or needed.
    pub moves: Bit,
    /// `ApplyChange`: another path is drawn.
    pub bends: Bit,
    /// `Conclude`: another path is drawn.
    pub draws: Bit,
    /// `Conclude`: the path changes after a delay.
    pub hops: Bit,
    /// `Extrapolate`: this is the last bit.
    pub extrapolated: Bit,
    /// `EndHold`: probes are due, and sent now.
    pub has_probes: Bit,
}

/// Returns the next step. `Idle` is left by a request, for `Fetch`, `AwaitRow` or `DrawStart`.
#[hdl_fn]
pub fn step_after(
    step: Step,
    op: SprayOp,
    policy: SprayPolicy,
    conditions: StepConditions,
) -> Step {
    let found = after_found(op, policy, conditions.more);
    let not_found = after_not_found(op, conditions.wrapped);
    let searches = if (op == SprayOp::Choose) & is_permuted(policy) {
        Step::OrderFirst
    } else {
        Step::Find
    };
    let repeats = conditions.more & has_one_path(policy);
    let hears = probes_paths(policy);
    match step {
        Step::Idle | Step::Respond => Step::Idle,
        Step::Fetch => after_fetch(op, conditions.by_home, conditions.avoids_backup),
        Step::AwaitRow => Step::Fetch,
        Step::AvoidBackup => Step::Select,
        Step::Select => {
            if !conditions.can_choose {
                Step::Respond
            } else if conditions.recalls {
                Step::Recall
            } else {
                searches
            }
        }
        Step::Recall => Step::Recycle,
        Step::Recycle => {
            if !conditions.goes_on {
                Step::OrderFirst
            } else if conditions.recalled & !conditions.more {
                Step::LookupValue
            } else {
                Step::Recycle
            }
        }
        Step::NewRotation => searches,
        Step::OrderFirst => Step::OrderSecond,
        Step::CollectProbes | Step::OrderSecond | Step::FindUnserved => Step::Find,
        Step::Find | Step::FindMore => {
            if conditions.found {
                found
            } else {
                not_found
            }
        }
        Step::TakePlane => {
            if conditions.is_discarded {
                Step::Respond
            } else {
                Step::LookupValue
            }
        }
        Step::SlotFirst => Step::SlotSecond,
        Step::SlotSecond => Step::LookupValue,
        Step::LookupValue => {
            if repeats {
                Step::LookupValue
            } else {
                Step::ComputeEntropy
            }
        }
        Step::SubtractBase => Step::ComputeNumber,
        Step::ComputeNumber => Step::TakeIndex,
        Step::TakeIndex => Step::ClassifyChange,
        Step::ClassifyChange => Step::ApplyChange,
        Step::ApplyChange => {
            if conditions.moves {
                Step::FindUnserved
            } else if hears {
                Step::Hear
            } else if conditions.bends {
                Step::Bend
            } else {
                Step::Respond
            }
        }
        Step::Hear => Step::Conclude,
        Step::Conclude => {
            if conditions.draws {
                Step::Bend
            } else if conditions.hops {
                Step::Extrapolate
            } else {
                Step::Respond
            }
        }
        Step::Extrapolate => {
            if conditions.extrapolated {
                Step::AddDelay
            } else {
                Step::Extrapolate
            }
        }
        Step::AddDelay => Step::LimitDelay,
        Step::LimitDelay => Step::SetDelay,
        Step::HoldFirst => after_hold_first(op, policy),
        Step::HoldSecond => Step::EndHold,
        Step::MapPaths => Step::CollectProbes,
        Step::EndHold => {
            if (op == SprayOp::Probe) & conditions.has_probes {
                Step::MapPaths
            } else {
                Step::WaitUsable
            }
        }
        Step::DrawStart => Step::DrawKey0,
        Step::DrawKey0 => Step::DrawKey1,
        Step::DrawKey1 => Step::InitPlanes,
        Step::InitPlanes => Step::WaitUsable,
        Step::ComputeEntropy
        | Step::AssignBackup
        | Step::Bend
        | Step::SetDelay
        | Step::WaitUsable => Step::Respond,
    }
}

/// Returns the step after `Fetch`. The row is not known yet: its memory is slow.
#[hdl_fn]
fn after_fetch(op: SprayOp, by_home: Bit, avoids_backup: Bit) -> Step {
    match op {
        SprayOp::Choose => {
            if avoids_backup {
                Step::AvoidBackup
            } else {
                Step::Select
            }
        }
        SprayOp::Probe | SprayOp::Query => Step::HoldFirst,
        SprayOp::Ack => Step::SubtractBase,
        _ => {
            if by_home {
                Step::TakeIndex
            } else {
                Step::ClassifyChange
            }
        }
    }
}

/// Returns the step after `HoldFirst`. A policy with states has values to probe; Hopper has other paths, if its delay is over, and HP3 in a pause.
#[hdl_fn]
fn after_hold_first(op: SprayOp, policy: SprayPolicy) -> Step {
    if (op == SprayOp::Probe) & has_states(policy) {
        Step::CollectProbes
    } else if probes_paths(policy) {
        Step::HoldSecond
    } else {
        Step::Respond
    }
}

#[hdl_fn]
fn after_found(op: SprayOp, policy: SprayPolicy, more: Bit) -> Step {
    let in_rotation = if more {
        Step::FindMore
    } else if is_permuted(policy) {
        Step::SlotFirst
    } else {
        Step::LookupValue
    };
    match op {
        SprayOp::Probe => Step::TakePlane,
        SprayOp::Choose => {
            if has_one_path(policy) {
                Step::TakePlane
            } else {
                in_rotation
            }
        }
        _ => Step::AssignBackup,
    }
}

#[hdl_fn]
fn after_not_found(op: SprayOp, wrapped: Bit) -> Step {
    match op {
        SprayOp::Choose | SprayOp::Probe => {
            if wrapped {
                Step::Respond
            } else {
                Step::NewRotation
            }
        }
        _ => Step::Respond,
    }
}

/// Returns whether the own plane is plane 1 at first. It follows from the request alone, because the row comes late in the cycle: `TakeIndex` and `TakePlane` select the plane
/// of a value that the row names.
#[hdl_fn]
pub fn begins_with_plane_1(request: SprayRequest) -> Bit {
    match request.op {
        SprayOp::Choose => request.plane,
        SprayOp::Feedback | SprayOp::Deny | SprayOp::Allow => {
            request.index.get_bit(0) & (request.named_by != NamedBy::Home)
        }
        _ => false,
    }
}
