//! The transmit window, a functional unit of the requester.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::ram::RowRam;
use hdl_primitives::{Checked, FlowSnk, FlowSrc, Parameters, Snk};
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{SackVerdict, SentPacket, WindowOp, WindowRequest, WindowResponse};
use stellar_wire::hw::QPN_BITS;

use crate::block_memory::BlockMemory;
use crate::block_visit::BlockVisit;
use crate::block_walk::BlockWalk;
use crate::blocks::{last_place_before, range_of, state_of, Block, Place};
use crate::change::{Added, ReadBlock};
use crate::free_list::FreeList;
use crate::result::{blank, stamp_matches, with_row, with_sum};
use crate::row::{
    after_allocate, after_bytes_left_flight, after_loss, after_sending, blocks_held, empty_row,
    room, WindowRow,
};
use crate::sack::{check_sack, first_psn, measure, SackSpan};
use crate::sent_access::SentAccess;
use crate::step::Step;

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
    /// A block is free.
    pub has_free: Signal<Out, Bit>,

    rows: RowRam<WindowRow, Q>,
    blocks: BlockMemory<B>,
    free: FreeList<B>,
    sent: SentAccess<B, S>,
    walk: BlockWalk<Q>,
    visits: BlockVisit,

    step: DFF<Step>,
    swept: DFF<Bits<QPN_BITS>>,
    asked: DFF<WindowRequest>,
    row: DFF<WindowRow>,
    /// The requested PSN is in the window; the window is empty.
    inside: DFF<Bit>,
    is_empty: DFF<Bit>,
    /// Number of blocks of the window, and the place of the last one, before the operation.
    held: DFF<Bits<8>>,
    last_place: DFF<Place>,
    span: DFF<SackSpan>,

    /// Blocks that return with the response: their number, first and last. `Configure` returns all that are held.
    released: DFF<Bits<8>>,
    released_first: DFF<Block>,
    released_last: DFF<Block>,

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
        dff_setup!(self, clock, step, swept, asked, row, inside, is_empty, held, last_place);
        dff_setup!(
            self,
            clock,
            span,
            range_end,
            result,
            released,
            released_first
        );
        dff_setup!(self, clock, released_last);
        clock!(self, clock, rows, blocks, free);
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
        let is_next = asked.op == WindowOp::NextInFlight;
        let is_loss = asked.op == WindowOp::MarkLost;
        let asked_psn = first_psn(asked);
        let record = self.sent.record.val();
        let record_comes = self.sent.comes.val();
        let free_block = self.free.block.val();
        let taken = (result.verdict == SackVerdict::Accepted) & !is_empty;

        // row
        let fetched = self.rows.read_data.val();
        let fetched_empty = fetched.una == fetched.next_psn;
        let last_place = last_place_before(fetched.next_psn);
        self.rows.read_address.next = self.request.record.val().qp.get_bits::<Q>(0);

        // Goes through the blocks of the window.
        let here = self.walk.here.val();
        let found_there = self.walk.found_there.val();
        let loads = self.visits.loads.val();
        self.walk.request_qp.next = self.request.record.val().qp.get_bits::<Q>(0);
        self.walk.asked_psn.next = asked_psn;
        self.walk.step.next = step;
        self.walk.asked.next = asked;
        self.walk.fetched.next = fetched;
        self.walk.row.next = known;
        self.walk.inside.next = inside;
        self.walk.last_place.next = self.last_place.q.val();
        join!(
            self,
            blocks.link => walk.link,
            walk.read_block => blocks.read_block,
            visits.loads => walk.loads,
            visits.visit => walk.visit,
        );

        // Visits the block that has been read, or that `Allocate` begins with.
        let slots = self.blocks.slots.val();
        let asked_state = state_of(slots, asked_psn);
        let first_psn = known.next_psn;
        let enters = is_empty | !first_psn.get_bits::<5>(0).any();
        let first_block = if enters { free_block } else { known.tail };
        let range = range_of(first_psn, asked.count);
        let loses = (step == Step::ReadRecord) & record_comes;
        let plane = record.ev.get_bit(0);
        let answers_here = self.visits.answers_here.val();
        self.visits.step.next = step;
        self.visits.asked.next = asked;
        self.visits.row.next = known;
        self.visits.span.next = span;
        self.visits.taken.next = taken;
        self.visits.last_place.next = self.last_place.q.val();
        self.visits.read.next = ReadBlock {
            block: if step == Step::Allocate {
                first_block
            } else {
                here
            },
            place: self.walk.place.val(),
            index: self.walk.index.val(),
            slots,
        };
        self.visits.new.next = Added {
            enters,
            slots: range.here,
        };
        self.visits.second_block.next = free_block;
        self.visits.second_slots.next = self.range_end.q.val();
        self.visits.loses.next = loses;
        self.visits.plane.next = plane;
        join!(
            self,
            walk.found_there => visits.found_there,
            sent.last => visits.records_last,
            sent.walks => visits.records_walk,
        );

        // Reads and writes records.
        self.sent.first_slot.next = first_psn.get_bits::<5>(0);
        self.sent.first_block.next = first_block;
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
        let drains = self.sent.drains.val();
        let responds = (step == Step::Respond) & self.sent.may_respond.val();

        // Adds the lengths that have been read.
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
        self.row.d.next = row;
        self.result.d.next = counted;
        if record_comes & is_sack {
            self.result.d.next.sent = record;
            self.result.d.next.answered = inside & taken & stamp_matches(record, asked.stamp);
        }

        // Blocks that are taken and returned.
        let takes =
            ((step == Step::Allocate) & enters & asked.count.any()) | (step == Step::AllocateEnd);
        let released = if asked.op == WindowOp::Configure {
            self.held.q.val()
        } else {
            self.released.q.val()
        };
        let sweeps = step == Step::Sweep;
        let swept = self.swept.q.val();
        self.free.fill.next = sweeps;
        self.free.fill_index.next = swept.get_bits::<B>(0);
        self.free.take.next = takes;
        self.free.link.next = takes & !((step == Step::Allocate) & is_empty);
        self.free.link_from.next = known.tail;
        self.free.link_to.next = free_block;
        let returns = responds & released.any();
        self.walk.releases.next = returns;
        self.free.put.next = returns;
        self.free.put_first.next = self.released_first.q.val();
        self.free.put_last.next = self.released_last.q.val();
        self.free.put_count.next = released;
        self.has_free.next = self.free.count.val().any();
        self.blocks.write_link.next = self.free.written.val();
        self.blocks.link_block.next = self.free.written_block.val();
        self.blocks.link_data.next = self.free.written_link.val();
        self.blocks.write.next = self.visits.changed.val() & (!is_sack | taken);
        self.blocks.write_block.next = visit.block;
        self.blocks.write_slots.next = visit.slots;

        match step {
            Step::Sweep => {
                self.swept.d.next = swept + 1;
                if swept.get_bits::<B>(0).all() & swept.get_bits::<Q>(0).all() {
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Idle => {
                self.asked.d.next = self.request.record.val();
                if self.request.valid.val() {
                    self.step.d.next = Step::Fetch;
                }
            }
            Step::Fetch => {
                let held = blocks_held(fetched);
                let configures = asked.op == WindowOp::Configure;
                let empty = empty_row(asked.psn);
                self.row.d.next = if configures { empty } else { fetched };
                self.result.d.next = blank(asked.psn, asked.sent);
                self.inside.d.next = (asked_psn - fetched.una) < (fetched.next_psn - fetched.una);
                self.is_empty.d.next = fetched_empty;
                self.held.d.next = if fetched_empty { bits::<8>(0) } else { held };
                self.last_place.d.next = last_place;
                self.span.d.next = measure(asked, fetched);
                self.released.d.next = bits::<8>(0);
                self.released_first.d.next = fetched.head;
                self.released_last.d.next = fetched.tail;
                self.step.d.next = match asked.op {
                    WindowOp::Sack => Step::CheckSack,
                    WindowOp::Allocate => Step::Allocate,
                    WindowOp::Query | WindowOp::Configure => Step::Respond,
                    _ => Step::Seek,
                };
            }
            Step::Seek => {
                if !inside {
                    self.step.d.next = Step::Respond;
                } else if found_there {
                    if asked.op == WindowOp::MarkRetransmitted {
                        self.row.d.next = after_sending(row, asked.sent.length);
                        self.step.d.next = Step::Visit;
                    } else if is_next {
                        self.step.d.next = Step::Visit;
                    } else {
                        self.result.d.next.state = asked_state;
                        self.step.d.next = if is_loss {
                            Step::ReadRecord
                        } else if self.sent.comes_next.val() {
                            Step::Respond
                        } else {
                            Step::Drain
                        };
                    }
                }
            }
            Step::ReadRecord => {
                if loses {
                    self.result.d.next.sent = record;
                    self.result.d.next.sent.retries = asked.sent.retries;
                    self.row.d.next = after_loss(row, asked.psn, plane, record.length);
                    self.step.d.next = Step::Respond;
                }
            }
            Step::Allocate => {
                self.range_end.d.next = range.beyond;
                if asked.count.any() {
                    self.row.d.next =
                        after_allocate(row, asked.count, asked.bytes, first_block, is_empty);
                }
                self.step.d.next = if range.beyond.any() {
                    Step::AllocateEnd
                } else {
                    Step::Respond
                };
            }
            Step::AllocateEnd => {
                self.row.d.next.tail = free_block;
                self.step.d.next = Step::Respond;
            }
            Step::CheckSack => {
                self.result.d.next.verdict = check_sack(span, asked.bitmap);
                if answers_here {
                    self.result.d.next.state = asked_state;
                }
                self.step.d.next = Step::Visit;
            }
            Step::Visit => {
                if is_sack & !taken {
                    self.result.d.next.overtaken =
                        span.overtaken & (result.verdict == SackVerdict::Accepted);
                    self.step.d.next = Step::Respond;
                }
                if is_sack & taken {
                    self.result.d.next.overtaken = span.overtaken;
                }
                if loads & answers_here {
                    self.result.d.next.state = asked_state;
                }
                if self.visits.advances.val() {
                    let any_wanted = self.visits.any_wanted.val();
                    self.row.d.next = self.visits.row_after.val();
                    if is_sack & !self.visits.una_found.val() {
                        // The window has left this block.
                        self.released.d.next = self.released.q.val() + 1;
                        self.released_last.d.next = visit.block;
                    }
                    if is_next {
                        self.result.d.next.found = any_wanted;
                        self.result.d.next.psn = self.visits.first_wanted.val();
                    }
                    if !self.visits.more.val() {
                        self.step.d.next = if is_next & any_wanted {
                            Step::ReadFound
                        } else if drains {
                            Step::Drain
                        } else {
                            Step::Respond
                        };
                    }
                }
            }
            Step::ReadFound => self.step.d.next = Step::Drain,
            Step::Drain => {
                if !drains {
                    self.step.d.next = Step::Respond;
                }
            }
            Step::Respond => {
                if responds {
                    self.step.d.next = Step::Idle;
                }
            }
        }

        self.rows.write_enable.next = responds | sweeps;
        self.rows.write_address.next = if sweeps {
            swept.get_bits::<Q>(0)
        } else {
            asked.qp.get_bits::<Q>(0)
        };
        let zero = empty_row(bits::<24>(0));
        self.rows.write_data.next = if sweeps { zero } else { row };
        self.request.ready.next = step == Step::Idle;
        self.response.valid.next = responds;
        self.response.record.next = with_row(
            counted,
            row,
            room(row.next_psn, self.held.q.val(), self.free.count.val()),
        );
        if record_comes & !is_sack & !is_loss {
            self.response.record.next.sent = record;
        }
        if self.reset.val() {
            self.step.d.next = Step::Sweep;
            self.swept.d.next = bits(0);
        }
    }
}
