//! The way of an operation through the blocks of a window.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{WindowOp, WindowRequest};
use stellar_wire::hw::Psn;

use crate::blocks::{place_of, Block, Place};
use crate::row::WindowRow;
use crate::step::Step;
use crate::visit::Visit;

/// Selects the block that is read in each cycle: the one in which the operation starts, then one after the other along their links, or at once the newest one if it has the requested PSN. It remembers the
/// block that the last search found, for the next operation of the same queue pair (the cursor). Whether the operation starts at the newest block is known a cycle later.
///
/// Levels: 4 behind a carry chain.
#[derive(LogicBlock, Default)]
pub struct BlockWalk<const Q: usize> {
    pub clock: Signal<In, Clock>,
    /// The cursor is no longer valid.
    pub reset: Signal<In, Bit>,

    // Operation.
    pub step: Signal<In, Step>,
    /// Queue pair of a request that may be accepted in this cycle.
    pub request_qp: Signal<In, Bits<Q>>,
    pub asked: Signal<In, WindowRequest>,
    /// PSN whose slot the operation looks for.
    pub asked_psn: Signal<In, Psn>,
    /// `Fetch`: the row that has been read. Later: the row.
    pub fetched: Signal<In, WindowRow>,
    pub row: Signal<In, WindowRow>,
    /// The requested PSN is in the window; its place is that of the last block.
    pub inside: Signal<In, Bit>,
    pub in_newest: Signal<In, Bit>,
    /// Passes on to the next block.
    pub loads: Signal<In, Bit>,
    /// Block that has been visited last.
    pub visit: Signal<In, Visit>,
    /// Blocks of the window return, maybe that of the cursor.
    pub releases: Signal<In, Bit>,

    /// Block to read in this cycle, and the link of the one that has been read.
    pub read_block: Signal<Out, Block>,
    pub link: Signal<In, Block>,
    /// The block that has been read, its place, and its index in the window.
    pub here: Signal<Out, Block>,
    pub place: Signal<Out, Place>,
    pub index: Signal<Out, Bits<8>>,
    /// `Fetch`: block in which the operation starts. It has the requested PSN.
    pub start: Signal<Out, Block>,
    pub starts_there: Signal<Out, Bit>,
    /// `Seek`: the requested PSN is in the block that has been read; it is in the newest one, which is read now.
    pub found_there: Signal<Out, Bit>,
    pub jumps: Signal<Out, Bit>,
    /// Block that the last search found.
    pub found: Signal<Out, Block>,

    here_held: DFF<Block>,
    place_held: DFF<Place>,
    index_held: DFF<Bits<8>>,
    /// The cursor: a queue pair, and its block that the last search found.
    cursor_valid: DFF<Bit>,
    cursor_qp: DFF<Bits<Q>>,
    cursor_place: DFF<Place>,
    cursor_block: DFF<Block>,
    /// The cursor belongs to the queue pair of the request.
    cursor_own: DFF<Bit>,
}

impl<const Q: usize> Logic for BlockWalk<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, here_held, place_held, index_held, cursor_own);
        dff_setup!(
            self,
            clock,
            cursor_valid,
            cursor_qp,
            cursor_place,
            cursor_block
        );
        let step = self.step.val();
        let asked = self.asked.val();
        let asked_place = place_of(self.asked_psn.val());
        let fetched = self.fetched.val();
        let newest = self.row.val().tail;
        let here = self.here_held.q.val();
        let place = self.place_held.q.val();
        let index = self.index_held.q.val();

        // start
        let behind_cursor = asked_place - self.cursor_place.q.val();
        let uses_cursor =
            self.cursor_own.q.val() & (asked.op != WindowOp::Sack) & !behind_cursor.get_bit(18);
        let una_place = place_of(fetched.una);
        let start = if asked.op == WindowOp::Allocate {
            fetched.tail
        } else if uses_cursor {
            self.cursor_block.q.val()
        } else {
            fetched.head
        };
        let start_place = if uses_cursor {
            self.cursor_place.q.val()
        } else {
            una_place
        };
        self.start.next = start;
        self.starts_there.next =
            (asked_place == una_place) | (uses_cursor & (asked_place == self.cursor_place.q.val()));

        // go on
        let seeks = step == Step::Seek;
        let is_there = place == asked_place;
        let found_there = seeks & self.inside.val() & is_there;
        let jumps = seeks & self.inside.val() & self.in_newest.val() & !is_there;
        let moves = self.loads.val() | seeks;
        let read_block = if step == Step::Fetch {
            start
        } else if jumps {
            newest
        } else if moves {
            self.link.val()
        } else {
            here
        };
        self.read_block.next = read_block;
        self.here_held.d.next = read_block;
        if step == Step::Fetch {
            self.place_held.d.next = start_place;
            self.index_held.d.next = bits::<8>(0);
        } else if jumps {
            self.place_held.d.next = asked_place;
        } else if moves {
            self.place_held.d.next = place + 1;
            self.index_held.d.next = index + 1;
        }
        self.found_there.next = found_there;
        self.jumps.next = jumps;
        self.here.next = here;
        self.place.next = place;
        self.index.next = index;

        // remember
        if step == Step::Idle {
            self.cursor_own.d.next =
                self.cursor_valid.q.val() & (self.request_qp.val() == self.cursor_qp.q.val());
        }
        if found_there {
            self.cursor_valid.d.next = true;
            self.cursor_qp.d.next = asked.qp.get_bits::<Q>(0);
            self.cursor_place.d.next = place;
            self.cursor_block.d.next = here;
        } else if step == Step::ReadFound {
            self.cursor_place.d.next = self.visit.val().place;
            self.cursor_block.d.next = self.visit.val().block;
        }
        if self.releases.val() | self.reset.val() {
            self.cursor_valid.d.next = false;
        }
        self.found.next = self.cursor_block.q.val();
    }
}
