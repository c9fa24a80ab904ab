//! Slots that a packet may take (`docs/multipath.md`, "Per packet", steps 1 and 2).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayRequest;

use crate::policy::has_one_path;
use crate::row::{slot_of_backup, withdrawn, PlaneRow, Planes, SprayRow};

/// The entropy value that a retransmission should not take again.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Avoided {
    /// The slot of the value, one-hot; no bit is set if it has none.
    pub slot: Bits<64>,
    /// The value belongs to plane 1.
    pub odd: Bit,
    /// The value is active, so a backup may serve its slot.
    pub active: Bit,
}

/// Returns the slot of the value that a request avoids. A single path has no alternative and avoids none. 5 levels.
#[hdl_fn]
pub fn avoided(request: SprayRequest, row: SprayRow) -> Avoided {
    let index = request.avoid;
    let odd = index.get_bit(0);
    let plane = if odd {
        row.planes.other
    } else {
        row.planes.own
    };
    let backup = index.get_bits::<3>(1);
    let backup_slot = slot_of_backup(plane, backup);
    let is_backup = index.get_bit(7);
    let slot = if is_backup {
        backup_slot
    } else {
        index.get_bits::<6>(1)
    };
    let no_backup = index.get_bits::<3>(4).any() | !plane.serving.get_bit(backup.index());
    let avoids = request.avoid_valid & !has_one_path(row.pair.policy);
    let has_slot = avoids & !(is_backup & no_backup);
    Avoided {
        slot: bit_cast::<64, 1>(has_slot.into()) << slot,
        odd,
        active: !is_backup,
    }
}

/// Slots of a plane, in the order of preference.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct PlaneCandidates {
    in_service: Bits<64>,
    last_resort: Bits<64>,
    /// The slots above and the avoided one.
    all: Bits<64>,
}

/// Returns the candidates of a plane. If a backup serves the slot of the avoided active value, that slot is not excluded; then there is a slot in service, so
/// `last_resort` is not used. 1 level.
#[hdl_fn]
fn plane_candidates(row: PlaneRow, up: Bit, but: Bits<64>, but_active: Bit) -> PlaneCandidates {
    let bad = row.assumed_bad.get_bits::<64>(0);
    let none = bits::<64>(0);
    let replaced = if but_active { withdrawn(row) } else { none };
    let open = if up { Bits::<64>::mask() } else { none };
    PlaneCandidates {
        in_service: open & row.in_service & (!but | replaced),
        last_resort: open & bad & !but,
        all: open & (row.in_service | bad),
    }
}

/// The slots to choose from in both planes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Candidates {
    pub own: Bits<64>,
    pub other: Bits<64>,
    /// `own` is not empty.
    pub own_any: Bit,
    /// `own` or `other` is not empty.
    pub any: Bit,
}

/// Returns the first set that is not empty in any plane that is up. `planes_swapped`: the own plane is plane 1. `up`: bit p is set if port p is up. 6 levels
/// (candidates of a plane 1, empty or not 3, choice 2).
#[hdl_fn]
pub fn candidates(planes: Planes, planes_swapped: Bit, up: Bits<2>, avoid: Avoided) -> Candidates {
    let none = bits::<64>(0);
    let avoid_own = avoid.odd == planes_swapped;
    let but_own = if avoid_own { avoid.slot } else { none };
    let but_other = if avoid_own { none } else { avoid.slot };
    let turned = if planes_swapped {
        (up >> 1) | (up << 1)
    } else {
        up
    };
    let own_up = turned.get_bit(0);
    let other_up = turned.get_bit(1);
    let here = plane_candidates(planes.own, own_up, but_own, avoid.active);
    let there = plane_candidates(planes.other, other_up, but_other, avoid.active);
    let service_here = here.in_service.any();
    let resort_here = here.last_resort.any();
    let all_here = here.all.any();
    let service = service_here | there.in_service.any();
    let resort = resort_here | there.last_resort.any();
    let own_slots = if service {
        here.in_service
    } else if resort {
        here.last_resort
    } else {
        here.all
    };
    let other_slots = if service {
        there.in_service
    } else if resort {
        there.last_resort
    } else {
        there.all
    };
    let own_any = if service {
        service_here
    } else if resort {
        resort_here
    } else {
        all_here
    };
    Candidates {
        own: own_slots,
        other: other_slots,
        own_any,
        any: service | resort | all_here | there.all.any(),
    }
}
