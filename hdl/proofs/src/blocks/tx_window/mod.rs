//! The transmit window.

mod follow;
mod inner;
mod operation;
mod pool;
mod sack;
mod slots;
mod time;

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{FlowSnk, FlowSrc, Snk};
use hdl_tx_window::blocks::{last_place_before, place_of, psn_at, unacknowledged};
use hdl_tx_window::step::Step;
use hdl_tx_window::TxWindow;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{
    Departure, SackVerdict, SentPacket, WindowOp, WindowRequest, WindowResponse,
};

use follow::{OperationTimer, PoolFollower, WindowFollower};
use inner::WindowInsideSnk;
use operation::{
    begins_well, ends_well, has_allocated, has_blocks_for, has_fetched, has_step, has_window,
    is_allowed, is_resting, knows_row, reads_blocks, Memories, Operation,
};
use pool::{
    holds_at, holds_low, is_filled, is_list, link_of, list_of, low_of, numbered, Links, List,
    BLOCKS,
};
use sack::{follows_sack, is_taken, names};
use slots::{after_write, is_inside, open_in, slots_of, Slots};
use time::{is_in_time, ones};

/// Properties of [`TxWindow`] of 2 queue pairs and 4 blocks. Together they are an invariant.
#[derive(LogicBlock, Default)]
pub struct TxWindowProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub request: Snk<WindowRequest>,
    pub response: FlowSrc<WindowResponse>,
    pub sent_packet: FlowSnk<SentPacket>,
    pub departs: [FlowSnk<Departure>; 2],
    pub now: Signal<In, Bits<32>>,
    pub inner_window: WindowInsideSnk,
    /// The queue pair that is watched, and the MPR of its peer.
    pub watched: Signal<In, Bit>,
    pub mpr: Signal<In, Bits<13>>,
    /// One bit of a bitmap, one slot of a block, or a number of packets.
    pub pick: Signal<In, Bits<6>>,

    /// `watched` and `mpr` do not change.
    pub given_one_watched: Signal<Out, Bit>,
    /// An `Allocate` asks for a burst for which there are free blocks.
    pub given_room: Signal<Out, Bit>,
    /// That of the watched queue pair asks for no more packets than its MPR allows.
    pub given_mpr: Signal<Out, Bit>,

    /// A window grows by the packets of an `Allocate`, and by nothing else: its row is what the requests and responses make of it. It begins later only after a SACK that was
    /// accepted, and not behind its end. `Configure` empties it. `Query` says whether it is empty.
    pub holds_counts: Signal<Out, Bit>,
    /// A window has no more packets than the MPR.
    pub holds_mpr: Signal<Out, Bit>,
    /// There are free blocks for as many packets as `Query` tells.
    pub holds_room: Signal<Out, Bit>,
    /// The blocks of each window, and the free ones, are the lists that their links say. Each block is in one of them, once.
    pub holds_lists: Signal<Out, Bit>,
    /// A block that is taken is free.
    pub holds_taken: Signal<Out, Bit>,
    /// Blocks that return are the first ones of the window of their queue pair.
    pub holds_returned: Signal<Out, Bit>,
    /// A slot that is in flight or lost belongs to a packet of the window. If there are packets, `una` is the first one of those.
    pub holds_slots: Signal<Out, Bit>,
    /// A SACK is accepted only if each packet that it names was sent.
    pub holds_sent: Signal<Out, Bit>,
    /// A packet is acknowledged only by a SACK that names it.
    pub holds_named: Signal<Out, Bit>,
    /// An operation ends in time, with one response.
    pub holds_ends: Signal<Out, Bit>,

    // What the registers hold, so that the properties are inductive.
    /// The sweep after reset.
    pub holds_sweep: Signal<Out, Bit>,
    /// The registers that are set when the row has been read.
    pub holds_row: Signal<Out, Bit>,
    /// The steps of each operation.
    pub holds_steps: Signal<Out, Bit>,
    /// The blocks that were read.
    pub holds_reads: Signal<Out, Bit>,
    /// What a SACK has found.
    pub holds_sack: Signal<Out, Bit>,
    /// The block that the last search found.
    pub holds_cursor: Signal<Out, Bit>,

    /// A window has two blocks.
    pub reaches_two_blocks: Signal<Out, Bit>,
    /// A SACK returns a block of a window that still has packets.
    pub reaches_returned: Signal<Out, Bit>,
    /// Both windows have packets, and no block is free.
    pub reaches_none_free: Signal<Out, Bit>,
    /// A window of more than one block has as many packets as the MPR.
    pub reaches_mpr: Signal<Out, Bit>,

    window: TxWindow<1, 2, 5>,
    pool: PoolFollower,
    windows: WindowFollower,
    timer: OperationTimer,
    /// A record came in the last cycle.
    wrote: DFF<Bit>,
    started: DFF<Bit>,
    watched_before: DFF<Bit>,
    mpr_before: DFF<Bits<13>>,
}

impl Logic for TxWindowProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, wrote, started, watched_before, mpr_before);
        clock!(self, clock, pool, windows, timer);
        clock_reset!(self, window);
        join!(self, request => window.request, window.response => response, sent_packet => window.sent_packet);
        join!(self, departs[0] => window.departs[0], departs[1] => window.departs[1], now => window.now);
        let watched = self.watched.val();
        let mpr = self.mpr.val();
        self.started.d.next = true;
        self.watched_before.d.next = watched;
        self.mpr_before.d.next = mpr;
        self.given_one_watched.next = !self.started.q.val()
            | ((self.watched_before.q.val() == watched) & (self.mpr_before.q.val() == mpr));

        // What is inside.
        let step = self.inner_window.step.val();
        let asked = self.inner_window.asked.val();
        let odd = asked.qp.get_bit(0);
        let row_0 = self.inner_window.rows_memory[0].val();
        let row_1 = self.inner_window.rows_memory[1].val();
        let before = if odd { row_1 } else { row_0 };
        let row = self.inner_window.row.val();
        let visit = self.inner_window.visits_visit_held.val();
        let now = Operation {
            step,
            asked,
            before,
            row,
            inside: self.inner_window.inside.val(),
            in_newest: self.inner_window.in_newest.val(),
            is_empty: self.inner_window.is_empty.val(),
            held: self.inner_window.held.val(),
            last_place: self.inner_window.last_place.val(),
            span: self.inner_window.span.val(),
            here: self.inner_window.walk_here_held.val(),
            place: self.inner_window.walk_place_held.val(),
            index: self.inner_window.walk_index_held.val(),
            visit,
            visits_last: self.inner_window.visits_last_held.val(),
            una_found: self.inner_window.visits_una_found_held.val(),
            released: self.inner_window.released_count_held.val(),
            released_first: self.inner_window.released_first_held.val(),
            released_last: self.inner_window.released_last_held.val(),
            range_end: self.inner_window.range_end.val(),
            result: self.inner_window.result.val(),
        };
        let is_sack = asked.op == WindowOp::Sack;
        let taken = is_taken(now);
        let sweeps = step == Step::Sweep;
        let swept = self.inner_window.swept.val();
        let changed = self.inner_window.visits_changed_held.val();
        let links = Links {
            b0: self.inner_window.free_links_memory[0].val(),
            b1: self.inner_window.free_links_memory[1].val(),
            b2: self.inner_window.free_links_memory[2].val(),
            b3: self.inner_window.free_links_memory[3].val(),
        };
        let copies = Links {
            b0: self.inner_window.blocks_links_memory[0].val(),
            b1: self.inner_window.blocks_links_memory[1].val(),
            b2: self.inner_window.blocks_links_memory[2].val(),
            b3: self.inner_window.blocks_links_memory[3].val(),
        };
        let stored = Slots {
            b0: self.inner_window.blocks_states_memory[0].val(),
            b1: self.inner_window.blocks_states_memory[1].val(),
            b2: self.inner_window.blocks_states_memory[2].val(),
            b3: self.inner_window.blocks_states_memory[3].val(),
        };
        let writes = changed & (!is_sack | taken);
        let slots = after_write(stored, writes, visit);
        let open = open_in(slots);

        // The blocks.
        let free = self.inner_window.free_free.val();
        let takes = self.inner_window.free_take.val();
        let puts = self.inner_window.free_put.val();
        let put_count = self.inner_window.free_put_count.val();
        let head = self.inner_window.free_head.val();
        let first_place = low_of(place_of(before.una));
        let new_place = low_of(place_of(before.next_psn));
        let lacks_last = step == Step::AllocateEnd;
        self.pool.fill.next = sweeps;
        self.pool.fill_number.next = swept.get_bits::<2>(0);
        self.pool.take.next = takes;
        self.pool.take_number.next = head;
        self.pool.take_place.next = if lacks_last { new_place + 1 } else { new_place };
        self.pool.put.next = puts;
        self.pool.put_place.next = first_place;
        self.pool.put_count.next = put_count;
        self.pool.odd.next = odd;
        self.pool.free.next = free;
        let pool = self.pool.pool.val();
        let free_list = List {
            free: true,
            odd: false,
            fits: free <= (BLOCKS as u64),
            count: free.get_bits::<3>(0),
            first: self.pool.first_free.val(),
            head: bit_cast::<10, 2>(head),
            tail: bit_cast::<10, 2>(self.inner_window.free_tail.val()),
        };
        let allocates = has_allocated(step, asked.op);
        let now_0 = if allocates & !odd { row } else { row_0 };
        let now_1 = if allocates & odd { row } else { row_1 };
        let list_0 = list_of(now_0, false, lacks_last & !odd);
        let list_1 = list_of(now_1, true, lacks_last & odd);
        // The link of the first free block was read, and the window before an `Allocate` keeps its last block.
        let second = self.inner_window.free_links_read_data.val();
        let reads_second = is_resting(step) | (free < 2) | (second == link_of(links, head));
        let old_last = low_of(last_place_before(before.next_psn));
        let has_old_tail = !allocates
            | (before.una == before.next_psn)
            | holds_low(pool, before.tail, odd, old_last);
        self.holds_lists.next = sweeps
            | (is_list(pool, links, list_0)
                & is_list(pool, links, list_1)
                & is_list(pool, links, free_list)
                & (links == copies)
                & reads_second
                & has_old_tail);
        let first_free = numbered(pool, head);
        self.holds_taken.next = !takes | (free.any() & first_free.free);
        let list = if odd { list_1 } else { list_0 };
        let put_last = first_place + put_count.get_bits::<2>(0) - 1;
        self.holds_returned.next = !puts
            | (put_count.any()
                & (put_count <= bit_cast::<8, 3>(list.count))
                & holds_low(
                    pool,
                    self.inner_window.released_first_held.val(),
                    odd,
                    first_place,
                )
                & holds_low(
                    pool,
                    self.inner_window.released_last_held.val(),
                    odd,
                    put_last,
                ));

        // The windows.
        let accepts = self.request.valid.val() & self.window.request.ready.val();
        let request = self.request.record.val();
        let responds = self.window.response.valid.val();
        let response = self.window.response.record.val();
        self.windows.clear.next = sweeps;
        self.windows.responds.next = responds;
        self.windows.asked.next = asked;
        self.windows.response.next = response;
        let known = self.windows.windows.val();
        let una = if odd { known.una_1 } else { known.una_0 };
        let next = if odd { known.next_1 } else { known.next_0 };
        let counts_0 = (row_0.una == known.una_0) & (row_0.next_psn == known.next_0);
        let counts_1 = (row_1.una == known.una_1) & (row_1.next_psn == known.next_1);
        let responds_well =
            begins_well(asked, response, una, next) & ends_well(asked, response, next);
        self.holds_counts.next = sweeps | (counts_0 & counts_1 & (!responds | responds_well));

        let to_odd = request.qp.get_bit(0);
        let to_row = if to_odd { row_1 } else { row_0 };
        self.given_room.next = !accepts | is_allowed(request, to_row, free);
        let mpr = bit_cast::<24, 13>(mpr);
        let watched_row = if watched { row_1 } else { row_0 };
        let packets = watched_row.next_psn - watched_row.una;
        let adds_watched = (request.op == WindowOp::Allocate) & (to_odd == watched);
        self.given_mpr.next =
            !accepts | !adds_watched | (packets + bit_cast::<24, 6>(request.count) <= mpr);
        let adds = !is_resting(step) & (asked.op == WindowOp::Allocate) & (odd == watched);
        let packets_then = if adds {
            packets + bit_cast::<24, 6>(asked.count)
        } else {
            packets
        };
        self.holds_mpr.next = sweeps | (packets_then <= mpr);
        let pick = self.pick.val();
        let asks_room = responds & (asked.op == WindowOp::Query);
        self.holds_room.next = !asks_room
            | ((response.room <= 32)
                & ((pick > response.room) | has_blocks_for(before, pick, free)));

        // What a SACK names.
        let accepted = responds & is_sack & (response.verdict == SackVerdict::Accepted);
        let by_bitmap = asked.base + bit_cast::<24, 6>(pick);
        let cack_sent = (asked.cack - next).get_bit(23);
        let acked_sent = (asked.acked - next).get_bit(23);
        let bit_sent = (by_bitmap - next).get_bit(23) | !asked.bitmap.get_bit(pick.index());
        self.holds_sent.next = !accepted | (cack_sent & acked_sent & bit_sent);
        let visited = visit.block.get_bits::<2>(0);
        let old_slots = slots_of(stored, visited);
        let removed = unacknowledged(old_slots) & !unacknowledged(visit.slots);
        let slot = pick.get_bits::<5>(0);
        let is_new =
            (asked.op == WindowOp::Allocate) & (now.is_empty | (visit.block != before.tail));
        let is_named = is_sack & names(asked, psn_at(visit.place, slot));
        self.holds_named.next = !writes | !removed.get_bit(slot.index()) | is_new | is_named;
        let may_close = taken & has_fetched(step) & (step != Step::CheckSack);
        self.holds_slots.next = sweeps
            | (is_inside(pool, open, now_0, false, odd | !may_close)
                & is_inside(pool, open, now_1, true, !odd | !may_close));

        // The cycles of an operation.
        let left_0 = self.inner_window.sent_memory_banks_0_left.val();
        let left_1 = self.inner_window.sent_memory_banks_1_left.val();
        let left_2 = self.inner_window.sent_memory_banks_2_left.val();
        let left_3 = self.inner_window.sent_memory_banks_3_left.val();
        let walks = (left_0 | left_1 | left_2 | left_3).any();
        let reads = self.inner_window.sent_memory_banks_0_read.val()
            | self.inner_window.sent_memory_banks_1_read.val()
            | self.inner_window.sent_memory_banks_2_read.val()
            | self.inner_window.sent_memory_banks_3_read.val();
        let visits = step == Step::Visit;
        self.timer.step.next = step;
        self.timer.stays.next = visits & is_sack & !self.inner_window.visits_loads.val();
        let stay = self.timer.stay.val();
        let few = (ones(left_0, stay) <= 8)
            & (ones(left_1, stay) <= 8)
            & (ones(left_2, stay) <= 8)
            & (ones(left_3, stay) <= 8);
        let in_time = is_in_time(
            now,
            self.timer.age.val(),
            stay,
            walks,
            reads,
            self.inner_window.sent_record_read.val(),
            self.inner_window.sent_record_comes.val(),
        );
        self.wrote.d.next = self.sent_packet.valid.val();
        let waits = self.wrote.q.val()
            & ((asked.op == WindowOp::MarkLost) | (asked.op == WindowOp::MarkRetransmitted));
        self.holds_ends.next =
            sweeps | (in_time & (!walks | few) & (responds == ((step == Step::Respond) & !waits)));

        // What the registers hold.
        let cursor_valid = self.inner_window.walk_cursor_valid.val();
        let cursor_qp = self.inner_window.walk_cursor_qp.val().get_bit(0);
        let cursor_row = if cursor_qp { now_1 } else { now_0 };
        let cleared_0 = counts_0 & !known.una_0.any() & !known.next_0.any();
        let cleared_1 = counts_1 & !known.una_1.any() & !known.next_1.any();
        self.holds_sweep.next = !sweeps
            | (is_filled(pool, links, swept, free_list)
                & is_filled(pool, copies, swept, free_list)
                & (cleared_0 | (swept < 1))
                & (cleared_1 | (swept < 2))
                & !changed
                & !walks
                & !reads
                & !cursor_valid);
        let has_read = (step != Step::Fetch) | (self.inner_window.rows_read_data.val() == before);
        self.holds_row.next = knows_row(now) & has_read;
        let may_change = match step {
            Step::Visit | Step::AllocateEnd | Step::Respond => true,
            _ => false,
        };
        let is_later = lacks_last | (step == Step::Respond) | is_resting(step);
        let owns_cursor = cursor_valid & (cursor_qp == odd);
        self.holds_steps.next = sweeps
            | ((!changed | may_change)
                & (is_resting(step) | has_step(step, asked.op))
                & (!lacks_last | free.any())
                & (is_later | is_allowed(asked, before, free))
                & has_window(now)
                & (!walks | (visits & is_sack))
                & (!reads | ((visits | (step == Step::Drain)) & taken))
                & ((step != Step::Fetch) | !self.inner_window.walk_cursor_own.val() | owns_cursor));
        let memories = Memories {
            pool,
            links,
            open,
            slots_here: slots_of(slots, now.here.get_bits::<2>(0)),
            slots_visited: slots_of(slots, visited),
            slots: self.inner_window.blocks_slots.val(),
            link: self.inner_window.blocks_link.val(),
        };
        self.holds_reads.next = reads_blocks(now, memories, odd);
        self.holds_sack.next = follows_sack(now, memories, odd);
        let finds = (visits | (step == Step::ReadFound)) & !is_sack;
        let cursor_block = self.inner_window.walk_cursor_block.val();
        let cursor_place = self.inner_window.walk_cursor_place.val();
        self.holds_cursor.next = !cursor_valid
            | (holds_at(pool, cursor_block, cursor_qp, cursor_place, cursor_row)
                & (!finds | (cursor_qp == odd)));

        self.reaches_two_blocks.next = !sweeps & (list_0.count == 2);
        self.reaches_returned.next = puts & is_sack & (response.una != response.next_psn);
        self.reaches_none_free.next =
            !sweeps & !free.any() & list_0.count.any() & list_1.count.any();
        self.reaches_mpr.next = responds & (packets_then == mpr) & (packets > 32);
    }
}
