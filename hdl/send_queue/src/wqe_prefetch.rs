//! Prefetch of send queue entries.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::ram::{BlockRam, RowRam, UltraRam};
use hdl_primitives::{BlockFifo, Delay, FlowSnk, Snk, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::wqe::REST_BITS;
use stellar_wire::hw::{Qpn, SqIndex};

use crate::block_pool::BlockPool;
use crate::entry::decode;
use crate::prefetch_state::{
    after_arrival, after_ask, after_drop, after_take, are_few_under_way, ends_run, is_near,
    is_near_behind, is_next_read, is_rest, lacks_burst, needs_block, next_entries, next_read,
    Ahead, PrefetchState, ALL_AHEAD,
};
use crate::records::{
    Arrived, Ask, AskKind, Block, BlockCount, Entry, Look, Rest, Wake, BLOCK_BITS,
};

/// What the block does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum PrefetchStep {
    /// Accepts a request of the message table, a visit, or the first entry of a read. Reads the row.
    Take,
    /// The row has been read: updates it.
    Act,
    /// Entries arrived behind a full block: their block is the one behind that.
    Follow,
    /// A doorbell, with an entry that it may have carried: stores the entry, if it may. Waits while those of a read are stored.
    Push,
    /// Doorbell, visit, or entries that were taken: starts a read, if it may.
    Read,
    /// Entries of 128 bytes arrived: waits until they are stored, and updates the row.
    Gather,
}

/// What the block works on.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Work {
    Ask,
    Visit,
    Arrival,
}

/// Blocks that return: the first and the last one of a chain, and how many there are.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Chain {
    first: Block,
    last: Block,
    count: BlockCount,
}

/// Cycles from a request that missed an entry, or from the arrival of an entry that was missed, to the wake-up of its queue pair.
pub const WAKE_CYCLES: usize = 5;

/// Reads the entries of 2^`Q` queue pairs into a pool of 2^`B` blocks of 8. `E` = `B` + 3.
///
/// **Reads.** A read has up to 8 entries of one block, or 4 of 128 bytes. A queue pair with posted entries that were not read waits in `visits`. A visit starts one read, and the
/// queue pair waits again while there is more. A doorbell is a visit at once, if its queue pair does not wait; so is what the message table takes, if moreover nobody else waits, or one read has all that is left. So queue pairs take turns, and several reads of
/// each may be under way. A queue pair whose read leaves it without a whole burst ahead is visited next, so that the first bursts are no short ones. Reads may be answered in any order, but those of a queue pair in order.
///
/// **Limit.** A queue pair reads ahead of what the message table has taken by [`OWN_AHEAD`](crate::prefetch_state::OWN_AHEAD) entries, and farther while those of all queue
/// pairs are fewer than [`ALL_AHEAD`]. A queue pair that was visited and may not read waits for no other visit, but for the next request of the message table. So entries are read about as fast as they are sent, and
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
    pub ask: Snk<Ask>,
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

    rows: RowRam<PrefetchState, Q>,
    looks: BlockRam<Look, Q>,
    /// The entries in the pool. The address is block, low bits of the slot.
    entries: UltraRam<Entry, E>,
    rests: UltraRam<Rest, E>,
    pool: BlockPool<B>,
    /// Queue pairs that wait for a visit, each at most once.
    visits: BlockFifo<Qpn, F, D>,
    fetches: SyncFifo<WqeFetch, 4, 5>,
    wakes: Delay<Wake, { WAKE_CYCLES - 2 }>,
    step: DFF<PrefetchStep>,
    work: DFF<Work>,
    /// It is a visit's turn.
    visit_turn: DFF<Bit>,
    /// The visit in progress is that of the queue pair that waits first. It leaves the queue a cycle later, so that the queue is not behind the choice.
    popped: DFF<Bit>,
    /// `again_qp` is visited before those that wait: it was visited, and lacks a burst.
    again: DFF<Bit>,
    again_qp: DFF<Qpn>,
    /// The visit in progress is one of these. It counts for nobody who waits.
    is_again: DFF<Bit>,
    /// Visits in vain since something changed.
    in_vain: DFF<Bits<D>>,
    /// Fewer than half of the blocks are free.
    scarce: DFF<Bit>,
    /// Entries of all queue pairs that were read and not taken, whether they are few, and how many more and fewer they become.
    ahead: DFF<Ahead>,
    few: DFF<Bit>,
    more_ahead: DFF<Ahead>,
    fewer_ahead: DFF<Ahead>,
    /// Pending request.
    asking_valid: DFF<Bit>,
    asking: DFF<Ask>,
    /// The request in progress.
    asked: DFF<Ask>,
    qp: DFF<Qpn>,
    /// The first line of a read, in `Act`.
    answer: DFF<WqeFetched>,
    /// The other lines of the read come, one in each cycle. They are stored, unless they are stale.
    storing: DFF<Bit>,
    stores: DFF<Bit>,
    /// The line that may enter the pool, from the cycle after `Act` or `Push` on, and in the next cycle its place.
    entering: DFF<WqeFetched>,
    enters: DFF<Bit>,
    /// It is the second line of its entry. Entries have two.
    entering_rest: DFF<Bit>,
    entering_long: DFF<Bit>,
    entering_slot: DFF<SqIndex>,
    entering_mtu_log2: DFF<Bits<4>>,
    entering_block: DFF<Block>,
    /// For a request the last pushed entry, valid if `offers`. A register of its own, because a request comes late in a cycle.
    offered: DFF<WqeFetched>,
    offers: DFF<Bit>,
    offer_valid: DFF<Bit>,
    offer: DFF<WqeFetched>,
    row: DFF<PrefetchState>,
    /// The queue pair of `row` has fewer entries ahead than it may have on its own.
    near: DFF<Bit>,
    /// The step before took a block. The pool is used again two cycles later.
    took: DFF<Bit>,
    /// The request of the cycle before returned blocks.
    gave: DFF<Bit>,
    given: DFF<Chain>,
    written_row: Signal<Local, PrefetchState>,
    writes: Signal<Local, Bit>,
}

impl<const Q: usize, const B: usize, const E: usize, const F: usize, const D: usize> Logic
    for WqePrefetch<Q, B, E, F, D>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, work, visit_turn, in_vain, scarce);
        dff_setup!(
            self,
            clock,
            ahead,
            few,
            more_ahead,
            fewer_ahead,
            popped,
            again,
            again_qp,
            is_again
        );
        dff_setup!(
            self,
            clock,
            asking_valid,
            asking,
            asked,
            qp,
            answer,
            entering,
            enters,
            entering_rest,
            entering_long,
            entering_slot,
            entering_mtu_log2,
            entering_block
        );
        dff_setup!(
            self,
            clock,
            offered,
            offers,
            offer_valid,
            offer,
            row,
            near,
            took,
            gave,
            given,
            storing,
            stores
        );
        clock_reset!(self, pool, visits, fetches);
        clock!(self, clock, rows, looks, entries, rests, wakes);
        let step = self.step.q.val();
        let takes = step == PrefetchStep::Take;
        let acts = step == PrefetchStep::Act;
        let follows = step == PrefetchStep::Follow;
        let storing = self.storing.q.val();
        let pushing = (step == PrefetchStep::Push) & !storing;
        let reads = step == PrefetchStep::Read;
        let gathered = (step == PrefetchStep::Gather) & !storing;
        let work = self.work.q.val();
        let asked = self.asked.q.val();
        let answer = self.answer.q.val();
        let offered = self.offered.q.val();

        // accept
        let held = self.asking_valid.q.val();
        let asks = self.ask.valid.val();
        let asking = if held {
            self.asking.q.val()
        } else {
            self.ask.record.val()
        };
        let waiting = self.visits.count.val();
        let again = self.again.q.val();
        let others_due = self.visits.out.valid.val() & (self.in_vain.q.val() < waiting);
        let visit_due =
            (again | others_due) & self.fetches.in_.ready.val() & self.visit_turn.q.val();
        let fetched = self.fetched.record.val();
        let fetched_due = self.fetched.valid.val() & !storing;
        // A request comes late in a cycle. One that comes when something else is due waits.
        let takes_ask = held | (asks & !visit_due & !fetched_due);
        let visits = takes & !held & visit_due;
        self.ask.ready.next = !held;
        let asked_row = self.rows.read_data.val();
        let is_arrival = work == Work::Arrival;
        let is_stale = asked_row.drops;
        let crosses = is_arrival & !is_stale & asked_row.filled;
        self.fetched.ready.next = (takes & !held & !visit_due) | storing;
        assert!(
            !storing | self.fetched.valid.val(),
            "a gap between the entries of a read"
        );
        assert!(
            !acts | are_few_under_way(asked_row),
            "a queue pair reads too far ahead"
        );
        self.popped.d.next = visits & !again;
        self.visits.out.ready.next = self.popped.q.val();
        self.restarting.next = (held & (self.asking.q.val().kind == AskKind::Restarts))
            | (acts & (work == Work::Ask) & (asked.kind == AskKind::Restarts));
        if !held {
            self.asking.d.next = self.ask.record.val();
        }
        self.asking_valid.d.next = (held & !takes) | (asks & !held & !(takes & takes_ask));
        let qp = if !takes {
            self.qp.q.val()
        } else if takes_ask {
            asking.qp
        } else if visit_due & again {
            self.again_qp.q.val()
        } else if visit_due {
            self.visits.out.data.val()
        } else {
            fetched.qp
        };
        let own_qp = qp.get_bits::<Q>(0);
        self.qp.d.next = qp;
        self.rows.read_address.next = own_qp;
        if takes {
            self.asked.d.next = asking;
            self.offered.d.next = self.offer.q.val();
            self.offers.d.next = self.offer_valid.q.val();
            self.visit_turn.d.next = !visits;
            self.is_again.d.next = again;
            self.work.d.next = if takes_ask {
                Work::Ask
            } else if visit_due {
                Work::Visit
            } else {
                Work::Arrival
            };
            if held | asks | visit_due | fetched_due {
                self.step.d.next = PrefetchStep::Act;
            }
            self.answer.d.next = fetched;
        }

        // who may take a block
        let known = self.row.q.val();
        let free = self.pool.free.val();
        self.scarce.d.next = !free.get_bit(B) & !free.get_bit(B - 1);
        let scarce = self.scarce.q.val();
        let spare = free.any();
        let nobody_waits = !waiting.any() & !again;

        // update
        let is_ask = work == Work::Ask;
        let effect = after_ask(asked_row, asked);
        let rings = is_ask & (asked.kind == AskKind::Rings);
        let may_push = acts & rings & self.offers.q.val() & (offered.qp == asked.qp);
        let push_needs_block = needs_block(known);
        let push_may = !push_needs_block | !scarce | (!known.owned.any() & spare & nobody_waits);
        let pushes = pushing & is_next_read(known, asked, offered) & push_may;
        let push_takes = pushes & push_needs_block;
        let is_last_posted = (known.producer - known.reading) == 1;
        let head = self.pool.spare.val();
        let base = if push_needs_block {
            after_take(known, head)
        } else {
            known
        };
        // The first line has a place.
        let lands = (acts & is_arrival & !is_stale & !asked_row.filled) | follows;
        let arrives = (lands & !asked_row.long_entries) | gathered;
        let lines = bit_cast::<4, 3>(answer.behind) + 1;
        let answered = if step == PrefetchStep::Gather {
            lines >> 1
        } else {
            lines
        };
        let mut pushed = after_arrival(base, base.last, bits::<4>(1));
        pushed.reading = known.reading + 1;
        pushed.missed = false;
        let block = if follows {
            self.pool.followed_arriving.val()
        } else if step == PrefetchStep::Gather {
            self.entering_block.q.val()
        } else if pushing {
            base.last
        } else {
            asked_row.filling
        };
        let came = after_arrival(asked_row, block, answered);
        let mut visited = asked_row;
        visited.queued = false;
        // Entries that cross into another block change the row in `Follow`.
        let acted = match work {
            Work::Ask => effect.row,
            Work::Visit => visited,
            Work::Arrival => {
                if is_stale {
                    after_drop(asked_row, lines)
                } else {
                    came
                }
            }
        };
        self.pool.follow_arriving.next = asked_row.filling;
        if acts {
            self.near.d.next = is_near(asked_row, is_ask, asked);
        } else if pushes {
            self.near.d.next = is_near_behind(known);
        }

        // write the entry, a cycle later: who sees it in the row has not read it by then
        self.entering.d.next = if storing {
            fetched
        } else if is_ask {
            offered
        } else {
            answer
        };
        self.enters.d.next = lands | pushes | (storing & self.stores.q.val());
        let ends_entry = !self.entering_long.q.val() | self.entering_rest.q.val();
        if storing {
            if ends_entry {
                self.entering_slot.d.next = self.entering_slot.q.val() + 1;
            }
            self.entering_rest.d.next = !ends_entry;
            self.storing.d.next = fetched.behind.any();
        } else {
            self.entering_rest.d.next = false;
            self.entering_long.d.next = if is_ask {
                known.long_entries
            } else {
                asked_row.long_entries
            };
            self.entering_block.d.next = block;
            self.entering_slot.d.next = if is_ask {
                known.arriving
            } else {
                asked_row.arriving
            };
            self.entering_mtu_log2.d.next = if is_ask {
                known.mtu_log2
            } else {
                asked_row.mtu_log2
            };
            self.storing.d.next = ((acts & is_arrival & !crosses) | follows) & answer.behind.any();
            self.stores.d.next = lands;
        }
        let slot = self.entering_slot.q.val();
        let entering = self.entering.q.val();
        let place = (bit_cast::<E, 10>(self.entering_block.q.val()) << 3)
            | bit_cast::<E, 3>(slot.get_bits::<3>(0));
        self.entries.write_enable.next = self.enters.q.val() & !self.entering_rest.q.val();
        self.entries.write_address.next = place;
        self.entries.write_data.next = decode(
            entering,
            slot,
            self.entering_mtu_log2.q.val(),
            self.entering_long.q.val(),
        );
        self.rests.write_enable.next = self.enters.q.val() & self.entering_rest.q.val();
        self.rests.write_address.next = place;
        self.rests.write_data.next = entering.line.get_bits::<REST_BITS>(0);
        self.arrived.next = Arrived {
            valid: arrives | pushes,
            qp,
            entries: if is_ask { bits::<4>(1) } else { answered },
        };

        // push
        if self.pushed.valid.val() {
            self.offer.d.next = self.pushed.record.val();
        }
        let offer_is_over = acts
            & (rings | (is_ask & (asked.kind == AskKind::Restarts)))
            & (self.offer.q.val().qp == asked.qp);
        self.offer_valid.d.next =
            self.pushed.valid.val() | (self.offer_valid.q.val() & !offer_is_over);

        // read
        let read_entries = next_entries(known);
        let read = next_read(known, qp, read_entries);
        let any_left = known.producer != known.reading;
        let near = self.few.q.val() | self.near.q.val();
        let needs = needs_block(known);
        let is_visit = work == Work::Visit;
        let poor = !known.owned.any() & spare & (is_visit | nobody_waits);
        let available = !needs | ((!scarce | poor) & !self.took.q.val());
        // A doorbell reads before those that wait, so that each queue pair has something to send early. Who has sent waits behind them.
        let at_once = nobody_waits | is_rest(known) | (asked.kind == AskKind::Rings);
        let begins = reads
            & any_left
            & near
            & available
            & (is_visit | (!known.queued & at_once))
            & self.fetches.in_.ready.val();
        let mut read_row = if needs {
            after_take(known, head)
        } else {
            known
        };
        read_row.reading = known.reading + bit_cast::<16, 4>(read_entries);
        let asks_more = any_left & (near | !is_visit);
        let more = asks_more & !(begins & is_rest(known));
        let mut after_read = if begins { read_row } else { known };
        after_read.queued = known.queued | more;
        let again_follows = lacks_burst(known) & !again;
        let goes_on = begins & !is_rest(known) & again_follows;
        let queues =
            reads & asks_more & !known.queued & !(begins & (is_rest(known) | again_follows));
        if goes_on {
            self.again.d.next = true;
            self.again_qp.d.next = qp;
        } else if visits {
            self.again.d.next = false;
        }
        self.fetch_begun.next = begins;
        self.fetches.in_.valid.next = begins;
        self.fetches.in_.data.next = WqeFetch {
            epoch: self.epoch.val(),
            ..read
        };
        self.visits.in_.valid.next = queues;
        self.visits.in_.data.next = qp;
        assert!(
            !queues | self.visits.in_.ready.val(),
            "a queue pair waits for more than one visit"
        );
        join!(self, fetches.out => fetch);
        let gives = acts & is_ask & effect.gives;
        let in_vain = reads & is_visit & !self.is_again.q.val() & !begins & more;
        self.gave.d.next = gives;
        if acts {
            self.given.d.next = Chain {
                first: effect.first,
                last: effect.last,
                count: effect.count,
            };
        }
        let gave = self.gave.q.val();
        if gave | begins | (queues & !is_visit) {
            self.in_vain.d.next = bits(0);
        } else if in_vain {
            self.in_vain.d.next = self.in_vain.q.val() + 1;
        }

        // blocks
        self.pool.take.next = push_takes | (begins & needs);
        self.pool.append.next = known.owned.any();
        self.pool.append_to.next = known.last;
        let given = self.given.q.val();
        self.pool.give.next = gave;
        self.pool.give_first.next = given.first;
        self.pool.give_last.next = given.last;
        self.pool.give_count.next = given.count;
        join!(self, follow => pool.follow, pool.followed => followed);

        // write back
        self.written_row.next = acted;
        let waits = asked_row.filled | asked_row.long_entries;
        self.writes.next = (acts & (!is_arrival | is_stale | !waits))
            | (follows & !asked_row.long_entries)
            | gathered;
        let gathers = lands & asked_row.long_entries;
        match step {
            PrefetchStep::Take => {}
            PrefetchStep::Act => {
                // Who returns blocks reads nothing.
                self.took.d.next = false;
                self.row.d.next = if is_ask { effect.row } else { visited };
                self.step.d.next = if crosses {
                    PrefetchStep::Follow
                } else if gathers {
                    PrefetchStep::Gather
                } else if may_push {
                    PrefetchStep::Push
                } else if (is_ask & effect.may_read) | (work == Work::Visit) {
                    PrefetchStep::Read
                } else {
                    PrefetchStep::Take
                };
            }
            PrefetchStep::Follow => {
                self.step.d.next = if gathers {
                    PrefetchStep::Gather
                } else {
                    PrefetchStep::Take
                };
            }
            PrefetchStep::Gather => {
                if gathered {
                    self.step.d.next = PrefetchStep::Take;
                }
            }
            PrefetchStep::Push => {
                self.took.d.next = push_takes;
                if pushes {
                    self.row.d.next = pushed;
                }
                self.written_row.next = pushed;
                self.writes.next = pushes;
                self.step.d.next = if storing {
                    PrefetchStep::Push
                } else if pushes & is_last_posted {
                    PrefetchStep::Take
                } else {
                    PrefetchStep::Read
                };
            }
            PrefetchStep::Read => {
                self.step.d.next = PrefetchStep::Take;
                self.written_row.next = after_read;
                self.writes.next = true;
            }
        }
        // what is ahead
        self.more_ahead.d.next = if begins {
            bit_cast::<14, 4>(read_entries)
        } else if pushes {
            bits::<14>(1)
        } else {
            bits::<14>(0)
        };
        self.fewer_ahead.d.next = if acts & is_ask {
            effect.fewer
        } else {
            bits::<14>(0)
        };
        let ahead = self.ahead.q.val() + self.more_ahead.q.val() - self.fewer_ahead.q.val();
        self.ahead.d.next = ahead;
        self.few.d.next = self.ahead.q.val() < ALL_AHEAD;

        let clear = self.clear.val();
        let clear_index = self.clear_index.val();
        let written_qp = if clear {
            clear_index.get_bits::<Q>(0)
        } else {
            own_qp
        };
        let written = if clear {
            PrefetchState::default()
        } else {
            self.written_row.val()
        };
        self.rows.write_enable.next = clear | self.writes.val();
        self.rows.write_address.next = written_qp;
        self.rows.write_data.next = written;
        self.looks.write_enable.next = clear | self.writes.val();
        self.looks.write_address.next = written_qp;
        self.looks.write_data.next = Look {
            arriving: written.arriving,
            first: written.first,
            chain: written.chain,
        };
        self.pool.clear.next = clear;
        self.pool.clear_block.next = clear_index.get_bits::<BLOCK_BITS>(0);

        // look up
        self.looks.read_address.next = self.look_qp.val();
        self.look.next = self.looks.read_data.val();
        self.entries.read_address.next = self.read_address.val();
        self.entry.next = self.entries.read_data.val();
        self.rests.read_address.next = self.read_address.val();
        self.rest.next = self.rests.read_data.val();

        // wake up
        self.wakes.data.next = Wake {
            valid: (arrives & asked_row.missed & ends_run(asked_row, answered))
                | (pushes & known.missed)
                | (acts & is_ask & effect.wakes),
            qp,
        };
        self.wake.next = self.wakes.delayed.val();

        if self.reset.val() {
            self.step.d.next = PrefetchStep::Take;
            self.storing.d.next = false;
            self.enters.d.next = false;
            self.gave.d.next = false;
            self.asking_valid.d.next = false;
            self.offer_valid.d.next = false;
            self.again.d.next = false;
            self.popped.d.next = false;
            self.in_vain.d.next = bits(0);
            self.ahead.d.next = bits(0);
            self.more_ahead.d.next = bits(0);
            self.fewer_ahead.d.next = bits(0);
        }
    }
}
