//! What an operation knows in each of its steps.

use hdl_macros::hdl_fn;
use hdl_tx_window::blocks::{last_place_before, place_of, range_of, Block, BlockSlots, Place};
use hdl_tx_window::row::{blocks_held, WindowRow};
use hdl_tx_window::sack::{first_psn, measure, SackSpan};
use hdl_tx_window::step::Step;
use hdl_tx_window::visit::Visit;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{SackVerdict, WindowOp, WindowRequest, WindowResponse};
use stellar_wire::hw::Psn;

use super::pool::{holds_at, link_of, Links, Pool};
use super::sack::is_taken;
use super::slots::Open;

/// The registers of an operation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Operation {
    pub step: Step,
    pub asked: WindowRequest,
    /// The row of its queue pair: before the operation, and as far as the operation has changed it.
    pub before: WindowRow,
    pub row: WindowRow,
    pub inside: Bit,
    pub in_newest: Bit,
    pub is_empty: Bit,
    pub held: Bits<8>,
    pub last_place: Place,
    pub span: SackSpan,
    pub here: Block,
    pub place: Place,
    pub index: Bits<8>,
    pub visit: Visit,
    pub visits_last: Bit,
    pub una_found: Bit,
    pub released: Bits<8>,
    pub released_first: Block,
    pub released_last: Block,
    pub range_end: Bits<32>,
    pub result: WindowResponse,
}

/// What the memories hold for an operation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Memories {
    pub pool: Pool,
    pub links: Links,
    /// With the slots that are written in this cycle.
    pub open: Open,
    /// The slots of the block `here`, of the block that is visited, and what was read of the former.
    pub slots_here: BlockSlots,
    pub slots_visited: BlockSlots,
    pub slots: BlockSlots,
    pub link: Block,
}

#[hdl_fn]
pub fn is_resting(step: Step) -> Bit {
    (step == Step::Idle) | (step == Step::Sweep)
}

/// Returns whether the row of the queue pair has been read.
#[hdl_fn]
pub fn has_fetched(step: Step) -> Bit {
    !is_resting(step) & (step != Step::Fetch)
}

/// Returns whether the window of the queue pair is the row's, with the new packets.
#[hdl_fn]
pub fn has_allocated(step: Step, op: WindowOp) -> Bit {
    (op == WindowOp::Allocate) & ((step == Step::AllocateEnd) | (step == Step::Respond))
}

/// Returns whether the step belongs to the operation.
#[hdl_fn]
pub fn has_step(step: Step, op: WindowOp) -> Bit {
    let is_sack = op == WindowOp::Sack;
    let is_next = op == WindowOp::NextInFlight;
    let is_loss = op == WindowOp::MarkLost;
    let is_resent = op == WindowOp::MarkRetransmitted;
    let is_read = op == WindowOp::Read;
    match step {
        Step::Seek => is_next | is_loss | is_resent | is_read,
        Step::ReadRecord => is_loss,
        Step::Allocate | Step::AllocateEnd => op == WindowOp::Allocate,
        Step::CheckSack => is_sack,
        Step::Visit => is_sack | is_next | is_resent,
        Step::ReadFound => is_next,
        Step::Drain => is_sack | is_next | is_read,
        _ => true,
    }
}

/// Returns whether the two rows have the same window.
#[hdl_fn]
pub fn is_same(a: WindowRow, b: WindowRow) -> Bit {
    (a.una == b.una) & (a.next_psn == b.next_psn) & (a.head == b.head) & (a.tail == b.tail)
}

/// Returns whether the free blocks suffice for `count` new packets.
#[hdl_fn]
pub fn has_blocks_for(row: WindowRow, count: Bits<6>, free: Bits<11>) -> Bit {
    let slot = row.next_psn.get_bits::<5>(0);
    let end = bit_cast::<8, 5>(slot) + bit_cast::<8, 6>(count);
    let touched = (end + 31) >> 5;
    let is_begun = (row.una != row.next_psn) & slot.any();
    let new = if is_begun { touched - 1 } else { touched };
    !count.any() | (bit_cast::<11, 8>(new) <= free)
}

/// Returns whether an allocation is one burst for which the pool has blocks.
#[hdl_fn]
pub fn is_allowed(asked: WindowRequest, row: WindowRow, free: Bits<11>) -> Bit {
    (asked.op != WindowOp::Allocate)
        | ((asked.count <= 32) & has_blocks_for(row, asked.count, free))
}

/// Returns whether the registers that `Fetch` sets are those of the row.
#[hdl_fn]
pub fn knows_row(now: Operation) -> Bit {
    let before = now.before;
    let packets = before.next_psn - before.una;
    let is_sack = now.asked.op == WindowOp::Sack;
    !has_fetched(now.step)
        | ((now.is_empty != packets.any())
            & (now.held == blocks_held(before))
            & (now.last_place == last_place_before(before.next_psn))
            & (now.inside == (first_psn(now.asked) - before.una < packets))
            & (now.in_newest == (place_of(first_psn(now.asked)) == now.last_place))
            & (now.released_first == before.head)
            & (is_sack | !now.released.any())
            & (!is_sack | (now.span == measure(now.asked, before))))
}

/// Returns whether the window of the row is what the operation should make of it.
#[hdl_fn]
pub fn has_window(now: Operation) -> Bit {
    let before = now.before;
    let row = now.row;
    let same = is_same(row, before);
    let grown = (row.una == before.una)
        & (before.next_psn - before.una <= row.next_psn - row.una)
        & (row.next_psn == before.next_psn + bit_cast::<24, 6>(now.asked.count));
    let begins = (row.una == now.asked.psn) & (row.next_psn == now.asked.psn);
    let returned = now.released_last == before.tail;
    let good = match now.asked.op {
        WindowOp::Configure => begins & returned,
        WindowOp::Allocate => {
            if now.step == Step::Allocate {
                same
            } else {
                grown
            }
        }
        WindowOp::Sack => {
            (row.next_psn == before.next_psn)
                & (row.tail == before.tail)
                & ((is_taken(now) & (now.step != Step::CheckSack)) | (same & !now.released.any()))
        }
        _ => same,
    };
    !has_fetched(now.step) | good
}

/// Returns whether the block that is visited, and the one that was read, are those at their places.
#[hdl_fn]
pub fn reads_blocks(now: Operation, memories: Memories, odd: Bit) -> Bit {
    let pool = memories.pool;
    let place = now.place;
    let visit = now.visit;
    let first = place_of(now.before.una);
    let asked_place = place_of(now.asked.psn);
    let is_sack = now.asked.op == WindowOp::Sack;
    let is_next = now.asked.op == WindowOp::NextInFlight;
    let before = now.before;
    let has_here = holds_at(pool, now.here, odd, place, before)
        & (memories.slots == memories.slots_here)
        & (memories.link == bit_cast::<10, 2>(link_of(memories.links, now.here.get_bits::<2>(0))));
    let has_tail = (now.here == now.before.tail) & (memories.slots == memories.slots_here);
    let has_visit = holds_at(pool, visit.block, odd, visit.place, before);
    let is_last = visit.place == now.last_place;
    let visits = has_visit
        & (visit.slots == memories.slots_visited)
        & (now.visits_last == is_last)
        & (is_last | ((place == visit.place + 1) & has_here));
    let good = match now.step {
        Step::Seek => !now.inside | (has_here & (place - first <= asked_place - first)),
        Step::ReadRecord => {
            now.inside
                & has_visit
                & (visit.place == asked_place)
                & (visit.slots == memories.slots_visited)
        }
        Step::Allocate => now.is_empty | has_tail,
        Step::AllocateEnd => {
            now.range_end.any()
                & (now.range_end == range_of(now.before.next_psn, now.asked.count).beyond)
        }
        Step::CheckSack => now.is_empty | (has_here & (place == first) & !now.index.any()),
        Step::Visit => {
            if is_sack {
                !is_taken(now) | visits
            } else {
                visits & now.inside
            }
        }
        Step::ReadFound => has_visit,
        _ => true,
    };
    good & (!is_next
        | (now.step == Step::Seek)
        | now.inside
        | (now.step == Step::Respond)
        | !has_fetched(now.step))
}

/// Returns the end of a window after an operation, which was `next` before.
#[hdl_fn]
pub fn end_after(asked: WindowRequest, next: Psn) -> Psn {
    match asked.op {
        WindowOp::Configure => asked.psn,
        WindowOp::Allocate => next + bit_cast::<24, 6>(asked.count),
        _ => next,
    }
}

/// Returns whether a response tells the right end of a window, which was `next` before, and `Query` whether it is empty.
#[hdl_fn]
pub fn ends_well(asked: WindowRequest, response: WindowResponse, next: Psn) -> Bit {
    let is_empty = response.una == response.next_psn;
    (response.next_psn == end_after(asked, next))
        & ((asked.op != WindowOp::Query) | (response.is_empty == is_empty))
}

/// Returns whether a window from `una` to `next` begins where it should after an operation.
#[hdl_fn]
pub fn begins_well(asked: WindowRequest, response: WindowResponse, una: Psn, next: Psn) -> Bit {
    let accepted = (asked.op == WindowOp::Sack) & (response.verdict == SackVerdict::Accepted);
    if asked.op == WindowOp::Configure {
        response.una == asked.psn
    } else if accepted {
        response.una - una <= next - una
    } else {
        response.una == una
    }
}
