//! Executes an operation of the message table (reference: `Messages`).

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::ram::UltraRam;
use hdl_primitives::{FlowSrc, OfferSrc, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{Completion, MessageResponse};
use stellar_wire::hw::Qpn;

use crate::ask::ask_of;
use crate::completion::completion_of;
use crate::cursor::Cursor;
use crate::decide::{decide, decide_effect};
use crate::lookup::{adopt, look_up, needs_message, redirects};
use crate::message_outputs::MessageOutputs;
use crate::message_rows::MessageRows;
use crate::message_step::{access_effect, idle_effect, stay, Effect, Step};
use crate::operation::{operation_of, Accepted};
use crate::outstanding::{
    after_completion, after_start, has_failed, is_over, message_of, start_of,
};
use crate::pop::{pop, pop_effect, status_of, written_row};
use crate::psn_search::{bisect_effect, search_effect, PsnSearch};
use crate::records::{Ask, Block, Entry, Look, Lookup, Place, QueueRow, Reading, Rest, Started};
use crate::respond::{after_fault, response_of, slot_effect, with_decision};
use crate::seek::{first_place, look_up_effect, redirect_effect, walk_effect};
use crate::take::{take, take_effect};
use crate::taking::Taking;

/// Most packets of a message: 2^31 bytes, 256 each.
const MAX_PACKETS: u64 = 1 << 23;

/// Executes one operation at a time: evaluates its row, decides message by message, responds, and writes the row back. `E` is the width of the address of an entry. LUT levels: 8,
/// in `Access` (whether the next message starts, choice of its row).
#[derive(LogicBlock, Default)]
pub struct OperationFlow<const Q: usize, const B: usize, const E: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// No operation is in progress; the next one may begin.
    pub idle: Signal<Out, Bit>,
    pub may_begin: Signal<Out, Bit>,
    /// One cycle: `accepted` of the next cycle begins, and its row is read.
    pub begins: Signal<In, Bit>,
    pub accepted: Signal<In, Accepted>,
    /// One cycle: it was a flush step, and ends.
    pub flush_ends: Signal<Out, Bit>,
    /// One cycle: its queue pair needs a flush step.
    pub queues: Signal<Out, Bit>,

    /// Its queue pair, from the cycle on in which `begins` is high.
    pub qp: Signal<In, Qpn>,
    /// The state of queue pair, and of block, `clear_index` is cleared.
    pub clear: Signal<Out, Bit>,
    pub clear_index: Signal<Out, Qpn>,

    // Prefetch: see `WqePrefetch`.
    pub ask: OfferSrc<Ask>,
    pub look: Signal<In, Look>,
    pub address: Signal<Out, Bits<E>>,
    pub entry: Signal<In, Entry>,
    pub rest: Signal<In, Rest>,
    pub follow: Signal<Out, Block>,
    pub followed: Signal<In, Block>,

    pub response: FlowSrc<MessageResponse>,
    pub cqe: Src<Completion>,

    rows: MessageRows<Q, B>,
    /// What the start of a message added to its entry. The address is that of the entry.
    started: UltraRam<Started, E>,
    cursor: Cursor<E>,
    taking: Taking,
    search: PsnSearch,
    outputs: MessageOutputs,
    step: DFF<Step>,
    row: DFF<QueueRow>,
    lookup: DFF<Lookup>,
    /// The step before was `LookUp`, or the operation has done nothing since.
    fresh: DFF<Bit>,
    /// Links to follow before the message is reached.
    hops: DFF<Bits<8>>,
    /// Flush step: the message to complete had not started.
    is_unstarted: DFF<Bit>,
    /// What the step does, apart from what is chosen last.
    usual: Signal<Local, Effect>,
}

impl<const Q: usize, const B: usize, const E: usize> Logic for OperationFlow<Q, B, E> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, row, lookup, fresh, hops, is_unstarted);
        clock_reset!(self, rows, taking, outputs);
        clock!(self, clock, started, cursor, search);
        let settings = self.accepted.val().settings;
        let op = operation_of(self.accepted.val());
        let row = self.row.q.val();
        let lookup = self.lookup.q.val();
        let step = self.step.q.val();
        let idles = step == Step::Idle;
        let looks_up = step == Step::LookUp;
        let waits = step == Step::Wait;
        let reads = step == Step::Access;
        let slot = self.cursor.slot.val();
        let block = self.cursor.block.val();
        let next_slot = self.cursor.next_slot.val();
        let followed = self.followed.val();
        let asks_ready = self.ask.ready.val();
        self.idle.next = idles;
        self.may_begin.next = idles & !self.outputs.response.valid.val();

        // look up
        let look = self.look.val();
        let adopted = adopt(self.rows.row.val(), look);
        let evaluated = look_up(op, adopted, look, self.rows.settings.val());
        let first_place = first_place(op, adopted);
        assert!(
            !looks_up | !evaluated.continues | (evaluated.left <= MAX_PACKETS),
            "the next packet comes before the last message"
        );

        // read
        let entry = self.entry.val();
        let started = self.started.read_data.val();
        let message = Reading {
            slot,
            block,
            next_slot,
            crosses: self.cursor.crosses.val(),
            at: self.cursor.at.val(),
            entry,
            started,
            is_over: is_over(entry, started, op.request.psn),
            failed: has_failed(started),
        };

        // decide
        let is_first = (waits | (step == Step::Walk)) & self.fresh.q.val();
        let decides = is_first & !needs_message(lookup);
        let redirects = is_first & redirects(lookup);
        let decision = decide(op.request, row, lookup);
        let left = self.taking.left.val();
        let want = self.taking.want.val();
        let taken = take(op, row, message, lookup, left, want);
        let take_waits = taken.may_miss & !asks_ready;
        let takes = reads & op.is_next & !take_waits;
        let free = self.outputs.free.val();
        let popped = pop(op, lookup.any, row, message, free, asks_ready, reads);
        let psn = self.taking.psn.val();
        self.taking.start.next = looks_up;
        self.taking.packets_left.next = lookup.left;
        self.taking.reads.next = reads & op.is_next;
        self.taking.crosses.next = message.crosses;
        self.taking.takes.next = takes;
        self.taking.taken.next = taken;
        self.taking.op.next = op;
        self.search.start.next = looks_up;
        self.search.psn.next = op.request.psn;
        self.search.slot.next = slot;
        self.search.block.next = block;
        self.search.waits.next = waits;
        self.search.outstanding.next = row.next_slot - slot;
        self.search.reads.next = reads;
        self.search.first.next = started.first;
        self.search.is_over.next = message.is_over;
        self.search.searches.next = op.is_lookup_by_psn;

        // step
        let hops = self.hops.q.val();
        let here = Place { slot, block, hops };
        let stays = stay(step, row, here, next_slot);
        let idle = idle_effect(self.begins.val(), self.taking.tells.val(), row, stays);
        let walk_frees = (op.is_complete | op.is_flush_step) & lookup.any;
        let walk = walk_effect(lookup, walk_frees, asks_ready, followed, stays);
        let started_row = after_start(row, message, false, psn);
        let flushed_row = after_start(row, message, true, psn);
        let take = take_effect(row, message, taken, take_waits, started_row, stays);
        let pop = pop_effect(op, row, message, popped, flushed_row, stays);
        let search = search_effect(self.search.narrowed.val(), slot, stays);
        let by_slot = slot_effect(op.is_fault, row, stays);
        let access = access_effect(op, take, pop, search, by_slot);
        let bisect = bisect_effect(self.search.middle.val(), stays);
        self.usual.next = stays;
        match step {
            Step::Clear => {
                if self.rows.clears_last.val() {
                    self.usual.next.step = Step::Idle;
                }
            }
            Step::Idle => self.usual.next = idle,
            Step::LookUp => {}
            Step::Walk => self.usual.next = walk,
            Step::Wait => self.usual.next.step = Step::Access,
            Step::Access => self.usual.next = access,
            Step::Bisect => self.usual.next = bisect,
        }
        // The first step behind `LookUp`.
        let usual = self.usual.val();
        let redirected = redirect_effect(op, row, lookup, usual);
        let directed = if redirects { redirected } else { usual };
        let decided = decide_effect(op, row, decision, asks_ready, step, directed);
        let chosen = if decides { decided } else { directed };
        // The row has just been read, so this is chosen last, too.
        let looked_up = look_up_effect(first_place, chosen);
        let effect = if looks_up { looked_up } else { chosen };
        let completed_row = after_completion(row, message, popped.is_last, followed);
        let next_row = if popped.pops {
            completed_row
        } else {
            effect.row
        };
        self.step.d.next = effect.step;
        self.row.d.next = if looks_up { adopted } else { next_row };
        self.hops.d.next = effect.to.hops;
        if looks_up {
            self.lookup.d.next = evaluated;
            self.fresh.d.next = true;
            self.is_unstarted.d.next = false;
        } else if is_first & !decides {
            self.fresh.d.next = false;
        } else if reads & op.is_flush_step & !lookup.any {
            self.lookup.d.next.any = true;
            self.is_unstarted.d.next = true;
        }
        assert!(
            !redirects | (effect.to.hops.any() == (effect.step == Step::Walk)),
            "whether there are links to follow was not known a cycle before"
        );

        // read the next message
        self.cursor.moves.next = !idles;
        self.cursor.to_slot.next = effect.to.slot;
        self.cursor.to_block.next = effect.to.block;
        self.cursor.to_followed.next = effect.followed;
        self.cursor.streams.next = takes | popped.pops;
        self.cursor.waits.next = waits;
        self.cursor.redirects.next = redirects;
        self.cursor.reads.next = reads;
        self.cursor.row.next = row;
        self.cursor.arriving.next = lookup.arriving;
        self.cursor.may_start.next = op.is_next;
        self.started.read_address.next = self.cursor.address.val();
        join!(
            self,
            followed => cursor.followed,
            cursor.address => address,
            cursor.follow => follow,
        );

        // respond, complete
        let starting = start_of(entry, row, psn);
        let is_new = (op.is_next & !message.at.is_started) | self.is_unstarted.q.val();
        let described = if is_new { starting } else { started };
        let whole = message_of(entry, self.rest.val(), described, slot);
        let nops = op.is_take & self.taking.nops.val();
        let of_message = response_of(op, message, taken, whole);
        let response = with_decision(of_message, decides, decision, effect.ends, nops);
        let status = status_of(row, slot, op.is_flush_step);
        self.outputs.responds.next = (effect.ends | (takes & taken.responds)) & !op.is_flush_step;
        self.outputs.next_response.next = response;
        self.outputs.completes.next = popped.pops & popped.leaves;
        self.outputs.next_completion.next =
            completion_of(op.request.qp, entry, described, slot, status);
        join!(
            self,
            outputs.response => response,
            outputs.cqe => cqe,
        );

        // write back
        self.rows.written_qp.next = op.request.qp;
        self.rows.writes.next = effect.ends;
        self.rows.written.next = written_row(op, next_row, effect.queues);
        self.rows.configures.next = decides & asks_ready & op.is_configure;
        self.rows.configured.next = settings;
        let clear = step == Step::Clear;
        self.rows.clear.next = clear;
        self.clear.next = clear;
        join!(
            self,
            qp => rows.qp,
            rows.clear_index => clear_index,
        );
        self.flush_ends.next = effect.ends & op.is_flush_step;
        self.queues.next = effect.queues;
        self.started.write_enable.next = (takes & taken.starts) | (reads & op.is_fault);
        self.started.write_address.next = self.cursor.here.val();
        self.started.write_data.next = if op.is_fault {
            after_fault(message, op.request.status)
        } else {
            starting
        };

        // ask the prefetch
        self.ask.valid.next = effect.asks;
        self.ask.record.next = ask_of(effect, op.request, settings, row);
        if self.reset.val() {
            self.step.d.next = Step::Clear;
        }
    }
}
