//! A search for the first of some places, from a place on.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayPolicy;

use crate::candidates::*;
use crate::row::*;

/// Places looked for and where. In a rotation, a place is a slot, and the search begins at a position of the rotation's order.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Search {
    /// All that would do, wherever the search begins and whatever is bypassed.
    pub all: Bits<72>,
    /// Those to find one of.
    pub eligible: Bits<72>,
    /// Positions from the beginning on; after the search, those passed on the way.
    pub reach: Bits<72>,
    /// In both planes at once: the places plane 0 has.
    pub even: Bits<72>,
    /// In both planes at once: the place where it begins, with plane 1 if `from_odd`.
    pub from: Bits<7>,
    pub from_odd: Bit,
}

/// A search for one of `slots` in a plane's rotation. 2 levels.
#[hdl_fn]
fn in_rotation(slots: Bits<64>, row: PlaneRow) -> Search {
    Search {
        all: bit_cast::<72, 64>(slots),
        eligible: bit_cast::<72, 64>(slots & !row.skip),
        reach: Bits::<72>::mask() << row.position,
        even: bits::<72>(0),
        from: bits::<7>(0),
        from_odd: false,
    }
}

/// A search in the order of EV indices, from index `from` on, for one that plane 0 (`even`) or plane 1 (`odd`) has. 3 levels.
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

/// The search for a path among those on offer. 1 level more than its two searches by rotation and by index.
#[hdl_fn]
pub fn for_path(offered: Candidates, row: PlaneRow, pair: PairRow) -> Search {
    let from_home = by_index(
        bit_cast::<72, 64>(offered.own),
        bit_cast::<72, 64>(offered.other),
        bit_cast::<8, 7>(pair.home),
    );
    let onwards = in_rotation(offered.own, row);
    if pair.policy == SprayPolicy::SinglePath {
        from_home
    } else {
        onwards
    }
}

/// The search for a value to probe; plane 0 is the own one. 4 levels.
#[hdl_fn]
pub fn for_probe(planes: Planes, up: Bits<2>, from: Bits<8>) -> Search {
    let none = bits::<72>(0);
    let even = if up.get_bit(0) {
        planes.own.assumed_bad
    } else {
        none
    };
    let odd = if up.get_bit(1) {
        planes.other.assumed_bad
    } else {
        none
    };
    by_index(even, odd, from)
}

/// The search once more, from the first position on.
#[hdl_fn]
pub fn from_start(search: Search, eligible: Bits<72>) -> Search {
    Search {
        eligible,
        reach: Bits::<72>::mask(),
        from_odd: false,
        ..search
    }
}

/// The index of a place that a search in both planes found. 5 levels.
#[hdl_fn]
pub fn index_found(search: Search, place: Bits<7>) -> Bits<8> {
    let begins_odd = search.from_odd & (place == search.from);
    let odd = begins_odd | !search.even.get_bit(place.index());
    (bit_cast::<8, 7>(place) << 1) | bit_cast::<8, 1>(odd.into())
}

/// What a new rotation begins with.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Renewed {
    /// Slots still to be bypassed.
    pub skip: Bits<64>,
    pub eligible: Bits<72>,
}

/// A new rotation, after the old one passed the slots `passed` and had none left. Where every candidate is bypassed, none is. 6 levels.
#[hdl_fn]
pub fn renewed(search: Search, row: PlaneRow, skip_next_turn: Bit, passed: Bits<64>) -> Renewed {
    let still = row.skip & !passed;
    let others = search.all.get_bits::<64>(0) & !still;
    let bypasses = skip_next_turn & others.any();
    Renewed {
        skip: if bypasses { still } else { bits::<64>(0) },
        eligible: if bypasses {
            bit_cast::<72, 64>(others)
        } else {
            search.all
        },
    }
}
