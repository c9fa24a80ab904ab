//! The transmit window, a functional unit of the requester.

use hdl_macros::hdl;
use hdl_primitives::ram::RowRam;
use hdl_primitives::{Checked, FlowSnk, FlowSrc, Parameters, Snk};
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{
    PacketState, SackVerdict, SentPacket, WindowOp, WindowRequest, WindowResponse,
};
use stellar_wire::hw::QPN_BITS;

use crate::block_memory::BlockMemory;
use crate::blocks::{
    changed_slots, from_slot, last_place_before, place_of, range_of, slot_of, state_of,
    unacknowledged, with_lost, Block, BlockSlots, Place,
};
use crate::free_list::FreeList;
use crate::result::{blank, is_newly_acked, stamp_matches, with_row, with_sum};
use crate::row::{
    after_allocate, after_bytes_left_flight, after_loss, after_sending, blocks_held, empty_row,
    room, WindowRow,
};
use crate::sack::{
    answered_slot, check_sack, first_psn, is_answered_block, last_named, measure, named_slots,
    names_behind, LastNamed, SackSpan,
};
use crate::sent_memory::SentMemory;
use crate::step::Step;
use crate::visit::{
    is_pending, named_at, pending_after, with_first_lost, with_una, Pending, Visit,
};

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
    sent: SentMemory<B, S>,

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
    last_named: DFF<LastNamed>,

    /// The block that has been read, its place, and its index in the window.
    here: DFF<Block>,
    place: DFF<Place>,
    index: DFF<Bits<8>>,
    /// The block that is visited.
    visit: DFF<Visit>,
    /// The slots of `visit` have to be written.
    changed: DFF<Bit>,
    pending: DFF<Pending>,
    /// `Sack`: a packet that is not acknowledged was found; the window begins there.
    una_found: DFF<Bit>,
    /// Blocks that return with the response: their number, first and last. `Configure` returns all that are held.
    released: DFF<Bits<8>>,
    released_first: DFF<Block>,
    released_last: DFF<Block>,

    /// A record was addressed one cycle and two cycles ago.
    record_read: DFF<Bit>,
    record_comes: DFF<Bit>,
    /// Block that the last search found, for the next operation of the same queue pair.
    cursor_valid: DFF<Bit>,
    cursor_qp: DFF<Bits<Q>>,
    cursor_place: DFF<Place>,
    cursor_block: DFF<Block>,
    /// The cursor belongs to the queue pair of the request.
    cursor_own: DFF<Bit>,

    // The last `Allocate`: where the next record goes.
    sent_packet_held_valid: DFF<Bit>,
    sent_packet_held: DFF<SentPacket>,
    sent_packet_slot: DFF<Bits<5>>,
    sent_packet_block: DFF<Block>,
    /// Slots in the second block.
    range_end: DFF<Bits<32>>,
    /// Second block of the burst.
    burst_second: DFF<Block>,

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
        dff_setup!(
            self, clock, step, swept, asked, row, inside, is_empty, held, last_place, span,
            last_named
        );
        dff_setup!(
            self,
            clock,
            here,
            place,
            index,
            visit,
            changed,
            pending,
            una_found,
            released,
            released_first,
            released_last
        );
        dff_setup!(
            self,
            clock,
            record_read,
            record_comes,
            cursor_valid,
            cursor_qp,
            cursor_place,
            cursor_block,
            cursor_own
        );
        dff_setup!(
            self,
            clock,
            sent_packet_held_valid,
            sent_packet_held,
            sent_packet_slot,
            sent_packet_block,
            range_end
        );
        dff_setup!(self, clock, burst_second, result);
        clock!(self, clock, rows, blocks, free, sent);
        let step = self.step.q.val();
        let asked = self.asked.q.val();
        let span = self.span.q.val();
        let result = self.result.q.val();
        let pending = self.pending.q.val();
        let visit = self.visit.q.val();
        let inside = self.inside.q.val();
        let is_empty = self.is_empty.q.val();
        let is_sack = asked.op == WindowOp::Sack;
        let is_next = asked.op == WindowOp::NextInFlight;
        let is_read = asked.op == WindowOp::Read;
        let is_loss = asked.op == WindowOp::MarkLost;
        let is_resent = asked.op == WindowOp::MarkRetransmitted;
        let asked_psn = first_psn(asked);
        let asked_place = place_of(asked_psn);
        let record = self.sent.record.val();

        // row
        let fetched = self.rows.read_data.val();
        let fetched_empty = fetched.una == fetched.next_psn;
        let last_place = last_place_before(fetched.next_psn);
        self.rows.read_address.next = self.request.record.val().qp.get_bits::<Q>(0);

        // Selects the block in which the operation starts. Whether it is that of the newest packet is known a cycle later.
        let known = self.row.q.val();
        let behind_cursor = asked_place - self.cursor_place.q.val();
        let uses_cursor = self.cursor_own.q.val() & !is_sack & !behind_cursor.get_bit(18);
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
        let starts_there = (asked_place == una_place) | (uses_cursor & !behind_cursor.any());

        // Reads the next block while one is visited.
        let here = self.here.q.val();
        let place = self.place.q.val();
        let index = self.index.q.val();
        let slots = self.blocks.slots.val();
        let link = self.blocks.link.val();
        let taken = (result.verdict == SackVerdict::Accepted) & !is_empty;
        let walks = self.sent.walks.val();
        let is_last = visit.place == self.last_place.q.val();
        let any_wanted = visit.wanted.any();
        let una_found = self.una_found.q.val() | any_wanted;
        let rest = pending_after(visit, pending);
        let goes_on = if is_next {
            !any_wanted
        } else {
            is_pending(rest)
                | (is_sack & (!una_found | names_behind(self.last_named.q.val(), visit.index)))
        };
        let more = goes_on & !is_last;
        let answers_here = is_sack & is_answered_block(span, index);
        // The record of the answered packet is read while no bank reads another one.
        let visited = if more & answers_here {
            !walks
        } else {
            self.sent.last.val()
        };
        let advances = (step == Step::Visit) & visited & (!is_sack | taken);
        let loads = (step == Step::CheckSack) | (advances & more);
        let seeks = step == Step::Seek;
        let found_there = seeks & inside & (place == asked_place);
        let jumps =
            seeks & inside & (asked_place == self.last_place.q.val()) & (place != asked_place);
        let moves = loads | seeks;
        // Whether the list goes on comes late, and `visit` is wide. So it loads whenever its block is done, unless the packet that was found is read from it.
        let is_done = self.sent.last.val() & (!answers_here | !walks);
        let may_load = (step == Step::CheckSack)
            | ((step == Step::Visit) & is_done & (!is_sack | taken) & !(is_next & any_wanted));
        assert!(!loads | may_load, "the next block is not visited");
        let read_block = if step == Step::Fetch {
            start
        } else if jumps {
            known.tail
        } else if moves {
            link
        } else {
            here
        };
        self.blocks.read_block.next = read_block;
        self.here.d.next = read_block;
        if step == Step::Fetch {
            self.place.d.next = start_place;
            self.index.d.next = bits::<8>(0);
        } else if jumps {
            self.place.d.next = asked_place;
        } else if moves {
            self.place.d.next = place + 1;
            self.index.d.next = index + 1;
        }

        // The state of the packet that the operation is about, if it lies in the block that has been read.
        let asked_state = state_of(slots, asked_psn);

        // Determines the newly acknowledged slots of the block that has been read.
        let answered = answered_slot(asked.acked, answers_here);
        let open = unacknowledged(slots);
        let named = if is_sack {
            named_slots(span, asked.cack, place, index) | answered
        } else {
            bits::<32>(0)
        };
        let newly_acked = open & named;

        // What the operation removes, adds and looks for is known before the slots have been read.
        let first_psn = known.next_psn;
        let enters = is_empty | !first_psn.get_bits::<5>(0).any();
        let free_block = self.free.block.val();
        let first_block = if enters { free_block } else { known.tail };
        let range = range_of(first_psn, asked.count);
        let resends_there = seeks & is_resent;
        let added = if step == Step::Allocate {
            range.here
        } else if resends_there {
            slot_of(asked.psn)
        } else {
            bits::<32>(0)
        };
        let kept = if (step == Step::Allocate) & enters {
            bits::<32>(0)
        } else {
            !(named | added)
        };
        let wanted = if is_sack {
            !named
        } else if seeks {
            from_slot(asked.psn)
        } else {
            Bits::<32>::mask()
        };
        let wanted_of = if is_sack { open } else { slots.in_flight };
        let next_visit = Visit {
            block: if step == Step::Allocate {
                first_block
            } else {
                here
            },
            place,
            index,
            slots: changed_slots(slots, kept, added),
            named: named_at(known, place),
            wanted: wanted & wanted_of,
        };
        self.changed.d.next = false;
        if may_load | found_there | (step == Step::Allocate) {
            self.visit.d.next = next_visit;
        }
        if loads {
            self.changed.d.next = is_sack;
        }
        let reads_answered = loads & answers_here & index.any();

        // Records: written as they arrive; read four per cycle, or one.
        let writes_sent = self.sent_packet_held_valid.q.val();
        let writes_record = is_resent | is_loss;
        let responds = (step == Step::Respond) & !(writes_record & writes_sent);
        let sent_packet_slot = self.sent_packet_slot.q.val();
        self.sent.reset.next = self.reset.val() | ((step == Step::Visit) & is_sack & !taken);
        self.sent.load.next = loads;
        self.sent.slots.next = newly_acked & !answered;
        self.sent.lost.next = slots.lost_0 | slots.lost_1;
        self.sent.block.next = visit.block;
        self.sent.read_block.next = if step == Step::Fetch {
            start
        } else if jumps {
            known.tail
        } else if step == Step::ReadFound {
            visit.block
        } else {
            here
        };
        self.sent.read_slot.next = if step == Step::ReadFound {
            result.psn.get_bits::<5>(0)
        } else {
            asked_psn.get_bits::<5>(0)
        };
        self.sent.write.next = writes_sent | (responds & writes_record);
        self.sent.write_block.next = if writes_sent {
            self.sent_packet_block.q.val()
        } else {
            // The block of the packet: the operation has just found it.
            self.cursor_block.q.val()
        };
        self.sent.write_slot.next = if writes_sent {
            sent_packet_slot
        } else {
            result.psn.get_bits::<5>(0)
        };
        self.sent.write_data.next = if writes_sent {
            self.sent_packet_held.q.val()
        } else {
            result.sent
        };
        if writes_sent {
            self.sent_packet_slot.d.next = sent_packet_slot + 1;
            if sent_packet_slot.all() & (step == Step::AllocateEnd) {
                self.sent_packet_block.d.next = self.free.block.val();
            } else if sent_packet_slot.all() {
                self.sent_packet_block.d.next = self.burst_second.q.val();
            }
        }
        self.sent_packet_held_valid.d.next = self.sent_packet.valid.val();
        self.sent_packet_held.d.next = self.sent_packet.record.val();
        let early = self.record_read.q.val();
        self.record_read.d.next = ((step == Step::Fetch) & starts_there)
            | jumps
            | (found_there & (is_read | is_loss) & !early)
            | (step == Step::ReadFound)
            | reads_answered;
        self.record_comes.d.next = early;
        let record_comes = self.record_comes.q.val();
        let is_lost = result.state == PacketState::Lost;
        self.sent.counts.next =
            record_comes & is_sack & taken & inside & is_newly_acked(result.state);
        self.sent.counts_lost.next = is_lost;

        // Adds the lengths that have been read.
        let sum = self.sent.sum.val();
        let sum_valid = self.sent.sum_valid.val();
        let counted = if sum_valid {
            with_sum(result, sum)
        } else {
            result
        };
        let row = if sum_valid {
            after_bytes_left_flight(self.row.q.val(), sum.landed)
        } else {
            self.row.q.val()
        };
        self.row.d.next = row;
        self.result.d.next = counted;
        if record_comes & is_sack {
            self.result.d.next.sent = record;
            self.result.d.next.answered = inside & taken & stamp_matches(record, asked.stamp);
        }
        // Records come after `busy` in the next cycle, and that of the answered packet two cycles after it was addressed.
        let drains = self.sent.busy.val() | (is_sack & early);

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
        self.free.put.next = responds & released.any();
        self.free.put_first.next = self.released_first.q.val();
        self.free.put_last.next = self.released_last.q.val();
        self.free.put_count.next = released;
        self.has_free.next = self.free.count.val().any();
        self.blocks.write_link.next = self.free.written.val();
        self.blocks.link_block.next = self.free.written_block.val();
        self.blocks.link_data.next = self.free.written_link.val();
        self.blocks.write.next = self.changed.q.val() & (!is_sack | taken);
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
                self.cursor_own.d.next = self.cursor_valid.q.val()
                    & (self.request.record.val().qp.get_bits::<Q>(0) == self.cursor_qp.q.val());
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
                self.pending.d.next = Pending {
                    lost_0: false,
                    lost_1: false,
                };
                self.una_found.d.next = false;
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
                    self.cursor_valid.d.next = true;
                    self.cursor_qp.d.next = asked.qp.get_bits::<Q>(0);
                    self.cursor_place.d.next = place;
                    self.cursor_block.d.next = here;
                    if is_resent {
                        self.changed.d.next = true;
                        self.row.d.next = after_sending(row, asked.sent.length);
                        self.step.d.next = Step::Visit;
                    } else if is_next {
                        self.step.d.next = Step::Visit;
                    } else {
                        self.result.d.next.state = asked_state;
                        self.step.d.next = if is_loss {
                            Step::ReadRecord
                        } else if early {
                            Step::Respond
                        } else {
                            Step::Drain
                        };
                    }
                }
            }
            Step::ReadRecord => {
                if record_comes {
                    let plane = record.ev.get_bit(0);
                    self.result.d.next.sent = record;
                    self.result.d.next.sent.retries = asked.sent.retries;
                    self.row.d.next = after_loss(row, asked.psn, plane, record.length);
                    self.visit.d.next.slots = with_lost(visit.slots, slot_of(asked.psn), plane);
                    self.changed.d.next = true;
                    self.step.d.next = Step::Respond;
                }
            }
            Step::Allocate => {
                self.range_end.d.next = range.beyond;
                self.sent_packet_slot.d.next = first_psn.get_bits::<5>(0);
                self.sent_packet_block.d.next = first_block;
                if asked.count.any() {
                    self.changed.d.next = true;
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
                self.visit.d.next.slots = BlockSlots {
                    in_flight: self.range_end.q.val(),
                    lost_0: bits::<32>(0),
                    lost_1: bits::<32>(0),
                };
                self.visit.d.next.block = free_block;
                self.changed.d.next = true;
                self.burst_second.d.next = free_block;
                self.row.d.next.tail = free_block;
                self.step.d.next = Step::Respond;
            }
            Step::CheckSack => {
                self.result.d.next.verdict = check_sack(span, asked.bitmap);
                if answers_here {
                    self.result.d.next.state = asked_state;
                }
                self.last_named.d.next = last_named(span);
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
                if advances {
                    let passed = with_first_lost(row, visit, pending);
                    let begun = with_una(passed, visit);
                    let begins = is_sack & !self.una_found.q.val() & any_wanted;
                    self.pending.d.next = rest;
                    self.row.d.next = if begins {
                        begun
                    } else if is_next {
                        row
                    } else {
                        passed
                    };
                    self.una_found.d.next = una_found;
                    if is_sack & !una_found {
                        // The window has left this block.
                        self.released.d.next = self.released.q.val() + 1;
                        self.released_last.d.next = visit.block;
                        if is_last {
                            self.row.d.next.una = row.next_psn;
                        }
                    }
                    if is_next {
                        self.result.d.next.found = any_wanted;
                        self.result.d.next.psn = begun.una;
                    }
                    if !more {
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
            Step::ReadFound => {
                self.cursor_place.d.next = visit.place;
                self.cursor_block.d.next = visit.block;
                self.step.d.next = Step::Drain;
            }
            Step::Drain => {
                if !drains {
                    self.step.d.next = Step::Respond;
                }
            }
            Step::Respond => {
                if responds {
                    if released.any() {
                        self.cursor_valid.d.next = false;
                    }
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
            self.changed.d.next = false;
            self.cursor_valid.d.next = false;
            self.record_read.d.next = false;
        }
    }
}
