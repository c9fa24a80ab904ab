//! Slots a packet may take (`docs/multipath.md`, "Per packet", steps 1 and 2).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayPolicy, SprayRequest};

use crate::row::*;

/// The value a retransmission should not take again.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Avoided {
    /// The slot it has, if any: one bit at most.
    pub slot: Bits<64>,
    /// It is of plane 1.
    pub odd: Bit,
    /// It is an active value, and has its slot only as long as no backup serves it.
    pub active: Bit,
}

/// The slot of the value a request avoids; a single path has no other and avoids none. 5 levels.
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
    let heeds = request.avoid_valid & (row.pair.policy != SprayPolicy::SinglePath);
    let has_slot = heeds & !(is_backup & no_backup);
    Avoided {
        slot: bit_cast::<64, 1>(has_slot.into()) << slot,
        odd,
        active: !is_backup,
    }
}

/// Slots of a plane, best first.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Offer {
    in_service: Bits<64>,
    last_resort: Bits<64>,
    /// With the avoided one.
    all: Bits<64>,
}

/// What a plane offers. An avoided active value that a backup replaced is not to be seen in its slot; as that slot is in service then, the
/// last resort does not matter. 1 level.
#[hdl_fn]
fn offer(row: PlaneRow, up: Bit, but: Bits<64>, but_active: Bit) -> Offer {
    let bad = row.assumed_bad.get_bits::<64>(0);
    let none = bits::<64>(0);
    let replaced = if but_active { withdrawn(row) } else { none };
    let open = if up { Bits::<64>::mask() } else { none };
    Offer {
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
    /// There are some in `own`.
    pub own_any: Bit,
    /// There are some.
    pub any: Bit,
}

/// The first set that is not empty in any plane that is up. `exchanged`: the own plane is plane 1; `up`: ports. 6 levels (offer 1, empty
/// or not 3, choice 2).
#[hdl_fn]
pub fn candidates(planes: Planes, exchanged: Bit, up: Bits<2>, avoid: Avoided) -> Candidates {
    let none = bits::<64>(0);
    let avoid_own = avoid.odd == exchanged;
    let but_own = if avoid_own { avoid.slot } else { none };
    let but_other = if avoid_own { none } else { avoid.slot };
    let turned = if exchanged { (up >> 1) | (up << 1) } else { up };
    let own_up = turned.get_bit(0);
    let other_up = turned.get_bit(1);
    let here = offer(planes.own, own_up, but_own, avoid.active);
    let there = offer(planes.other, other_up, but_other, avoid.active);
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
