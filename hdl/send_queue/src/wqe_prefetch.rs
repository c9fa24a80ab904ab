//! Prefetch of send queue entries.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{Delay, FlowSnk, OfferSnk, Snk, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::Qpn;

use crate::ahead_count::AheadCount;
use crate::block_pool::BlockPool;
use crate::entry_store::{first_line, EntryStore};
use crate::next_read::next_read;
use crate::prefetch_accept::PrefetchAccept;
use crate::prefetch_ask::{after_ask, fewer_ahead, is_near, is_near_behind, Chain};
use crate::prefetch_rows::PrefetchRows;
use crate::prefetch_state::{
    after_arrival, after_visit, are_few_under_way, ends_run, PrefetchState,
};
use crate::prefetch_step::{after_work, arrival_of, next_step, Endings, PrefetchStep, Work};
use crate::pushed_entry::PushedEntry;
use crate::read_choice::{choose_push, choose_read, more_ahead, turn_of, Chance};
use crate::records::{Arrived, Ask, AskKind, Block, Entry, Look, Rest, Wake, BLOCK_BITS};
use crate::visit_queue::VisitQueue;

/// Cycles from a request that missed an entry, or from the arrival of an entry that was missed, to the wake-up of its queue pair.
pub const WAKE_CYCLES: usize = 5;

/// Reads the entries of 2^`Q` queue pairs into a pool of 2^`B` blocks of 8. `E` = `B` + 3.
///
/// **Reads.** A read has up to 8 entries of one block, or 4 of 128 bytes. A queue pair with posted entries that were not read waits in `visits`. A visit starts one read, and the
/// queue pair waits again while there is more. A doorbell is a visit at once, if its queue pair does not wait; so is what the message table takes, if moreover nobody else waits, or one read has all that is left. So queue pairs take turns, and several reads of
/// each may be under way. A queue pair whose read leaves it without a whole burst ahead is visited next, so that the first bursts are no short ones. Reads may be answered in any order, but those of a queue pair in order.
///
/// **Limit.** A queue pair reads ahead of what the message table has taken by [`OWN_AHEAD`](crate::prefetch_state::OWN_AHEAD) entries, and farther while those of all queue
/// pairs are fewer than [`ALL_AHEAD`](crate::prefetch_state::ALL_AHEAD). A queue pair that was visited and may not read waits for no other visit, but for the next request of the message table. So entries are read about as fast as they are sent, and
/// leave the link to payload.
///
/// **Share.** While half of the blocks are free, anybody may take one. Otherwise only a queue pair without a block may take one, when it is visited, or at a
/// doorbell while nobody waits. Visits stop when all that wait were visited in vain, until a block returns. Blocks return when messages complete, so every
/// queue pair that waits gets one.
///
/// **Push.** An entry that a doorbell carried is stored as if it had been read, if it is the next entry to read, no read of its queue pair is outstanding, and
/// there is a block for it.
///
/// **Arrival.** The row counts all entries of a read when the first one has come. The others are stored one in a cycle while the block does something else, always before somebody who saw them in the row can read them: a queue
/// pair's entries are read in order, at most one in a cycle. Entries of 128 bytes have two lines, so they are stored one in two cycles; the row counts them when all are stored.
///
/// A read that arrives takes 2 cycles, one more if it begins a block that is not the first of its chain, and one more for each line with entries of 128 bytes; the first entry of the next one is accepted 2 or 3 cycles after its first entry, and behind its last one. A visit takes 3 cycles, requests 3,
/// but those that return blocks 2, and a doorbell with a pushed entry 1 more if another entry is to be read, and up to 7 more while entries are stored. A request that waits has priority; visits and reads that arrive take turns. A read whose first entry is accepted in cycle n is visible from cycle n + 2 on, or n + 3.
///
/// What the row decides comes late in `Act`, behind its memory. So each field of the next row is chosen by the work in progress, and then only between what differs; and
/// a push, of which everything depends on the row, has a step of its own. LUT levels: 8.
#[derive(LogicBlock, Default)]
pub struct WqePrefetch<
    const Q: usize,
    const B: usize,
    const E: usize,
    const F: usize = 10,
    const D: usize = 11,
> {
    pub clock: Signal<In, Clock>,
    /// Discards all reads that were not issued.
    pub reset: Signal<In, Bit>,

    /// Resets the state of queue pair and block `clear_index`. No entry may arrive in this cycle.
    pub clear: Signal<In, Bit>,
    pub clear_index: Signal<In, Qpn>,
    pub ask: OfferSnk<Ask>,
    /// A restart was accepted, and `look` may still show the entries of the old ring.
    pub restarting: Signal<Out, Bit>,
    pub look_qp: Signal<In, Bits<Q>>,
    /// Entries of the queue pair that was addressed in the previous cycle.
    pub look: Signal<Out, Look>,
    /// Entry that was addressed two cycles before.
    pub read_address: Signal<In, Bits<E>>,
    pub entry: Signal<Out, Entry>,
    pub rest: Signal<Out, Rest>,
    /// The block behind the one of the previous cycle.
    pub follow: Signal<In, Block>,
    pub followed: Signal<Out, Block>,

    pub fetch: Src<WqeFetch>,
    /// Epoch of reads that begin in this cycle.
    pub epoch: Signal<In, Bit>,
    /// One cycle: a read begins. Its address is fixed, and it waits to leave.
    pub fetch_begun: Signal<Out, Bit>,
    /// One response for each line of a read, in order. When the first one is accepted, the others must come without a gap.
    pub fetched: Snk<WqeFetched>,

    /// An entry that a doorbell carried. The next doorbell of its queue pair stores it, or discards it.
    pub pushed: FlowSnk<WqeFetched>,

    /// High for one cycle when entries become visible.
    pub arrived: Signal<Out, Arrived>,
    /// High for one cycle when an entry that was missed is visible, and the last one of those under way or of a burst, or when it will not come because of a restart.
    pub wake: Signal<Out, Wake>,

    accept: PrefetchAccept,
    rows: PrefetchRows<Q>,
    entries: EntryStore<E>,
    pool: BlockPool<B>,
    visits: VisitQueue<F, D>,
    ahead: AheadCount,
    pushed_entry: PushedEntry,
    fetches: SyncFifo<WqeFetch, 4, 5>,
    wakes: Delay<Wake, { WAKE_CYCLES - 2 }>,
    step: DFF<PrefetchStep>,
    /// Fewer than half of the blocks are free.
    scarce: DFF<Bit>,
    /// The row behind `Act`.
    row: DFF<PrefetchState>,
    /// The queue pair of `row` has fewer entries ahead than it may have on its own.
    near: DFF<Bit>,
    /// The step before took a block. The pool is used again two cycles later.
    took: DFF<Bit>,
    /// The request of the cycle before returned blocks.
    gave: DFF<Bit>,
    given: DFF<Chain>,
}

impl<const Q: usize, const B: usize, const E: usize, const F: usize, const D: usize> Logic
    for WqePrefetch<Q, B, E, F, D>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, scarce, row, near, took, gave, given);
        clock_reset!(self, accept, entries, pool, visits);
        clock_reset!(self, ahead, pushed_entry, fetches);
        clock!(self, clock, rows, wakes);
        let step = self.step.q.val();
        let takes = step == PrefetchStep::Take;
        let acts = step == PrefetchStep::Act;
        let storing = self.entries.others_come.val();
        let pushing = (step == PrefetchStep::Push) & !storing;
        let reads = step == PrefetchStep::Read;
        let qp = self.accept.qp.val();
        let work = self.accept.work.val();
        let is_ask = work == Work::Ask;
        let is_visit = work == Work::Visit;
        let asked = self.accept.asked.val();
        let answer = self.accept.answer.val();
        let offered = self.pushed_entry.offered.val();

        // accept
        self.accept.step.next = step;
        self.accept.visit_due.next = self.visits.due.val() & self.fetches.in_.ready.val();
        self.accept.storing.next = storing;
        self.visits.takes.next = takes;
        self.pushed_entry.takes.next = takes;
        self.rows.qp.next = qp;
        join!(
            self,
            ask => accept.ask,
            accept.restarting => restarting,
            visits.qp => accept.visit_qp,
            accept.takes_visit => visits.takes_visit,
            fetched => accept.fetched,
        );

        // who may take a block
        let known = self.row.q.val();
        let free = self.pool.free.val();
        self.scarce.d.next = !free.get_bit(B) & !free.get_bit(B - 1);
        let chance = Chance {
            now: reads,
            is_visit,
            rings: asked.kind == AskKind::Rings,
            near: self.ahead.few.val() | self.near.q.val(),
            nobody_waits: self.visits.nobody_waits.val(),
            nobody_again: self.visits.nobody_again.val(),
            room: self.fetches.in_.ready.val(),
            spare: free.any(),
            scarce: self.scarce.q.val(),
            took: self.took.q.val(),
            head: self.pool.spare.val(),
        };

        // update
        let asked_row = self.rows.row.val();
        assert!(
            !acts | are_few_under_way(asked_row),
            "a queue pair reads too far ahead"
        );
        let arrival = arrival_of(step, work, asked_row, answer.behind, storing);
        let effect = after_ask(asked_row, asked);
        let rings = is_ask & (asked.kind == AskKind::Rings);
        let may_push = acts & rings & self.pushed_entry.offers.val() & (offered.qp == asked.qp);
        let push = choose_push(known, asked, offered, chance);
        let pushes = pushing & push.may;
        let push_takes = pushes & push.takes_block;
        let block = if step == PrefetchStep::Follow {
            self.pool.followed_arriving.val()
        } else if step == PrefetchStep::Gather {
            self.entries.block.val()
        } else if pushing {
            push.row.last
        } else {
            asked_row.filling
        };
        let came = after_arrival(asked_row, block, arrival.entries);
        let visited = after_visit(asked_row);
        self.pool.follow_arriving.next = asked_row.filling;
        self.pushed_entry.ends.next = acts & (rings | (is_ask & (asked.kind == AskKind::Restarts)));
        self.pushed_entry.qp.next = asked.qp;

        // store
        let line = if is_ask { offered } else { answer };
        let stored = if is_ask { known } else { asked_row };
        self.entries.first.valid.next = arrival.lands | pushes;
        self.entries.first.record.next = first_line(line, block, stored);
        self.entries.begins.next = arrival.others_follow;
        self.entries.other.next = self.fetched.record.val();
        self.arrived.next = Arrived {
            valid: arrival.arrives | pushes,
            qp,
            entries: if is_ask {
                bits::<4>(1)
            } else {
                arrival.entries
            },
        };

        // read
        let choice = choose_read(known, chance);
        self.fetch_begun.next = choice.begins;
        self.fetches.in_.valid.next = choice.begins;
        self.fetches.in_.data.next = next_read(known, qp, choice.entries, self.epoch.val());
        let gave = self.gave.q.val();
        self.visits.add.valid.next = choice.queues;
        self.visits.add.record.next = qp;
        self.visits.turn.next = turn_of(qp, choice, is_visit, gave);
        self.ahead.more.next = more_ahead(choice, pushes);
        self.ahead.fewer.next = fewer_ahead(acts & is_ask, effect);

        // blocks
        self.gave.d.next = acts & is_ask & effect.gives;
        if acts {
            self.given.d.next = effect.chain;
        }
        self.pool.take.next = push_takes | choice.takes_block;
        self.pool.append.next = known.owned.any();
        self.pool.append_to.next = known.last;
        let given = self.given.q.val();
        self.pool.give.next = gave;
        self.pool.give_first.next = given.first;
        self.pool.give_last.next = given.last;
        self.pool.give_count.next = given.count;

        // step, and write back
        if acts {
            // Who returns blocks reads nothing.
            self.took.d.next = false;
            self.near.d.next = is_near(asked_row, is_ask, asked);
            self.row.d.next = if is_ask { effect.row } else { visited };
        } else if step == PrefetchStep::Push {
            self.took.d.next = push_takes;
            if pushes {
                self.near.d.next = is_near_behind(known);
                self.row.d.next = push.row;
            }
        }
        let endings = Endings {
            accepts: self.accept.accepts.val(),
            may_push,
            may_read: (is_ask & effect.may_read) | is_visit,
            storing,
            pushes_last: pushes & push.is_last,
        };
        self.step.d.next = next_step(step, arrival, endings);
        let mut written = match step {
            PrefetchStep::Push => push.row,
            PrefetchStep::Read => choice.row,
            _ => after_work(work, asked_row, effect.row, came, arrival.lines),
        };
        let ends = ends_run(asked_row, arrival.entries);
        let counts = (work == Work::Arrival) & !asked_row.drops;
        written.missed = written.missed & !(counts & ends);
        self.rows.written.next = written;
        self.rows.writes.next = (acts & (is_ask | is_visit)) | arrival.writes | pushes | reads;
        self.rows.clear.next = self.clear.val();
        self.rows.clear_qp.next = self.clear_index.val();
        self.pool.clear.next = self.clear.val();
        self.pool.clear_block.next = self.clear_index.val().get_bits::<BLOCK_BITS>(0);

        // wake up
        self.wakes.data.next = Wake {
            valid: (arrival.arrives & asked_row.missed & ends)
                | (pushes & known.missed)
                | (acts & is_ask & effect.wakes),
            qp,
        };
        self.wake.next = self.wakes.delayed.val();

        join!(
            self,
            look_qp => rows.look_qp,
            rows.look => look,
            read_address => entries.read_address,
            entries.entry => entry,
            entries.rest => rest,
            follow => pool.follow,
            pool.followed => followed,
            pushed => pushed_entry.pushed,
            fetches.out => fetch,
        );

        if self.reset.val() {
            self.step.d.next = PrefetchStep::Take;
            self.gave.d.next = false;
        }
    }
}
