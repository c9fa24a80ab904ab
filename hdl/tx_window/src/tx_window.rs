//! The transmit window, a functional unit of the requester.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::ram::QuickRam;
use hdl_primitives::{Checked, FlowSnk, FlowSrc, Parameters, Snk};
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{
    Departure, SackVerdict, SentPacket, WindowOp, WindowRequest, WindowResponse,
};
use stellar_wire::hw::QPN_BITS;

use crate::allocation::{allocation, takes_block};
use crate::block_memory::BlockMemory;
use crate::block_visit::BlockVisit;
use crate::block_walk::BlockWalk;
use crate::blocks::{is_in_last_block, last_place_before, state_of, Block, Place};
use crate::change::ReadBlock;
use crate::free_list::FreeList;
use crate::released_blocks::ReleasedBlocks;
use crate::result::{blank, result_after, with_record, with_row, with_sum, Finding};
use crate::row::{self, after_bytes_left_flight, blocks_held, empty_row, has_psn, room, WindowRow};
use crate::row_change::{changed_row, row_at_start};
use crate::sack::{first_psn, measure, SackSpan};
use crate::sent_access::SentAccess;
use crate::step::{next_step, Endings, Step};

/// Transmit windows of 2^`Q` queue pairs, which share 2^`B` blocks of 32 packets. Executes one operation at a time.
///
/// A window is a list of blocks, from that of `una` to that of the newest packet. `Allocate` takes a block when it enters it. A block returns when `una`
/// leaves it, when the window becomes empty, and with `Configure`.
///
/// Cycles from request to response:
/// * `Query`, `Configure`: 2. `Allocate`: 3, or 4 if new packets lie in two blocks.
/// * `Read`: 3. `MarkLost`, `MarkRetransmitted`: 4. `NextInFlight`: 6, or 3 without a result. These operations start at the oldest block, or at the block that the last of
///   them found. Each block that they pass costs 1 more; if the packet lies in the newest block, they pass no other one.
/// * `Sack`: 4 if it is refused, or if it newly acknowledges only the answered packet and that lies in the block of `una`. Records are read four per cycle, one
///   from each bank (PSN mod 4). A visit of a block costs one cycle for each packet in the bank that has most of its packets, at least 1; the first cycle of
///   the first block is included in the 4. The latency of the reads adds 2 once. The block of the answered packet costs 1 more, and the latency if nothing else
///   is read, unless it is the block of `una`. Visits start at the block of `una` and end at the last block that the SACK names. They go on while no
///   unacknowledged packet has been found, or no other lost packet in place of one that was acknowledged.
///
/// Records of the packets of an `Allocate` are written as they arrive, in any step. `MarkRetransmitted` and `MarkLost` wait with their own record meanwhile.
/// After a reset requests wait for 2^`Q` or 2^`B` cycles, the larger of both.
///
/// `Q` and `B` are at most 10. `S` = `B` + 3 is the address width of a bank of records. LUT levels: 8 (slots that the SACK acknowledges, behind the memory).
#[derive(LogicBlock, Default)]
pub struct TxWindow<const Q: usize = 9, const B: usize = 9, const S: usize = 12> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Aborts the operation in progress. Queue pairs have to be configured again.
    pub reset: Signal<In, Bit>,

    pub request: Snk<WindowRequest>,
    pub response: FlowSrc<WindowResponse>,

    /// Record of the next packet of the last `Allocate`, in the order of their PSNs. Always accepted, one per cycle. The first one comes at least 2 cycles
    /// after the request. All records, except those of packets that were rolled back, come before the next `Allocate`. A record is written in the next cycle;
    /// until then it must not be requested.
    pub sent_packet: FlowSnk<SentPacket>,
    /// Block of that record, in the cycle in which it comes; and the block in which the last `Read`, `MarkLost` or `MarkRetransmitted` has found its packet.
    pub coming_block: Signal<Out, Block>,
    pub found_block: Signal<Out, Block>,
    /// Packets that depart now by port 0 and by port 1, always accepted, and the time in ticks.
    pub departs: [FlowSnk<Departure>; 2],
    pub now: Signal<In, Bits<32>>,
    /// A block is free.
    pub has_free: Signal<Out, Bit>,

    rows: QuickRam<WindowRow, Q>,
    blocks: BlockMemory<B>,
    free: FreeList<B>,
    sent: SentAccess<B, S>,
    walk: BlockWalk<Q>,
    visits: BlockVisit,
    released: ReleasedBlocks,

    step: DFF<Step>,
    swept: DFF<Bits<QPN_BITS>>,
    asked: DFF<WindowRequest>,
    row: DFF<WindowRow>,
    /// The requested PSN is in the window; its place is that of the last block; the window is empty.
    inside: DFF<Bit>,
    in_newest: DFF<Bit>,
    is_empty: DFF<Bit>,
    /// Number of blocks of the window, and the place of the last one, before the operation.
    held: DFF<Bits<8>>,
    last_place: DFF<Place>,
    span: DFF<SackSpan>,

    /// `Allocate`: slots in the second block.
    range_end: DFF<Bits<32>>,
    /// The part of the response that is not in the row.
    result: DFF<WindowResponse>,
}

impl<const Q: usize, const B: usize, const S: usize> Parameters for TxWindow<Q, B, S> {
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&Q) && (1..=10).contains(&B) && S == B + 3,
            "TxWindow<{Q}, {B}, {S}>: use Q = 1 (2 queue pairs) to {QPN_BITS} (65,536), B = 1 (2 blocks of 32 packets) to 10 and S = B + 3"
        );
    }
}

impl<const Q: usize, const B: usize, const S: usize> Logic for TxWindow<Q, B, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, swept, asked, row, inside, in_newest, is_empty, held);
        dff_setup!(self, clock, last_place, span, range_end, result);
        clock!(self, clock, rows, blocks, free, released);
        clock_reset!(self, sent, walk, visits);
        let step = self.step.q.val();
        let asked = self.asked.q.val();
        let span = self.span.q.val();
        let result = self.result.q.val();
        let visit = self.visits.visit.val();
        let inside = self.inside.q.val();
        let is_empty = self.is_empty.q.val();
        let known = self.row.q.val();
        let is_sack = asked.op == WindowOp::Sack;
        let asked_psn = first_psn(asked);
        let record = self.sent.record.val();
        let record_comes = self.sent.comes.val();
        let free_block = self.free.block.val();
        let taken = (result.verdict == SackVerdict::Accepted) & !is_empty;

        // row
        let fetched = self.rows.read_data.val();
        self.rows.read_address.next = self.request.record.val().qp.get_bits::<Q>(0);

        // Goes through the blocks of the window.
        let found_there = self.walk.found_there.val();
        self.walk.request_qp.next = self.request.record.val().qp.get_bits::<Q>(0);
        self.walk.asked_psn.next = asked_psn;
        self.walk.step.next = step;
        self.walk.asked.next = asked;
        self.walk.fetched.next = fetched;
        self.walk.row.next = known;
        self.walk.inside.next = inside;
        self.walk.in_newest.next = self.in_newest.q.val();
        join!(
            self,
            blocks.link => walk.link,
            walk.read_block => blocks.read_block,
            visits.loads => walk.loads,
            visits.visit => walk.visit,
        );

        // Visits the block that has been read, or that `Allocate` begins with.
        let slots = self.blocks.slots.val();
        let allocation = allocation(asked, known, is_empty, free_block);
        let loses = (step == Step::ReadRecord) & record_comes;
        self.visits.step.next = step;
        self.visits.asked.next = asked;
        self.visits.row.next = known;
        self.visits.span.next = span;
        self.visits.taken.next = taken;
        self.visits.last_place.next = self.last_place.q.val();
        self.visits.read.next = ReadBlock {
            block: if step == Step::Allocate {
                allocation.first
            } else {
                self.walk.here.val()
            },
            place: self.walk.place.val(),
            index: self.walk.index.val(),
            slots,
        };
        self.visits.new.next = allocation.added;
        self.visits.second_block.next = free_block;
        self.visits.second_slots.next = self.range_end.q.val();
        self.visits.loses.next = loses;
        self.visits.plane.next = record.ev.get_bit(0);
        join!(
            self,
            walk.found_there => visits.found_there,
            sent.last => visits.records_last,
            sent.walks => visits.records_walk,
        );

        // Reads and writes records.
        self.sent.first_slot.next = known.next_psn.get_bits::<5>(0);
        self.sent.first_block.next = allocation.first;
        self.sent.second_block.next = free_block;
        self.sent.step.next = step;
        self.sent.asked.next = asked;
        self.sent.result.next = result;
        self.sent.inside.next = inside;
        self.sent.taken.next = taken;
        self.sent.newest.next = known.tail;
        self.sent.visited.next = visit.block;
        self.sent.lost.next = slots.lost_0 | slots.lost_1;
        join!(
            self,
            sent_packet => sent.sent_packet,
            sent.coming_block => coming_block,
            walk.found => found_block,
            departs[0] => sent.departs[0],
            departs[1] => sent.departs[1],
            now => sent.now,
            walk.start => sent.start,
            walk.starts_there => sent.starts_there,
            walk.jumps => sent.jumps,
            walk.here => sent.here,
            walk.found_there => sent.found_there,
            walk.found => sent.found,
            visits.loads => sent.loads,
            visits.newly_acked => sent.newly_acked,
            visits.reads_answered => sent.reads_answered,
        );
        let responds = (step == Step::Respond) & self.sent.may_respond.val();

        // Adds the lengths that have been read.
        let end = self.visits.end.val();
        let sum = self.sent.sum.val();
        let sum_valid = self.sent.sum_valid.val();
        let counted = if sum_valid {
            with_sum(result, sum)
        } else {
            result
        };
        let row = if sum_valid {
            after_bytes_left_flight(known, sum.landed)
        } else {
            known
        };
        self.visits.counted_row.next = row;

        // Blocks that are taken and returned.
        let takes = takes_block(step, asked, allocation.added);
        let sweeps = step == Step::Sweep;
        let swept = self.swept.q.val();
        self.free.fill.next = sweeps;
        self.free.fill_index.next = swept.get_bits::<B>(0);
        self.free.take.next = takes;
        self.free.link.next = takes & !((step == Step::Allocate) & is_empty);
        self.free.link_from.next = known.tail;
        self.free.link_to.next = free_block;
        self.free.put.next = self.released.returns.val();
        self.released.step.next = step;
        self.released.op.next = asked.op;
        self.released.fetched.next = fetched;
        self.released.held.next = self.held.q.val();
        self.released.leaves.next = is_sack & end.advances & !end.una_found;
        self.released.visited.next = visit.block;
        self.released.responds.next = responds;
        join!(
            self,
            released.returns => walk.releases,
            released.first => free.put_first,
            released.last => free.put_last,
            released.count => free.put_count,
        );
        self.has_free.next = self.free.count.val().any();
        self.blocks.write_link.next = self.free.written.val();
        self.blocks.link_block.next = self.free.written_block.val();
        self.blocks.link_data.next = self.free.written_link.val();
        self.blocks.write.next = self.visits.changed.val() & (!is_sack | taken);
        self.blocks.write_block.next = visit.block;
        self.blocks.write_slots.next = visit.slots;

        // step
        if sweeps {
            self.swept.d.next = swept + 1;
        }
        if step == Step::Idle {
            self.asked.d.next = self.request.record.val();
        }
        let endings = Endings {
            swept: swept.get_bits::<B>(0).all() & swept.get_bits::<Q>(0).all(),
            accepts: self.request.valid.val(),
            inside,
            found_there,
            record_due: self.sent.comes_next.val(),
            loses,
            goes_beyond: allocation.beyond.any(),
            taken,
            read: self.sent.last.val(),
            drains: self.sent.drains.val(),
            responds,
        };
        self.step.d.next = next_step(step, asked.op, endings, end);

        // What the operation begins with, and what it finds.
        let finding = Finding {
            found_there,
            answers_there: self.visits.loads.val() & self.visits.answers_here.val(),
            state: state_of(slots, asked_psn),
            record_comes,
            record,
            departed: self.sent.departed.val(),
            inside,
            taken,
        };
        self.result.d.next = result_after(counted, step, asked, span, finding, end);
        self.row.d.next = changed_row(row, step, asked, finding, is_empty, allocation, end);
        if step == Step::Fetch {
            self.result.d.next = blank(asked.psn, asked.sent);
            self.row.d.next = row_at_start(asked, fetched);
            self.inside.d.next = has_psn(fetched, asked_psn);
            self.in_newest.d.next = is_in_last_block(asked_psn, fetched.next_psn);
            self.is_empty.d.next = row::is_empty(fetched);
            self.held.d.next = blocks_held(fetched);
            self.last_place.d.next = last_place_before(fetched.next_psn);
            self.span.d.next = measure(asked, fetched);
        }
        if step == Step::Allocate {
            self.range_end.d.next = allocation.beyond;
        }

        self.rows.write_enable.next = responds | sweeps;
        let written_qp = if sweeps { swept } else { asked.qp };
        self.rows.write_address.next = written_qp.get_bits::<Q>(0);
        let zero = empty_row(bits::<24>(0));
        self.rows.write_data.next = if sweeps { zero } else { row };
        self.request.ready.next = step == Step::Idle;
        self.response.valid.next = responds;
        let room = room(row.next_psn, self.held.q.val(), self.free.count.val());
        let told = with_record(counted, asked, finding);
        self.response.record.next = with_row(told, row, room, is_empty);
        if self.reset.val() {
            self.step.d.next = Step::Sweep;
            self.swept.d.next = bits(0);
        }
    }
}
