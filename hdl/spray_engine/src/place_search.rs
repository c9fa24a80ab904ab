//! Search for the places of a map, one after another.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::first_place::{first_place, without_first};
use crate::order::{order_key, OrderKey};
use crate::search::Search;
use crate::slot_order::SlotOrder;

/// Finds the first place of a search, and the following ones, one per cycle.
///
/// With `ordered`, slots are searched in the order of a key, because the maps pass [`SlotOrder`]. A search that is loaded in cycle n can be used from cycle n
/// + 3 on; without `ordered` from cycle n + 1 on.
///
/// LUT levels: 2 (map to search) and 6 (first place), or 2 and a carry chain (remaining places).
#[derive(LogicBlock, Default)]
pub struct PlaceSearch {
    pub clock: Signal<In, Clock>,

    pub load: Signal<In, Bit>,
    pub load_search: Signal<In, Search>,
    /// Key of the rotation, valid with `load`.
    pub key: Signal<In, Bits<28>>,
    pub ordered: Signal<In, Bit>,

    /// Finds the first place. Not in the cycle after `find` or `find_next`.
    pub find: Signal<In, Bit>,
    /// Finds the place after the one found in the previous cycle.
    pub find_next: Signal<In, Bit>,
    /// Combinational: there is a place.
    pub found: Signal<Out, Bit>,
    /// One cycle later: the place. It is stable until the next one is found.
    pub place: Signal<Out, Bits<7>>,

    /// `place` is the last place of the search: sets `search.reach` to the positions before it.
    pub commit: Signal<In, Bit>,
    pub search: Signal<Out, Search>,
    /// Slots at the positions of `search.reach`, two cycles later.
    pub located: Signal<Out, Bits<64>>,

    slot_order: SlotOrder,
    current: DFF<Search>,
    order: DFF<OrderKey>,
    place_found: DFF<Bits<7>>,
    /// Places after the one found.
    left: DFF<Bits<64>>,
    /// `find` or `find_next` was set in the previous cycle.
    was_found: DFF<Bit>,
}

impl Logic for PlaceSearch {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, current, order, place_found, left, was_found);
        clock!(self, clock, slot_order);
        let search = self.current.q.val();
        let place = self.place_found.q.val();
        self.slot_order.key.next = self.order.q.val();
        self.slot_order.slots.next = search.eligible.get_bits::<64>(0);
        self.slot_order.positions.next = search.reach.get_bits::<64>(0);

        // load
        if self.load.val() {
            self.current.d.next = self.load_search.val();
            self.order.d.next = order_key(self.key.val());
        }

        // find
        let within = if self.ordered.val() {
            bit_cast::<72, 64>(self.slot_order.ordered.val())
        } else {
            search.eligible
        };
        let finds = self.find.val() | self.find_next.val();
        self.was_found.d.next = finds;
        let follows = self.was_found.q.val();
        let reached = if follows {
            bit_cast::<72, 64>(self.left.q.val())
        } else {
            within & search.reach
        };
        if finds {
            self.place_found.d.next = first_place(reached);
        }
        self.left.d.next = without_first(reached.get_bits::<64>(0));

        // commit
        if self.commit.val() {
            self.current.d.next.reach = search.reach & !(Bits::<72>::mask() << place);
        }

        // Both are compared before one is chosen.
        let left_any = self.left.q.val().any();
        let within_any = (within & search.reach).any();
        self.found.next = if follows { left_any } else { within_any };
        self.place.next = place;
        self.search.next = search;
        self.located.next = self.slot_order.located.val();
    }
}
