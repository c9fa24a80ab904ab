//! Slots that a packet may take (`docs/multipath.md`, "Per packet", steps 1 and 2).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayRequest;

use crate::policy::has_one_path;
use crate::row::{slot_of_backup, withdrawn, PlaneRow, Planes, SprayRow};

/// The slot that a retransmission should not take again.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Avoided {
    /// The slot, one-hot; no bit is set if all slots may be taken.
    pub slot: Bits<64>,
    /// It belongs to the own plane, or to the other one. If to none, all slots may be taken.
    pub own: Bit,
    pub other: Bit,
}

/// Whether a request avoids a backup, which has no slot of its own ([`slot_avoided_of_backup`]).
#[hdl_fn]
pub fn avoids_backup(request: SprayRequest) -> Bit {
    let index = request.avoid;
    request.avoid_valid & index.get_bit(7) & !index.get_bits::<3>(4).any()
}

/// Returns the slot of the active value that a request avoids. If a backup serves that slot, it is not avoided. A single path has no alternative and avoids none.
/// `planes_swapped`: the own plane is plane 1. 3 levels behind the memory of the row.
#[hdl_fn]
pub fn avoided(request: SprayRequest, row: SprayRow, planes_swapped: Bit) -> Avoided {
    let index = request.avoid;
    let odd = index.get_bit(0);
    let plane = if odd {
        row.planes.other
    } else {
        row.planes.own
    };
    let avoids = request.avoid_valid & !has_one_path(row.pair.policy);
    let active = bit_cast::<64, 1>((!index.get_bit(7)).into()) << index.get_bits::<6>(1);
    Avoided {
        slot: active & !(withdrawn(plane) & plane.in_service),
        own: avoids & (odd == planes_swapped),
        other: avoids & (odd != planes_swapped),
    }
}

/// Returns the slot that the avoided backup serves, if it serves one. 6 levels.
#[hdl_fn]
pub fn slot_avoided_of_backup(request: SprayRequest, planes: Planes, avoid: Avoided) -> Bits<64> {
    let plane = if avoid.own { planes.own } else { planes.other };
    let number = request.avoid.get_bits::<3>(1);
    let serves = plane.serving.get_bit(number.index());
    bit_cast::<64, 1>(serves.into()) << slot_of_backup(plane, number)
}

/// Slots of a plane, in the order of preference.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct PlaneCandidates {
    in_service: Bits<64>,
    last_resort: Bits<64>,
    /// The slots above and the avoided one.
    all: Bits<64>,
}

/// Returns the candidates of a plane if its port is up, `but` one. 1 level.
#[hdl_fn]
fn plane_candidates(row: PlaneRow, but: Bits<64>) -> PlaneCandidates {
    let bad = row.assumed_bad.get_bits::<64>(0);
    PlaneCandidates {
        in_service: row.in_service & !but,
        last_resort: bad & !but,
        all: row.in_service | bad,
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
/// (candidates of a plane and whether there are any 3, choice 2; whether there are any at all 4).
#[hdl_fn]
pub fn candidates(planes: Planes, planes_swapped: Bit, up: Bits<2>, avoid: Avoided) -> Candidates {
    let none = bits::<64>(0);
    let but_own = if avoid.own { avoid.slot } else { none };
    let but_other = if avoid.other { avoid.slot } else { none };
    let turned = if planes_swapped {
        (up >> 1) | (up << 1)
    } else {
        up
    };
    let own_up = turned.get_bit(0);
    let other_up = turned.get_bit(1);
    let here = plane_candidates(planes.own, but_own);
    let there = plane_candidates(planes.other, but_other);
    let own_open = if own_up { Bits::<64>::mask() } else { none };
    let other_open = if other_up { Bits::<64>::mask() } else { none };
    // Whether a port is up is asked behind the search for slots, so that the search has fewer inputs.
    let service_here = own_up & here.in_service.any();
    let resort_here = own_up & here.last_resort.any();
    let all_here = own_up & here.all.any();
    let service_there = other_up & there.in_service.any();
    let resort_there = other_up & there.last_resort.any();
    let all_there = other_up & there.all.any();
    let service = service_here | service_there;
    let resort = resort_here | resort_there;
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
    Candidates {
        own: own_open & own_slots,
        other: other_open & other_slots,
        own_any: service_here | (!service_there & (resort_here | (!resort_there & all_here))),
        // `all` contains the other two sets.
        any: all_here | all_there,
    }
}
