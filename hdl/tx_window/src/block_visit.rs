//! What an operation does to the blocks that it passes.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{WindowOp, WindowRequest};

use crate::blocks::{slot_of, unacknowledged, with_lost, Block, BlockSlots, Place};
use crate::change::{named_in, visit_of, Added, ReadBlock};
use crate::row::WindowRow;
use crate::sack::{answered_slot, is_answered_block, last_named, LastNamed, SackSpan};
use crate::step::Step;
use crate::visit::{
    first_wanted, goes_on, pending_after, row_after, Goal, Pending, Visit, VisitEnd,
};

/// Visits a block while the next one is read, and decides whether the operation goes on to that one. A SACK stays at a block while the records of its newly acknowledged packets are read.
///
/// Levels: 8 (slots that the SACK acknowledges, behind the memory).
#[derive(LogicBlock, Default)]
pub struct BlockVisit {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Operation.
    pub step: Signal<In, Step>,
    pub asked: Signal<In, WindowRequest>,
    pub row: Signal<In, WindowRow>,
    pub span: Signal<In, SackSpan>,
    /// The SACK is accepted, and there is something that it may acknowledge.
    pub taken: Signal<In, Bit>,
    /// Place of the last block of the window.
    pub last_place: Signal<In, Place>,

    // Blocks.
    /// The block that has been read, or that `Allocate` begins with.
    pub read: Signal<In, ReadBlock>,
    /// It has the requested PSN.
    pub found_there: Signal<In, Bit>,
    /// What `Allocate` adds to it, and to the next one.
    pub new: Signal<In, Added>,
    pub second_block: Signal<In, Block>,
    pub second_slots: Signal<In, Bits<32>>,
    /// The requested packet, which is in the block that is visited, is lost on this plane.
    pub loses: Signal<In, Bit>,
    pub plane: Signal<In, Bit>,

    // Records: see `SentMemory`.
    pub records_last: Signal<In, Bit>,
    pub records_walk: Signal<In, Bit>,
    /// Slots of the block that has been read whose records count, without that of the answered packet.
    pub newly_acked: Signal<Out, Bits<32>>,
    /// The record of the answered packet is read.
    pub reads_answered: Signal<Out, Bit>,

    /// The block that is visited, and whether its slots have to be written.
    pub visit: Signal<Out, Visit>,
    pub changed: Signal<Out, Bit>,
    /// The block that has been read has the answered packet.
    pub answers_here: Signal<Out, Bit>,
    /// The next visit begins in this cycle.
    pub loads: Signal<Out, Bit>,
    /// The row with the bytes that have left flight.
    pub counted_row: Signal<In, WindowRow>,
    pub end: Signal<Out, VisitEnd>,

    visit_held: DFF<Visit>,
    /// Its block is the last one of the window.
    last_held: DFF<Bit>,
    changed_held: DFF<Bit>,
    pending: DFF<Pending>,
    /// `Sack`: a packet that is not acknowledged was found; the window begins there.
    una_found_held: DFF<Bit>,
    last_named: DFF<LastNamed>,
}

impl Logic for BlockVisit {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            visit_held,
            last_held,
            changed_held,
            pending,
            una_found_held,
            last_named
        );
        let step = self.step.val();
        let asked = self.asked.val();
        let span = self.span.val();
        let read = self.read.val();
        let taken = self.taken.val();
        let visit = self.visit_held.q.val();
        let pending = self.pending.q.val();
        let is_sack = asked.op == WindowOp::Sack;
        let is_next = asked.op == WindowOp::NextInFlight;
        let visits = step == Step::Visit;
        let allocates = step == Step::Allocate;
        let found_there = self.found_there.val();

        // go on
        let goal = Goal {
            is_sack,
            una_found: self.una_found_held.q.val(),
            last_named: self.last_named.q.val(),
            is_next,
        };
        let any_wanted = visit.wanted.any();
        let una_found = goal.una_found | any_wanted;
        let is_last = self.last_held.q.val();
        let more = goes_on(visit, pending, goal) & !is_last;
        let answers_here = is_sack & is_answered_block(span, read.index);
        // The record of the answered packet is read while no bank reads another one.
        let visited = if more & answers_here {
            !self.records_walk.val()
        } else {
            self.records_last.val()
        };
        let advances = visits & visited & (!is_sack | taken);
        let loads = (step == Step::CheckSack) | (advances & more);
        // Whether the list goes on comes late, and `visit` is wide. So it loads whenever its block is done, unless the packet that was found is read from it.
        let is_done = self.records_last.val() & (!answers_here | !self.records_walk.val());
        let may_load = (step == Step::CheckSack)
            | (visits & is_done & (!is_sack | taken) & !(is_next & any_wanted));
        assert!(!loads | may_load, "the next block is not visited");

        // change
        let answered = answered_slot(asked.acked, answers_here);
        let named = named_in(asked, span, read, answered);
        let row = self.row.val();
        let next_visit = visit_of(step, asked, read, row, named, self.new.val());
        let is_resent = asked.op == WindowOp::MarkRetransmitted;
        self.changed_held.d.next = (loads & is_sack)
            | (found_there & is_resent)
            | (allocates & asked.count.any())
            | (step == Step::AllocateEnd)
            | self.loses.val();
        let slots_with_lost = with_lost(visit.slots, slot_of(asked.psn), self.plane.val());
        if may_load | found_there | allocates {
            self.visit_held.d.next = next_visit;
            self.last_held.d.next = read.place == self.last_place.val();
        }
        match step {
            Step::AllocateEnd => {
                self.visit_held.d.next.slots = BlockSlots {
                    in_flight: self.second_slots.val(),
                    lost_0: bits::<32>(0),
                    lost_1: bits::<32>(0),
                };
                self.visit_held.d.next.block = self.second_block.val();
            }
            Step::ReadRecord => {
                if self.loses.val() {
                    self.visit_held.d.next.slots = slots_with_lost;
                }
            }
            _ => {}
        }
        if step == Step::Fetch {
            self.pending.d.next = Pending {
                lost_0: false,
                lost_1: false,
            };
            self.una_found_held.d.next = false;
        } else if advances {
            self.pending.d.next = pending_after(visit, pending);
            self.una_found_held.d.next = una_found;
        }
        if step == Step::CheckSack {
            self.last_named.d.next = last_named(span);
        }
        if self.reset.val() {
            self.changed_held.d.next = false;
        }

        self.newly_acked.next = unacknowledged(read.slots) & named & !answered;
        self.reads_answered.next = loads & answers_here & read.index.any();
        self.visit.next = visit;
        self.changed.next = self.changed_held.q.val();
        self.answers_here.next = answers_here;
        self.loads.next = loads;
        self.end.next = VisitEnd {
            advances,
            more,
            any_wanted,
            first_wanted: first_wanted(visit),
            una_found,
            row: row_after(self.counted_row.val(), visit, pending, goal, is_last),
        };
    }
}
