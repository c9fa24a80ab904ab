//! Prefetch of send queue entries.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::ram::{BlockRam, LutRam, UltraRam};
use hdl_primitives::{BlockFifo, Delay, FlowSnk, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::Qpn;

use crate::entry::decode;
use crate::prefetch_state::{
    after_arrival, after_dequeue, after_doorbell, after_restart, is_next_read, is_pushed,
    next_read, PrefetchState, BUFFERED_LOG2,
};
use crate::records::{Ask, Entry, Wake};

/// What the block does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum PrefetchStep {
    /// Accepts a request of the message table, or else an entry that arrived. Reads the row.
    Take,
    /// The row has been read: updates it.
    Act,
    /// Delivers a buffered entry, and decides whether to start a read.
    Read,
}

/// Holds the next entry and up to [`BUFFERED`](crate::prefetch_state::BUFFERED) entries after it, for 2^`Q` queue pairs. `E` = `Q` + 4.
///
/// One read of up to [`MAX_READ_ENTRIES`](crate::prefetch_state::MAX_READ_ENTRIES) entries is outstanding per queue pair. Only entries before the producer index are read. An entry that a doorbell
/// carried is buffered as if it had been read, if it is the next entry to read and no read is outstanding.
///
/// A request or an arriving entry takes 3 cycles. Requests have priority, and come at least 4 cycles apart. A requested entry that is accepted in cycle n is
/// visible from cycle n + 2 on, and wakes its queue pair in cycle n + [`WAKE_CYCLES`], which is after the response that missed it. A buffered entry is
/// visible 4 to 7 cycles after the request. Levels: 7 (decode an entry: 32-bit comparison, choice; whether a doorbell carried it).
#[derive(LogicBlock, Default)]
pub struct WqePrefetch<const Q: usize, const E: usize> {
    pub clock: Signal<In, Clock>,
    /// Discards all reads that were not issued.
    pub reset: Signal<In, Bit>,

    /// Resets the state of a queue pair. No entry may arrive in this cycle.
    pub clear: Signal<In, Bit>,
    pub clear_qp: Signal<In, Bits<Q>>,
    pub ask: FlowSnk<Ask>,
    pub look_qp: Signal<In, Bits<Q>>,
    /// Entry of the queue pair that was addressed in the previous cycle.
    pub entry: Signal<Out, Entry>,

    pub fetch: Src<WqeFetch>,
    /// Epoch of reads that begin in this cycle.
    pub epoch: Signal<In, Bit>,
    /// One cycle: a read begins. Its address is fixed, and it waits to leave.
    pub fetch_begun: Signal<Out, Bit>,
    /// One response for each entry of a read, in order.
    pub fetched: Snk<WqeFetched>,

    /// An entry that a doorbell carried. The next request of its queue pair delivers it, buffers it, or discards it.
    pub pushed: FlowSnk<WqeFetched>,

    /// High for one cycle for every requested entry that arrives, or is cancelled by a restart.
    pub wake_valid: Signal<Out, Bit>,
    pub wake_qp: Signal<Out, Qpn>,

    rows: BlockRam<PrefetchState, Q>,
    entries: BlockRam<Entry, Q>,
    /// Buffered entries. The address is queue pair, low bits of the slot.
    buffered: UltraRam<Entry, E>,
    /// Copy of [`Entry::phase`], read to flip it.
    phases: LutRam<Bit, Q>,
    /// One read for every queue pair.
    queue: BlockFifo<WqeFetch, 10, 11>,
    wakes: Delay<Wake, { WAKE_CYCLES - 1 }>,
    step: DFF<PrefetchStep>,
    /// Pending request.
    asking_valid: DFF<Bit>,
    asking: DFF<Ask>,
    /// The request in progress; with `answers` it is an entry that arrived.
    asked: DFF<Ask>,
    answers: DFF<Bit>,
    /// The entry in progress; for a request the last pushed entry, valid if `offers`.
    answer: DFF<WqeFetched>,
    offers: DFF<Bit>,
    offer_valid: DFF<Bit>,
    offer: DFF<WqeFetched>,
    row: DFF<PrefetchState>,
    /// The requested entry is buffered.
    moves: DFF<Bit>,
}

/// Cycles from the arrival of an entry to the wake-up of its queue pair.
pub const WAKE_CYCLES: usize = 8;

impl<const Q: usize, const E: usize> Logic for WqePrefetch<Q, E> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, asking_valid, asking, asked, answers);
        dff_setup!(self, clock, answer, offers, offer_valid, offer, row, moves);
        clock_reset!(self, queue);
        clock!(self, clock, rows, entries, buffered, phases, wakes);
        let step = self.step.q.val();
        let takes = step == PrefetchStep::Take;
        let acts = step == PrefetchStep::Act;
        let reads = step == PrefetchStep::Read;

        // accept
        let waits = self.asking_valid.q.val();
        let asking = self.asking.q.val();
        let asked = self.asked.q.val();
        let answers = self.answers.q.val();
        let answer = self.answer.q.val();
        let fetched = self.fetched.record.val();
        assert!(
            !self.ask.valid.val() | !waits | takes,
            "a question before the last one is taken"
        );
        self.fetched.ready.next = takes & !waits;
        if self.ask.valid.val() {
            self.asking.d.next = self.ask.record.val();
        }
        self.asking_valid.d.next = self.ask.valid.val() | (waits & !takes);
        let qp = if takes & waits {
            asking.qp
        } else if takes {
            fetched.qp
        } else if answers {
            answer.qp
        } else {
            asked.qp
        };
        let own_qp = qp.get_bits::<Q>(0);
        let buffered_base = bit_cast::<E, 10>(qp) << BUFFERED_LOG2;
        self.rows.read_address.next = own_qp;
        self.buffered.read_address.next =
            buffered_base | bit_cast::<E, 4>(asking.slot.get_bits::<4>(0));
        if takes {
            self.asked.d.next = asking;
            self.answers.d.next = !waits;
            self.answer.d.next = if waits { self.offer.q.val() } else { fetched };
            self.offers.d.next = self.offer_valid.q.val();
            if waits | self.fetched.valid.val() {
                self.step.d.next = PrefetchStep::Act;
            }
        }

        // update
        let row = self.rows.read_data.val();
        let decoded = decode(answer, false);
        let is_stale = row.stale.any();
        let comes = acts & answers & !is_stale;
        let keeps = comes & !row.pending;
        let restarts = acts & !answers & asked.restarts;
        let asks = acts & !answers & !asked.restarts & !asked.offers;
        let has_buffered = row.buffered.any();
        let pushed = asks & self.offers.q.val() & is_pushed(row, asked, answer);
        let rings = acts & !answers & asked.offers;
        let keeps_pushed = rings & self.offers.q.val() & is_next_read(row, asked, answer);
        let after = if answers {
            after_arrival(row)
        } else if asked.restarts {
            after_restart(row, asked)
        } else if asked.offers {
            after_doorbell(row, asked, keeps_pushed)
        } else {
            after_dequeue(row, asked, pushed)
        };
        if acts {
            self.row.d.next = after;
            self.moves.d.next = asks & has_buffered;
            self.step.d.next = PrefetchStep::Read;
        }
        self.buffered.write_enable.next = keeps | keeps_pushed;
        self.buffered.write_address.next =
            buffered_base | bit_cast::<E, 4>(row.arriving.get_bits::<4>(0));
        self.buffered.write_data.next = decoded;

        // push
        if self.pushed.valid.val() {
            self.offer.d.next = self.pushed.record.val();
        }
        let offer_is_over = acts & !answers & (self.offer.q.val().qp == asked.qp);
        self.offer_valid.d.next =
            self.pushed.valid.val() | (self.offer_valid.q.val() & !offer_is_over);

        // read
        let known = self.row.q.val();
        let read = next_read(known, qp);
        let mut read_row = known;
        read_row.reading = known.reading + bit_cast::<16, 4>(read.entries);
        if reads {
            self.step.d.next = PrefetchStep::Take;
        }
        let begins = reads & read.entries.any();
        self.fetch_begun.next = begins;
        self.queue.in_.valid.next = begins;
        self.queue.in_.data.next = WqeFetch {
            epoch: self.epoch.val(),
            ..read
        };
        assert!(
            !begins | self.queue.in_.ready.val(),
            "more than one outstanding read of a queue pair"
        );
        join!(self, queue.out => fetch);

        // deliver
        let moves = reads & self.moves.q.val();
        let gives_up = restarts & row.pending;
        let hands_over = (comes & row.pending) | pushed | gives_up | moves;
        self.phases.read_address.next = own_qp;
        let phase = !self.phases.read_data.val();
        let mut written = if moves {
            self.buffered.read_data.val()
        } else {
            decoded
        };
        written.phase = phase;
        let clear = self.clear.val();
        let written_qp = if clear { self.clear_qp.val() } else { own_qp };
        self.phases.write_enable.next = clear | hands_over;
        self.phases.write_address.next = written_qp;
        self.phases.write_data.next = phase & !clear;
        self.entries.write_enable.next = clear | hands_over;
        self.entries.write_address.next = written_qp;
        self.entries.write_data.next = if clear { Entry::default() } else { written };
        self.rows.write_enable.next = clear | reads;
        self.rows.write_address.next = written_qp;
        self.rows.write_data.next = if clear {
            PrefetchState::default()
        } else {
            read_row
        };

        // look up
        self.entries.read_address.next = self.look_qp.val();
        self.entry.next = self.entries.read_data.val();

        // wake up
        self.wakes.data.next = Wake {
            valid: hands_over,
            qp,
        };
        self.wake_valid.next = self.wakes.delayed.val().valid;
        self.wake_qp.next = self.wakes.delayed.val().qp;

        if self.reset.val() {
            self.step.d.next = PrefetchStep::Take;
            self.asking_valid.d.next = false;
            self.offer_valid.d.next = false;
        }
    }
}
