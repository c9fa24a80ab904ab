//! State changes of entropy values, and the resulting changes of backups (`docs/multipath.md`, "State of an entropy value").

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayFeedback, SprayOp, SprayPolicy, SprayRequest};

use crate::policy::recycled::pushed;
use crate::policy::turns::{lost, without, Turns};
use crate::policy::{counts_turns, ev_state, has_one_path, has_states, recycles, turns};
use crate::row::{backup_of_slot, has_index, slot_of_backup, withdrawn, PlaneRow, Planes};

/// A state change.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Change {
    Nothing,
    /// The slot is skipped for one turn.
    Skip,
    /// The slot is skipped for one more turn, four more, or most.
    LoseTurn,
    LoseFourTurns,
    LoseMostTurns,
    /// The slot may be taken again.
    Recycle,
    AssumedBad,
    Denied,
    Good,
}

/// Returns whether a change may free a backup or need one.
#[hdl_fn]
pub fn frees_or_needs(change: Change) -> Bit {
    (change == Change::AssumedBad) | (change == Change::Denied) | (change == Change::Good)
}

/// A value, and its state change.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ValueChange {
    pub change: Change,
    /// The queue pair has this value.
    pub exists: Bit,
    pub place: Bits<7>,
    pub is_backup: Bit,
    /// The value was assumed bad or denied.
    pub was_withdrawn: Bit,
    /// The slot of an active value; the slot that a backup serves.
    pub slot: Bits<6>,
    /// The value serves `slot`, or `slot` is its own and it was withdrawn.
    pub has_slot: Bit,
    /// The backup in that slot.
    pub backup: Bits<8>,
}

/// Returns the change that feedback makes to a value that is not denied.
#[hdl_fn]
fn feedback_change(request: SprayRequest, policy: SprayPolicy, assumed_bad: Bit) -> Change {
    let feedback = request.feedback;
    let by_state = ev_state::change(feedback, assumed_bad);
    let by_turns = turns::change(feedback);
    let is_good = (request.op == SprayOp::Ack) & (feedback == SprayFeedback::Good);
    if has_states(policy) {
        by_state
    } else if recycles(policy) & is_good {
        Change::Recycle
    } else if counts_turns(policy) {
        by_turns
    } else {
        Change::Nothing
    }
}

/// Returns the change that a request makes. `row` is the plane of the value. It has `slots` active values, and `backups`. 7 levels (bit of a map 4, change 3;
/// in parallel slot of a backup and backup of a slot, 4).
#[hdl_fn]
pub fn classify(
    request: SprayRequest,
    policy: SprayPolicy,
    row: PlaneRow,
    slots: Bits<7>,
    backups: Bits<8>,
) -> ValueChange {
    let index = request.index;
    let place = index.get_bits::<7>(1);
    let is_backup = index.get_bit(7);
    let number = index.get_bits::<3>(1);
    let exists = has_index(index, slots, backups);
    let backup_bad = row.assumed_bad.get_bits::<8>(64).get_bit(number.index());
    let active_bad = row
        .assumed_bad
        .get_bits::<64>(0)
        .get_bit(index.get_bits::<6>(1).index());
    let assumed_bad = if is_backup { backup_bad } else { active_bad };
    let backup_denied = row.denied.get_bits::<8>(64).get_bit(number.index());
    let active_denied = row
        .denied
        .get_bits::<64>(0)
        .get_bit(index.get_bits::<6>(1).index());
    let denied = if is_backup {
        backup_denied
    } else {
        active_denied
    };
    let fed_back = feedback_change(request, policy, assumed_bad);
    let wanted = match request.op {
        SprayOp::Deny => Change::Denied,
        SprayOp::Allow => {
            if denied {
                Change::Good
            } else {
                Change::Nothing
            }
        }
        _ => {
            if denied {
                Change::Nothing
            } else {
                fed_back
            }
        }
    };
    let own_slot = index.get_bits::<6>(1);
    let backup_slot = slot_of_backup(row, number);
    let in_slot = backup_of_slot(row, own_slot);
    ValueChange {
        change: if exists { wanted } else { Change::Nothing },
        exists,
        place,
        is_backup,
        was_withdrawn: assumed_bad | denied,
        slot: if is_backup { backup_slot } else { own_slot },
        has_slot: !is_backup | row.serving.get_bit(number.index()),
        backup: if is_backup {
            bits::<8>(1) << number
        } else {
            in_slot
        },
    }
}

/// Sets or clears bits of a map.
#[hdl_fn]
fn put<const N: usize>(map: Bits<N>, mask: Bits<N>, value: Bit) -> Bits<N> {
    if value {
        map | mask
    } else {
        map & !mask
    }
}

/// Returns a slot as a map, if it is the one to be changed.
#[hdl_fn]
fn only_if(slot: Bits<64>, is_changed: Bit) -> Bits<64> {
    let none = bits::<64>(0);
    if is_changed {
        slot
    } else {
        none
    }
}

/// Returns the plane after the change, before free backups are assigned. A slot that changes its value is no longer skipped. `remembers`: slots are taken again.
/// 6 levels.
#[hdl_fn]
pub fn changed(row: PlaneRow, value_change: ValueChange, remembers: Bit) -> PlaneRow {
    let place = bits::<72>(1) << value_change.place;
    let slot = bit_cast::<64, 1>(value_change.has_slot.into()) << value_change.slot;
    let change = value_change.change;
    let good = value_change.change == Change::Good;
    let changes = frees_or_needs(value_change.change);
    let leaves = changes & !good & (value_change.is_backup | !value_change.was_withdrawn);
    let comes = good & !value_change.is_backup;
    // A backup is released when the active value of its slot returns, or when the backup itself is withdrawn.
    let releases = comes | (leaves & value_change.is_backup);
    let left = only_if(slot, leaves);
    let entered = only_if(slot, comes);
    let marked = only_if(slot, change == Change::Skip);
    let kept = without(row.turns, left | entered);
    let skipped_once = Turns {
        ones: kept.ones | marked,
        ..kept
    };
    let recycles_slot = remembers & (change == Change::Recycle) & value_change.has_slot;
    let ring = pushed(row.ring, value_change.slot);
    let released = if releases {
        value_change.backup
    } else {
        bits::<8>(0)
    };
    let bad = put(
        row.assumed_bad,
        place,
        value_change.change == Change::AssumedBad,
    );
    let denied = put(row.denied, place, value_change.change == Change::Denied);
    PlaneRow {
        in_service: (row.in_service & !left) | entered,
        turns: lost(
            skipped_once,
            only_if(slot, change == Change::LoseTurn),
            only_if(slot, change == Change::LoseFourTurns),
            only_if(slot, change == Change::LoseMostTurns),
        ),
        ring: if recycles_slot { ring } else { row.ring },
        assumed_bad: if changes { bad } else { row.assumed_bad },
        denied: if changes { denied } else { row.denied },
        serving: row.serving & !released,
        ..row
    }
}

/// Returns the withdrawn slots that no backup serves.
#[hdl_fn]
pub fn unserved(row: PlaneRow) -> Bits<64> {
    withdrawn(row) & !row.in_service
}

/// Returns the good backups that serve no slot.
#[hdl_fn]
pub fn in_reserve(row: PlaneRow, backups: Bits<8>) -> Bits<8> {
    backups & !row.assumed_bad.get_bits::<8>(64) & !row.denied.get_bits::<8>(64) & !row.serving
}

/// Assigns a backup (one-hot, or none) to a slot that no value serves. Such a slot is not skipped. 3 levels.
#[hdl_fn]
pub fn assigned(row: PlaneRow, backup: Bits<8>, slot: Bits<6>) -> PlaneRow {
    let served = bit_cast::<64, 1>(backup.any().into()) << slot;
    let mut serves = bits::<48>(0);
    for i in 0..8 {
        let kept = row.serves.get_bits::<6>(6 * i);
        let number = if backup.get_bit(i) { slot } else { kept };
        serves = serves | (bit_cast::<48, 6>(number) << (6 * i as u64));
    }
    PlaneRow {
        in_service: row.in_service | served,
        serving: row.serving | backup,
        serves,
        ..row
    }
}

/// Returns whether a plane has a value that is good or skipped, backups included. 5 levels.
#[hdl_fn]
fn has_good(row: PlaneRow, backups: Bits<8>) -> Bit {
    let active = row.in_service & !withdrawn(row);
    let spare = backups & !row.assumed_bad.get_bits::<8>(64) & !row.denied.get_bits::<8>(64);
    active.any() | spare.any()
}

/// Returns the planes that can take a retransmission. `planes_swapped`: the own plane is plane 1. `up`: bit p is set if port p is up. 7 levels.
#[hdl_fn]
pub fn usable_planes(
    policy: SprayPolicy,
    planes: Planes,
    planes_swapped: Bit,
    up: Bits<2>,
    backups: Bits<8>,
) -> Bits<2> {
    let several = !has_one_path(policy);
    let mut good = bits::<2>(0);
    good = good.replace_bit(0, several & has_good(planes.own, backups));
    good = good.replace_bit(1, several & has_good(planes.other, backups));
    let turned = if planes_swapped {
        (good >> 1) | (good << 1)
    } else {
        good
    };
    turned & up
}
