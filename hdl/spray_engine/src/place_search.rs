//! Places of a search, one after another.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::first_place::*;
use crate::order::*;
use crate::search::*;
use crate::slot_order::SlotOrder;

/// Finds the first place of a search, and those after it, one per clock.
///
/// With `ordered`, slots are looked for in the order of a key: a search that begins in clock t may be asked in clock t + 3, as its maps pass
/// [`SlotOrder`]; others in clock t + 1.
///
/// LUT levels: 2 (what to search) and 6 (first place), or 2 and a carry chain (what is left).
#[derive(LogicBlock, Default)]
pub struct PlaceSearch {
    pub clock: Signal<In, Clock>,

    pub begins: Signal<In, Bit>,
    pub begun: Signal<In, Search>,
    /// Order of the rotation, with `begins`.
    pub key: Signal<In, Bits<28>>,
    pub ordered: Signal<In, Bit>,

    /// Looks for the first place.
    pub finds: Signal<In, Bit>,
    /// Looks for the place after the one that the clock before found.
    pub goes_on: Signal<In, Bit>,
    /// Combinational: a usable path was found.
    pub found: Signal<Out, Bit>,
    /// A clock later: which. It stands until the next.
    pub place: Signal<Out, Bits<7>>,

    /// `place` is the last one: positions before it were passed, and no others.
    pub stops: Signal<In, Bit>,
    pub search: Signal<Out, Search>,
    /// Slots at the positions of `search.reach`, two clocks after it.
    pub located: Signal<Out, Bits<64>>,

    slot_order: SlotOrder,
    under_way: DFF<Search>,
    order: DFF<OrderKey>,
    place_found: DFF<Bits<7>>,
    /// Places beyond the one found.
    left: DFF<Bits<64>>,
}

impl Logic for PlaceSearch {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, under_way, order, place_found, left);
        clock!(self, clock, slot_order);
        let search = self.under_way.q.val();
        let place = self.place_found.q.val();
        self.slot_order.key.next = self.order.q.val();
        self.slot_order.slots.next = search.eligible.get_bits::<64>(0);
        self.slot_order.positions.next = search.reach.get_bits::<64>(0);

        // begin
        if self.begins.val() {
            self.under_way.d.next = self.begun.val();
            self.order.d.next = order_key(self.key.val());
        }

        // find
        let within = if self.ordered.val() {
            bit_cast::<72, 64>(self.slot_order.ordered.val())
        } else {
            search.eligible
        };
        let reached = if self.goes_on.val() {
            bit_cast::<72, 64>(self.left.q.val())
        } else {
            within & search.reach
        };
        if self.finds.val() | self.goes_on.val() {
            self.place_found.d.next = first_place(reached);
        }
        self.left.d.next = without_first(reached.get_bits::<64>(0));

        // stop
        if self.stops.val() {
            self.under_way.d.next.reach = search.reach & !(Bits::<72>::mask() << place);
        }

        self.found.next = reached.any();
        self.place.next = place;
        self.search.next = search;
        self.located.next = self.slot_order.located.val();
    }
}
