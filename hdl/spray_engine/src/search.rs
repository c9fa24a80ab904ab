//! Definition of searches for a place.

use crate::candidates::Candidates;
use crate::policy::turns::{passed, skipped, Turns};
use crate::policy::{has_one_path, probes_paths};
use crate::row::{withdrawn, PairRow, PlaneRow, Planes};
use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// A search: which places, and where it starts. In a rotation a place is a slot, and the search starts at a position of the rotation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Search {
    /// All places that match, including those before the start and skipped ones.
    pub all: Bits<72>,
    /// The places to search.
    pub eligible: Bits<72>,
    /// Positions from the start on. After the search: the positions that it passed.
    pub reach: Bits<72>,
    /// Search in both planes: the places of plane 0.
    pub even: Bits<72>,
    /// Search in both planes: the place where it starts; it starts with plane 1 if `from_odd`.
    pub from: Bits<7>,
    pub from_odd: Bit,
}

/// Returns the search for one of `slots` in the rotation of a plane. 2 levels.
#[hdl_fn]
fn in_rotation(slots: Bits<64>, row: PlaneRow) -> Search {
    Search {
        all: bit_cast::<72, 64>(slots),
        eligible: bit_cast::<72, 64>(slots & !skipped(row.turns)),
        reach: Bits::<72>::mask() << row.position,
        even: bits::<72>(0),
        from: bits::<7>(0),
        from_odd: false,
    }
}

/// Returns the search in the order of EV indices, from index `from` on, for a place of plane 0 (`even`) or plane 1 (`odd`). 3 levels.
#[hdl_fn]
fn by_index(even: Bits<72>, odd: Bits<72>, from: Bits<8>) -> Search {
    let place = from.get_bits::<7>(1);
    let from_odd = from.get_bit(0);
    let before = bits::<72>(1) << place;
    let even_ahead = if from_odd { even & !before } else { even };
    Search {
        all: even | odd,
        eligible: even_ahead | odd,
        reach: Bits::<72>::mask() << place,
        even,
        from: place,
        from_odd,
    }
}

/// Returns the search for a path among the candidates. `planes_swapped`: the own plane is plane 1. 1 level more than the searches by rotation and by index.
#[hdl_fn]
pub fn for_path(offered: Candidates, row: PlaneRow, pair: PairRow, planes_swapped: Bit) -> Search {
    let even = if planes_swapped {
        offered.other
    } else {
        offered.own
    };
    let odd = if planes_swapped {
        offered.own
    } else {
        offered.other
    };
    let from_home = by_index(
        bit_cast::<72, 64>(even),
        bit_cast::<72, 64>(odd),
        bit_cast::<8, 7>(pair.home),
    );
    let onwards = in_rotation(offered.own, row);
    if has_one_path(pair.policy) {
        from_home
    } else {
        onwards
    }
}

/// Returns the slots of a plane that may be probed: their own value serves them, and they were not probed of late; or only that of the path in use. 1 level behind
/// `skipped`.
#[hdl_fn]
fn unprobed(row: PlaneRow, home: Bits<7>, plane: Bit, only_home: Bit) -> Bits<64> {
    let used = bit_cast::<64, 1>((home.get_bit(0) == plane).into()) << home.get_bits::<6>(1);
    let others = row.in_service & !withdrawn(row) & !skipped(row.turns) & !used;
    if only_home {
        used
    } else {
        others
    }
}

/// Slots of both planes that Hopper and HP3 may probe.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Unprobed {
    pub even: Bits<64>,
    pub odd: Bits<64>,
}

/// Returns the slots that Hopper and HP3 may probe; or only that of the path in use. Plane 0 is the own plane. 4 levels.
#[hdl_fn]
pub fn unprobed_paths(planes: Planes, home: Bits<7>, only_home: Bit) -> Unprobed {
    Unprobed {
        even: unprobed(planes.own, home, false, only_home),
        odd: unprobed(planes.other, home, true, only_home),
    }
}

/// Returns the search for a value to probe. Plane 0 is the own plane. 4 levels.
#[hdl_fn]
pub fn for_probe(planes: Planes, up: Bits<2>, pair: PairRow, unprobed: Unprobed) -> Search {
    let none = bits::<72>(0);
    let other_paths = probes_paths(pair.policy);
    let wanted_even = if other_paths {
        bit_cast::<72, 64>(unprobed.even)
    } else {
        planes.own.assumed_bad
    };
    let wanted_odd = if other_paths {
        bit_cast::<72, 64>(unprobed.odd)
    } else {
        planes.other.assumed_bad
    };
    let even = if up.get_bit(0) { wanted_even } else { none };
    let odd = if up.get_bit(1) { wanted_odd } else { none };
    by_index(even, odd, pair.probe_from)
}

/// Returns the same search, starting at the first position.
#[hdl_fn]
pub fn from_start(search: Search, eligible: Bits<72>) -> Search {
    Search {
        eligible,
        reach: Bits::<72>::mask(),
        from_odd: false,
        ..search
    }
}

/// Returns the index of a place that a search in both planes found. 5 levels.
#[hdl_fn]
pub fn index_found(search: Search, place: Bits<7>) -> Bits<8> {
    let begins_odd = search.from_odd & (place == search.from);
    let odd = begins_odd | !search.even.get_bit(place.index());
    (bit_cast::<8, 7>(place) << 1) | bit_cast::<8, 1>(odd.into())
}

/// Start of a new rotation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Renewed {
    /// Turns that remain.
    pub turns: Turns,
    pub eligible: Bits<72>,
}

/// Starts a new rotation, after the old one passed the slots `located` without a result. If every candidate is skipped, none is. 6 levels.
#[hdl_fn]
pub fn renewed(search: Search, row: PlaneRow, skip_next_turn: Bit, located: Bits<64>) -> Renewed {
    let left = passed(row.turns, located);
    let others = search.all.get_bits::<64>(0) & !skipped(left);
    let none = Turns::default();
    let bypasses = skip_next_turn & others.any();
    Renewed {
        turns: if bypasses { left } else { none },
        eligible: if bypasses {
            bit_cast::<72, 64>(others)
        } else {
            search.all
        },
    }
}
