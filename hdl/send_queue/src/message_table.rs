//! The message table, a functional unit of the requester: messages from doorbell to completion.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::ram::{RowRam, UltraRam};
use hdl_primitives::{Checked, FlowSnk, FlowSrc, Parameters, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{
    Completion, MessageOp, MessageRequest, MessageResponse, SendQueueConfig, WqeFetch, WqeFetched,
};
use stellar_wire::hw::wqe::Wqe;
use stellar_wire::hw::FromBits;
use stellar_wire::hw::{Psn, Qpn, SqIndex, QPN_BITS};

use crate::completion::completion_of;
use crate::cursor::Cursor;
use crate::decide::decide;
use crate::flush_turns::FlushTurns;
pub use crate::flush_turns::FLUSH_INTERVAL;
use crate::lookup::{
    adopt, corrected_place, first_place, is_in_last_block, look_up, position_behind, position_of,
};
use crate::outstanding::{after_completion, after_start, message_of, start_of};
use crate::pop::{pop, status_of};
use crate::prefetch_state::BLOCK_LOG2;
use crate::psn_search::PsnSearch;
use crate::records::{Ask, AskKind, Block, Left, Lookup, Position, QueueRow, Started};
use crate::take::{are_enough, has_failed, is_over, take};
use crate::wqe_prefetch::WqePrefetch;

/// Most packets of a message: 2^31 bytes, 256 each.
const MAX_PACKETS: u64 = 1 << 23;

/// What the unit does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    /// Clears the rows, one per cycle.
    Clear,
    /// Accepts a request or starts a flush step, and reads the row.
    Idle,
    /// Evaluates the row, and addresses the first message.
    LookUp,
    /// Follows the link to the next block.
    Walk,
    /// The message is being read. An operation that needs none ends.
    Wait,
    /// The message has been read: decides, and addresses the next one.
    Access,
    /// `LookupByPsn`: addresses the middle of the remaining messages.
    Bisect,
}

/// Send queues of 2^`Q` queue pairs, with entries and messages in one pool of 2^`B` blocks of 8. `E` = `B` + 3. Executes one operation at a time.
///
/// Cycles from request to response:
/// * `Configure`, `Doorbell`, `Flush`: 3.
/// * `NextMessage`: 4, or 5 if the last message continues.
/// * `TakeMessages`: 4 to the first response, or 5 if the last message continues, and 1 from one to the next; 1 more for each NOP that starts.
/// * `LookupBySlot`, `Fault`: 4 in the block of the last message; otherwise 5, and 1 more for each block between the oldest message and this one. 3 if the message
///   is not outstanding.
/// * `Complete`: 3 if no message is outstanding, otherwise 4, and 1 more for each completed message that is followed by another one. This holds if completions
///   are accepted at once; one that is not is read again, which takes 2 cycles.
/// * `LookupByPsn`: 4, 2 more for each block up to that of the message, and 3 more for each message of that block that it reads, at most 4: messages are
///   stored in the order of their PSNs, so the search in the block is binary.
///
/// `TakeMessages` and `Complete` address the message behind the next one while they decide on a message, because the memory answers two cycles later.
///
/// A link that was not followed before adds 1. A flush step may add up to 7 cycles. A request to the prefetch that is still busy adds up to 7, up to 7 more behind a pushed entry, and up to 9 more behind a read of entries of 128 bytes. After a `Configure` the next request
/// waits until the prefetch has forgotten the old ring.
///
/// **Flush.** Flushed queue pairs take turns. One flush step starts at most every [`FLUSH_INTERVAL`] cycles, and makes the next completion. Flush steps have priority over requests, but do not start while a completion waits to be accepted.
///
/// After a reset, as many cycles as there are queue pairs, or blocks, clear the rows. After the reset no data of a read issued before it may arrive. LUT levels: 8,
/// in `Access` (whether the next message starts, choice of its row).
#[derive(LogicBlock, Default)]
pub struct MessageTable<
    const Q: usize = 10,
    const B: usize = 10,
    const E: usize = 13,
    const F: usize = 10,
    const D: usize = 11,
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Clears all state. Queue pairs have to be configured again.
    pub reset: Signal<In, Bit>,

    pub request: Snk<MessageRequest>,
    pub response: FlowSrc<MessageResponse>,
    /// Valid with a `Configure` request.
    pub settings: Signal<In, SendQueueConfig>,

    /// Reads of entries. Reads may be answered in any order, those of a queue pair in order; the entries of a read come in order, and without a gap once the first one is accepted.
    pub fetch: Src<WqeFetch>,
    /// Epoch of reads that begin in this cycle.
    pub epoch: Signal<In, Bit>,
    /// One cycle: a read begins. Its address is fixed, and it waits to leave.
    pub fetch_begun: Signal<Out, Bit>,
    pub fetched: Snk<WqeFetched>,

    /// An entry that a doorbell carried, before its `Doorbell` request. If it is the next entry to read, no read is needed.
    pub pushed: FlowSnk<WqeFetched>,
    /// Producer index of the doorbell. If the entry does not name the slot before it, the entry is ignored: it is read from memory, and refused.
    pub pushed_producer: Signal<In, SqIndex>,

    /// Completions; those of a queue pair come in order.
    pub cqe: Src<Completion>,

    /// An entry has arrived that `NextMessage` or `TakeMessages` missed: it may be tried again.
    pub wake_valid: Signal<Out, Bit>,
    pub wake_qp: Signal<Out, Qpn>,
    /// One cycle: entries are in the table. Requests from the next cycle on see them.
    pub arrived_valid: Signal<Out, Bit>,
    pub arrived_qp: Signal<Out, Qpn>,
    pub arrived_entries: Signal<Out, Bits<4>>,

    rows: RowRam<QueueRow, Q>,
    queues: RowRam<SendQueueConfig, Q>,
    /// What the start of a message added to its entry. The address is that of the entry.
    started: UltraRam<Started, E>,
    prefetch: WqePrefetch<Q, B, E, F, D>,
    flush_turns: FlushTurns<F, D>,
    search: PsnSearch,
    cursor: Cursor<E>,

    step: DFF<Step>,
    cleared: DFF<Qpn>,
    asked: DFF<MessageRequest>,
    asked_settings: DFF<SendQueueConfig>,
    /// The operation is a flush step.
    is_flush_step: DFF<Bit>,
    row: DFF<QueueRow>,
    lookup: DFF<Lookup>,
    /// No message has been read.
    fresh: DFF<Bit>,
    /// Entries before this slot are there.
    arriving: DFF<SqIndex>,
    /// Outstanding WRITEs with immediate that the queue pair may have.
    max_wimm: DFF<Bits<11>>,
    /// Links to follow before the message is reached.
    hops: DFF<Bits<8>>,
    at: DFF<Position>,
    /// `TakeMessages`: packets that are left to find, and the PSN of the first of them.
    want: DFF<Bits<6>>,
    psn: DFF<Psn>,
    /// What the last message started has left are all packets to find.
    left_fills: DFF<Bit>,
    /// Flush step: the message to complete had not started.
    is_unstarted: DFF<Bit>,
    /// `TakeMessages`: NOPs have started.
    nops: DFF<Bit>,
    responds: DFF<Bit>,
    response_held: DFF<MessageResponse>,
    completes: DFF<Bit>,
    completion: DFF<Completion>,
    /// `NextMessage` and `TakeMessages`: the last message of a block was taken.
    crossed: DFF<Bit>,
    /// If the operation has ended in the cycle before, the prefetch is told what it has taken.
    tells: DFF<Bit>,
    /// Next contents of the row; the operation ends in this cycle.
    row_after: Signal<Local, QueueRow>,
    ends: Signal<Local, Bit>,
    /// A message is in the response; others follow unless the operation ends.
    carries: Signal<Local, Bit>,
    /// A message completes in this cycle.
    completed: Signal<Local, Bit>,
    /// The prefetch is asked for something of this kind, with a slot.
    asks: Signal<Local, Bit>,
    ask_kind: Signal<Local, AskKind>,
    ask_slot: Signal<Local, SqIndex>,
    /// The message to decide on next, unless the operation `streams`: it goes on with the message behind this one in the next cycle.
    next_slot: Signal<Local, SqIndex>,
    next_block: Signal<Local, Block>,
    /// It is the block behind the one of before, in place of `next_block`.
    next_followed: Signal<Local, Bit>,
    streams: Signal<Local, Bit>,
}

impl<const Q: usize, const B: usize, const E: usize, const F: usize, const D: usize> Parameters
    for MessageTable<Q, B, E, F, D>
{
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&Q) && (1..=10).contains(&B) && E == B + BLOCK_LOG2,
            "MessageTable<{Q}, {B}, {E}>: use Q of 1 (2 queue pairs) to {QPN_BITS}, B of 1 (2 blocks of entries) to 10, and E = B + 3"
        );
    }
}

impl<const Q: usize, const B: usize, const E: usize, const F: usize, const D: usize> Logic
    for MessageTable<Q, B, E, F, D>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            cleared,
            asked,
            asked_settings,
            is_flush_step
        );
        dff_setup!(self, clock, row, lookup, fresh, arriving, max_wimm);
        dff_setup!(
            self,
            clock,
            hops,
            at,
            want,
            psn,
            left_fills,
            nops,
            is_unstarted
        );
        dff_setup!(
            self,
            clock,
            responds,
            response_held,
            completes,
            completion,
            crossed,
            tells
        );
        clock_reset!(self, prefetch, flush_turns);
        clock!(self, clock, rows, queues, started, search, cursor);
        let step = self.step.q.val();
        let asked = self.asked.q.val();
        let asked_settings = self.asked_settings.q.val();
        let settings = self.queues.read_data.val();
        let entry = self.prefetch.entry.val();
        let rest = self.prefetch.rest.val();
        let started = self.started.read_data.val();
        let row = self.row.q.val();
        let lookup = self.lookup.q.val();
        let slot = self.cursor.slot.val();
        let block = self.cursor.block.val();
        let at = self.at.q.val();
        let arriving = self.arriving.q.val();
        let is_flush_step = self.is_flush_step.q.val();
        let is_request = !is_flush_step;
        let is_next = is_request
            & ((asked.op == MessageOp::NextMessage) | (asked.op == MessageOp::TakeMessages));
        let is_take = is_request & (asked.op == MessageOp::TakeMessages);
        let is_lookup_by_slot = is_request & (asked.op == MessageOp::LookupBySlot);
        let is_fault = is_request & (asked.op == MessageOp::Fault);
        let is_complete = is_request & (asked.op == MessageOp::Complete);
        let is_lookup_by_psn = is_request & (asked.op == MessageOp::LookupByPsn);
        let is_configure = is_request & (asked.op == MessageOp::Configure);

        // accept: a flush step, or a request
        self.flush_turns.hold.next = self.completes.q.val();
        let flush_due = self.flush_turns.due.val();
        let idle = (step == Step::Idle) & !self.responds.q.val() & !self.prefetch.restarting.val();
        let flush_qp = self.flush_turns.qp.val();
        let mut request = self.request.record.val();
        request.qp = if flush_due { flush_qp } else { request.qp };
        let qp = if step == Step::Idle {
            request.qp
        } else {
            asked.qp
        };
        self.request.ready.next = idle & !flush_due;
        self.flush_turns.take.next = idle & flush_due;
        self.rows.read_address.next = qp.get_bits::<Q>(0);
        self.queues.read_address.next = qp.get_bits::<Q>(0);
        self.prefetch.look_qp.next = qp.get_bits::<Q>(0);
        if step == Step::Idle {
            self.asked.d.next = request;
            self.asked_settings.d.next = self.settings.val();
            self.is_flush_step.d.next = flush_due;
        }

        // look up
        let look = self.prefetch.look.val();
        let fetched = adopt(self.rows.read_data.val(), look);
        let evaluated = look_up(asked, is_flush_step, fetched, look, settings);
        let place = first_place(asked, is_flush_step, fetched);
        assert!(
            (step != Step::LookUp)
                | !is_next
                | !evaluated.continues
                | (evaluated.left <= MAX_PACKETS),
            "the next packet comes before the last message"
        );
        if step == Step::LookUp {
            self.row.d.next = fetched;
            self.lookup.d.next = evaluated;
            self.fresh.d.next = true;
            self.arriving.d.next = look.arriving;
            self.max_wimm.d.next = settings.max_wimm;
            self.hops.d.next = place.hops;
            self.want.d.next = if is_take { asked.count } else { bits::<6>(1) };
            self.psn.d.next = asked.psn;
            self.is_unstarted.d.next = false;
            self.nops.d.next = false;
            self.crossed.d.next = false;
        }

        // decide what needs no message
        let decision = decide(asked, row, lookup);
        let flushes = is_flush_step & row.flushed;
        let needs_message = is_next
            | ((is_lookup_by_slot | is_fault) & lookup.inside)
            | ((is_complete | is_lookup_by_psn) & lookup.any)
            | (flushes & (lookup.any | lookup.present));
        let fresh = self.fresh.q.val();
        let decides = ((step == Step::Wait) | (step == Step::Walk)) & fresh & !needs_message;
        // The place to begin at was guessed.
        let asks_elsewhere =
            (is_lookup_by_slot | is_fault) & lookup.inside & !is_in_last_block(asked.slot, row);
        let redirects = ((step == Step::Wait) | (step == Step::Walk))
            & fresh
            & ((is_next & lookup.continues) | asks_elsewhere);
        let corrected = corrected_place(is_next, asked.slot, row);
        let flush_again = row.flushed & (row.producer != row.next_slot);

        // follow links
        let followed = self.prefetch.followed.val();
        let asks_ready = self.prefetch.ask.ready.val();
        let walk_frees = (is_complete | is_flush_step) & lookup.any;
        let walk_waits = walk_frees & !asks_ready;
        // take
        let want = self.want.q.val();
        let psn = self.psn.q.val();
        let max_wimm = self.max_wimm.q.val();
        // It is the first message if at all, so what is wanted has not changed since `LookUp`.
        self.left_fills.d.next = are_enough(lookup.left, want);
        let left = Left {
            packets: lookup.left,
            fills: self.left_fills.q.val(),
        };
        let taken = take(asked, row, entry, at, left, want, max_wimm);
        let begins = is_next & taken.starts;
        let take_waits = taken.may_miss & !asks_ready;
        let next_slot = self.cursor.next_slot.val();
        let second_slot = self.cursor.second_slot.val();
        let crosses = self.cursor.crosses.val();
        let packets = if at.is_started {
            lookup.left
        } else {
            entry.packets
        };

        // complete
        let is_done = is_over(entry, started, asked.psn);
        let failed = has_failed(started);
        let completes = is_complete & !failed & is_done;
        let completion_free = !self.completes.q.val() | self.cqe.ready.val();
        let popped = pop(
            row,
            entry,
            at,
            is_flush_step,
            crosses,
            completion_free,
            asks_ready,
        );
        let pops = (flushes | completes) & popped.may;
        let status = status_of(row, slot, is_request);

        // search
        self.search.start.next = step == Step::LookUp;
        self.search.psn.next = asked.psn;
        self.search.slot.next = slot;
        self.search.block.next = block;
        self.search.waits.next = step == Step::Wait;
        self.search.outstanding.next = row.next_slot - slot;
        self.search.reads.next = step == Step::Access;
        self.search.first.next = started.first;
        self.search.is_over.next = is_done;
        self.search.searches.next = is_lookup_by_psn;

        // step
        self.row_after.next = row;
        self.ends.next = false;
        self.carries.next = false;
        self.completed.next = false;
        self.flush_turns.ends.next = false;
        self.flush_turns.queues.next = false;
        self.flush_turns.queued_qp.next = asked.qp;
        self.asks.next = false;
        self.ask_kind.next = AskKind::Rings;
        self.ask_slot.next = next_slot;
        self.queues.write_enable.next = false;
        self.started.write_enable.next = false;
        self.next_slot.next = slot;
        self.next_block.next = block;
        self.next_followed.next = false;
        self.streams.next = false;
        match step {
            Step::Clear => {
                self.cleared.d.next = self.cleared.q.val() + 1;
                if self.cleared.q.val().get_bits::<Q>(0).all()
                    & self.cleared.q.val().get_bits::<B>(0).all()
                {
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Idle => {
                if idle & (flush_due | self.request.valid.val()) {
                    self.step.d.next = Step::LookUp;
                }
                // If the prefetch is busy, it hears of it at the end of another operation, or when an entry is missed.
                self.asks.next = self.tells.q.val();
                self.ask_kind.next = AskKind::Takes;
                self.ask_slot.next = row.next_slot;
            }
            Step::LookUp => {
                self.next_slot.next = place.slot;
                self.next_block.next = place.block;
                self.step.d.next = if place.hops.any() {
                    Step::Walk
                } else {
                    Step::Wait
                };
            }
            Step::Walk => {
                if !decides & !walk_waits {
                    self.next_followed.next = true;
                    self.hops.d.next = self.hops.q.val() - 1;
                    if self.hops.q.val() == 1 {
                        self.step.d.next = Step::Wait;
                    }
                }
                self.asks.next = walk_frees & needs_message;
                self.ask_kind.next = AskKind::Frees;
                if walk_frees & asks_ready {
                    self.row_after.next = QueueRow {
                        first_block: followed,
                        first_passed: false,
                        ..row
                    };
                }
            }
            Step::Wait => {
                self.step.d.next = Step::Access;
                self.at.d.next = position_of(slot, row, arriving, is_next);
            }
            Step::Access => {
                // The next message, if the operation goes on with it. If it does not go on at all, it reads this message again.
                self.at.d.next = position_behind(at, second_slot, row, arriving);
                self.step.d.next = Step::Wait;
                self.started.write_enable.next = begins & !take_waits;
                if is_next {
                    self.asks.next = taken.misses;
                    self.ask_kind.next = AskKind::Misses;
                    self.ask_slot.next = if taken.misses_next { next_slot } else { slot };
                    if !take_waits {
                        if taken.starts {
                            self.row_after.next = after_start(row, entry, false, psn, slot, block);
                        } else {
                            self.row_after.next = QueueRow {
                                blocked: row.blocked | taken.blocks,
                                ..row
                            };
                        }
                        self.carries.next = taken.responds;
                        self.ends.next = taken.ends;
                        self.nops.d.next = self.nops.q.val() | taken.starts_nop;
                        self.want.d.next = want - taken.here;
                        self.psn.d.next = psn + packets;
                        self.streams.next = true;
                    }
                } else if flushes & !lookup.any {
                    // The entry becomes the oldest message, which completes.
                    self.row_after.next = after_start(row, entry, true, psn, slot, block);
                    self.lookup.d.next = Lookup {
                        any: true,
                        ..lookup
                    };
                    self.is_unstarted.d.next = true;
                    self.hops.d.next = bits(1);
                    self.next_block.next = if row.first_passed {
                        row.first_block
                    } else {
                        block
                    };
                    self.step.d.next = if row.first_passed {
                        Step::Walk
                    } else {
                        Step::Wait
                    };
                } else if is_lookup_by_psn & self.search.walks.val() {
                    if self.search.passes.val() {
                        self.next_slot.next = (slot | 7) + 1;
                        self.next_followed.next = true;
                        self.step.d.next = Step::Wait;
                    } else {
                        self.next_block.next = self.search.found_block.val();
                        self.step.d.next = Step::Bisect;
                    }
                } else if is_lookup_by_psn & self.search.halves.val() {
                    self.step.d.next = Step::Bisect;
                } else if flushes | completes {
                    self.asks.next = popped.tells;
                    self.ask_kind.next = if popped.frees {
                        AskKind::Frees
                    } else {
                        AskKind::Idles
                    };
                    if pops {
                        self.row_after.next =
                            after_completion(row, entry, crosses, popped.is_last, followed);
                        self.completed.next = popped.leaves;
                        self.ends.next = popped.is_last | is_flush_step;
                        self.streams.next = true;
                    }
                } else {
                    self.started.write_enable.next = is_fault;
                    self.row_after.next = QueueRow {
                        stopped: row.stopped | is_fault,
                        ..row
                    };
                    self.ends.next = true;
                }
            }
            Step::Bisect => {
                self.next_slot.next = self.search.middle.val();
                self.step.d.next = Step::Wait;
            }
        }
        if decides {
            let asks = is_request & (decision.found | is_configure);
            self.asks.next = asks;
            self.ask_kind.next = if is_configure {
                AskKind::Restarts
            } else {
                AskKind::Rings
            };
            self.step.d.next = step;
            if asks_ready | !asks {
                self.ends.next = true;
                self.queues.write_enable.next = is_configure;
                if is_flush_step {
                    self.row_after.next = row;
                } else {
                    self.row_after.next = decision.row;
                    self.flush_turns.queues.next = decision.queues;
                }
            }
        } else if (step == Step::Wait) | (step == Step::Walk) {
            self.fresh.d.next = false;
        }
        if redirects {
            self.next_slot.next = corrected.slot;
            self.next_block.next = corrected.block;
            self.next_followed.next = false;
            self.hops.d.next = corrected.hops;
            self.step.d.next = if corrected.hops.any() {
                Step::Walk
            } else {
                Step::Wait
            };
        }
        let streams = self.streams.val();
        if streams {
            self.step.d.next = Step::Access;
        }

        // read
        self.cursor.followed.next = followed;
        self.cursor.moves.next = step != Step::Idle;
        self.cursor.to_slot.next = self.next_slot.val();
        self.cursor.to_block.next = self.next_block.val();
        self.cursor.to_followed.next = self.next_followed.val();
        self.cursor.streams.next = streams;
        self.cursor.reads_ahead.next = (step == Step::Wait) & !redirects;
        self.prefetch.follow.next = self.cursor.follow.val();
        self.started.read_address.next = self.cursor.address.val();
        self.prefetch.read_address.next = self.cursor.address.val();

        // respond
        let ends = self.ends.val();
        // A read has a block at most, so there is nothing to tell before one is passed.
        let crosses_now = crosses & (step == Step::Access) & is_next;
        if crosses_now {
            self.crossed.d.next = true;
        }
        self.tells.d.next = (step == Step::Access) & is_next & (self.crossed.q.val() | crosses_now);
        let starting = start_of(entry, row, psn);
        let is_new = (is_next & !at.is_started) | self.is_unstarted.q.val();
        let described = if is_new { starting } else { started };
        self.responds.d.next = (ends | self.carries.val()) & is_request;
        self.response_held.d.next = MessageResponse {
            found: if decides {
                decision.found
            } else if is_next {
                taken.found
            } else if is_lookup_by_psn {
                !is_done
            } else {
                !is_complete | failed
            },
            waits: decides & decision.waits,
            follows: is_next & at.next_present,
            last: ends,
            packets_here: taken.here,
            nops: is_take & (self.nops.q.val() | taken.starts_nop),
            slot,
            status: started.status,
            message: message_of(entry, rest, described, slot),
        };
        self.response.valid.next = self.responds.q.val();
        self.response.record.next = self.response_held.q.val();
        if ends {
            self.step.d.next = Step::Idle;
            if is_flush_step {
                self.flush_turns.ends.next = true;
                self.flush_turns.queues.next = flushes & (flush_again | (row.outstanding > 1));
            }
        }

        // Whether a message is over comes late, behind two carry chains. So what follows it is chosen last.
        let after_pop = if !popped.may {
            Step::Wait
        } else if popped.is_last {
            Step::Idle
        } else {
            Step::Access
        };
        if is_complete & (step == Step::Access) {
            self.step.d.next = if completes { after_pop } else { Step::Idle };
        }

        // complete
        self.completes.d.next = self.completed.val() | !completion_free;
        if self.completed.val() {
            self.completion.d.next = completion_of(asked.qp, entry, described, slot, status);
        }
        self.cqe.valid.next = self.completes.q.val();
        self.cqe.record.next = self.completion.q.val();

        // write back
        let clear = step == Step::Clear;
        let written_qp = if clear {
            self.cleared.q.val().get_bits::<Q>(0)
        } else {
            asked.qp.get_bits::<Q>(0)
        };
        let after = self.row_after.val();
        let mut written_row = after;
        written_row.queued = if is_flush_step {
            self.flush_turns.queues.val()
        } else {
            after.queued
        };
        if step != Step::LookUp {
            self.row.d.next = self.row_after.val();
        }
        self.rows.write_enable.next = clear | ends;
        self.rows.write_address.next = written_qp;
        self.rows.write_data.next = if clear {
            QueueRow::default()
        } else {
            written_row
        };
        self.queues.write_address.next = written_qp;
        self.queues.write_data.next = asked_settings;
        let mut faulty = started;
        faulty.status = if failed { started.status } else { asked.status };
        self.started.write_address.next = self.cursor.here.val();
        self.started.write_data.next = if is_fault { faulty } else { starting };

        // fetch
        self.prefetch.clear.next = clear;
        self.prefetch.clear_index.next = self.cleared.q.val();
        self.prefetch.ask.valid.next = self.asks.val();
        self.prefetch.ask.record.next = Ask {
            kind: self.ask_kind.val(),
            qp: asked.qp,
            base: asked_settings.base,
            log2_entries: asked_settings.log2_entries,
            long_entries: asked_settings.long_entries,
            mtu_log2: asked_settings.mtu_log2,
            slot: self.ask_slot.val(),
            producer: asked.slot,
            block: row.first_block,
            chain: row.chain,
        };
        join!(
            self,
            prefetch.fetch => fetch,
            epoch => prefetch.epoch,
            prefetch.fetch_begun => fetch_begun,
            fetched => prefetch.fetched,
        );
        let pushed = self.pushed.record.val();
        let pushed_entry = Wqe::from_bits(pushed.line);
        let behind_pushed = pushed_entry.slot + 1;
        self.prefetch.pushed.valid.next =
            self.pushed.valid.val() & (behind_pushed == self.pushed_producer.val());
        self.prefetch.pushed.record.next = pushed;
        let wake = self.prefetch.wake.val();
        self.wake_valid.next = wake.valid;
        self.wake_qp.next = wake.qp;
        let arrived = self.prefetch.arrived.val();
        self.arrived_valid.next = arrived.valid;
        self.arrived_qp.next = arrived.qp;
        self.arrived_entries.next = arrived.entries;

        if self.reset.val() {
            self.step.d.next = Step::Clear;
            self.cleared.d.next = bits(0);
            self.responds.d.next = false;
            self.completes.d.next = false;
            self.tells.d.next = false;
        }
    }
}
