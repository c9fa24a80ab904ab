//! Reads send queue entries ahead of their messages.

use hdl_macros::hdl;
use hdl_primitives::ram::{BlockRam, LutRam, UltraRam};
use hdl_primitives::{BlockFifo, Delay};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};

use crate::ahead::*;
use crate::entry::judge;
use crate::records::{Ask, Entry, Wake};

/// What the block does in a clock.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum AheadStep {
    /// Takes what was asked, else an answer; the row is read.
    Take,
    /// The row is there.
    Act,
    /// Hands over an entry that was kept, and decides whether more are read.
    Read,
}

/// The entry that is looked at next, and up to [`KEPT`] behind it, for 2^`Q` queue pairs; `E` = `Q` + 4.
///
/// One read per queue pair is under way, of up to [`MOST_READ`] entries. Only entries in front of the doorbell's index are read.
///
/// An entry that came with its doorbell is kept as if it had been read, if it is the next to be read and nothing is under way.
///
/// A question or an answer takes 3 clocks; questions go first, and come at least 4 clocks apart. An entry taken in clock `n` that was asked for is read by a look of
/// clock `n + 2` or later, and wakes its queue pair in clock `n +` [`WAKE_CLOCKS`]: after the answer to whoever did not find it. One that was kept is there
/// 4 clocks after the question, or 3 later.
/// Levels: 7 (judge an entry: 32-bit comparison, choice; whether it was pushed).
#[derive(LogicBlock, Default)]
pub struct WqePrefetch<const Q: usize, const E: usize> {
    pub clock: Signal<In, Clock>,
    /// Forgets every read that has not left.
    pub reset: Signal<In, Bit>,

    /// Makes a queue pair as if nothing had ever come, while no answer comes.
    pub clear: Signal<In, Bit>,
    pub clear_qp: Signal<In, Bits<Q>>,
    pub ask_valid: Signal<In, Bit>,
    pub ask: Signal<In, Ask>,
    pub look_qp: Signal<In, Bits<Q>>,
    /// Of the queue pair looked at in the clock before.
    pub entry: Signal<Out, Entry>,

    pub fetch_valid: Signal<Out, Bit>,
    pub fetch: Signal<Out, WqeFetch>,
    pub fetch_ready: Signal<In, Bit>,
    /// An answer for each entry of a read, in order.
    pub fetched_valid: Signal<In, Bit>,
    pub fetched: Signal<In, WqeFetched>,
    pub fetched_ready: Signal<Out, Bit>,

    /// An entry that came with its doorbell. The next question of its queue pair hands it over, if that is for it, or keeps it, or it is forgotten.
    pub pushed_valid: Signal<In, Bit>,
    pub pushed: Signal<In, WqeFetched>,

    /// One clock for every entry asked for, or given up by a restart.
    pub wake_valid: Signal<Out, Bit>,
    pub wake_qp: Signal<Out, Bits<10>>,

    rows: BlockRam<AheadRow, Q>,
    entries: BlockRam<Entry, Q>,
    /// Entries that are not asked for yet: address is queue pair, low bits of the slot.
    kept: UltraRam<Entry, E>,
    /// [`Entry::phase`] again, to be flipped.
    phases: LutRam<Bit, Q>,
    /// Room for one read of every queue pair.
    queue: BlockFifo<WqeFetch, 10, 11>,
    wakes: Delay<Wake, { WAKE_CLOCKS - 1 }>,
    step: DFF<AheadStep>,
    /// What waits to be taken.
    asking_valid: DFF<Bit>,
    asking: DFF<Ask>,
    /// What is being done: a question, or with `answers` an answer.
    asked: DFF<Ask>,
    answers: DFF<Bit>,
    /// With a question: the entry pushed last, if `offers`.
    answer: DFF<WqeFetched>,
    offers: DFF<Bit>,
    offer_valid: DFF<Bit>,
    offer: DFF<WqeFetched>,
    row: DFF<AheadRow>,
    /// The entry asked for is among those kept.
    moves: DFF<Bit>,
}

/// Clocks from an answer to the wake of its queue pair.
pub const WAKE_CLOCKS: usize = 8;

impl<const Q: usize, const E: usize> Logic for WqePrefetch<Q, E> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, asking_valid, asking, asked, answers);
        dff_setup!(self, clock, answer, offers, offer_valid, offer, row, moves);
        clock!(self, clock, rows, entries, kept, phases, queue, wakes);
        self.queue.reset.next = self.reset.val();
        let step = self.step.q.val();
        let takes = step == AheadStep::Take;
        let acts = step == AheadStep::Act;
        let reads = step == AheadStep::Read;

        // take
        let waits = self.asking_valid.q.val();
        let asking = self.asking.q.val();
        let asked = self.asked.q.val();
        let answers = self.answers.q.val();
        let answer = self.answer.q.val();
        let fetched = self.fetched.val();
        assert!(
            !self.ask_valid.val() | !waits | takes,
            "a question before the last one is taken"
        );
        self.fetched_ready.next = takes & !waits;
        if self.ask_valid.val() {
            self.asking.d.next = self.ask.val();
        }
        self.asking_valid.d.next = self.ask_valid.val() | (waits & !takes);
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
        let first_kept = bit_cast::<E, 10>(qp) << KEPT_LOG2;
        self.rows.read_address.next = own_qp;
        self.kept.read_address.next = first_kept | bit_cast::<E, 4>(asking.slot.get_bits::<4>(0));
        if takes {
            self.asked.d.next = asking;
            self.answers.d.next = !waits;
            self.answer.d.next = if waits { self.offer.q.val() } else { fetched };
            self.offers.d.next = self.offer_valid.q.val();
            if waits | self.fetched_valid.val() {
                self.step.d.next = AheadStep::Act;
            }
        }

        // act
        let row = self.rows.read_data.val();
        let judged = judge(answer, false);
        let is_stale = row.stale.any();
        let comes = acts & answers & !is_stale;
        let keeps = comes & !row.wanted;
        let restarts = acts & !answers & asked.restarts;
        let asks = acts & !answers & !asked.restarts & !asked.offers;
        let has_kept = row.kept.any();
        let pushed = asks & self.offers.q.val() & is_pushed(row, asked, answer);
        let rings = acts & !answers & asked.offers;
        let keeps_pushed = rings & self.offers.q.val() & is_next_read(row, asked, answer);
        let after = if answers {
            arrived(row)
        } else if asked.restarts {
            restarted(row, asked)
        } else if asked.offers {
            rung(row, asked, keeps_pushed)
        } else {
            handed(row, asked, pushed)
        };
        if acts {
            self.row.d.next = after;
            self.moves.d.next = asks & has_kept;
            self.step.d.next = AheadStep::Read;
        }
        self.kept.write_enable.next = keeps | keeps_pushed;
        self.kept.write_address.next = first_kept | bit_cast::<E, 4>(row.arriving.get_bits::<4>(0));
        self.kept.write_data.next = judged;

        // push
        if self.pushed_valid.val() {
            self.offer.d.next = self.pushed.val();
        }
        let offer_is_over = acts & !answers & (self.offer.q.val().qp == asked.qp);
        self.offer_valid.d.next =
            self.pushed_valid.val() | (self.offer_valid.q.val() & !offer_is_over);

        // read
        let known = self.row.q.val();
        let read = next_read(known, qp);
        let mut read_row = known;
        read_row.reading = known.reading + bit_cast::<16, 4>(read.entries);
        if reads {
            self.step.d.next = AheadStep::Take;
        }
        self.queue.in_valid.next = reads & read.entries.any();
        self.queue.in_data.next = read;
        assert!(
            !(reads & read.entries.any()) | self.queue.in_ready.val(),
            "more than one read of a queue pair under way"
        );
        self.fetch_valid.next = self.queue.out_valid.val();
        self.fetch.next = self.queue.out_data.val();
        self.queue.out_ready.next = self.fetch_ready.val();

        // hand_over
        let moves = reads & self.moves.q.val();
        let gives_up = restarts & row.wanted;
        let hands_over = (comes & row.wanted) | pushed | gives_up | moves;
        self.phases.read_address.next = own_qp;
        let phase = !self.phases.read_data.val();
        let mut written = if moves {
            self.kept.read_data.val()
        } else {
            judged
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
        self.rows.write_data.next = if clear { AheadRow::default() } else { read_row };

        // look
        self.entries.read_address.next = self.look_qp.val();
        self.entry.next = self.entries.read_data.val();

        // wake
        self.wakes.data.next = Wake {
            valid: hands_over,
            qp,
        };
        self.wake_valid.next = self.wakes.delayed.val().valid;
        self.wake_qp.next = self.wakes.delayed.val().qp;

        if self.reset.val() {
            self.step.d.next = AheadStep::Take;
            self.asking_valid.d.next = false;
            self.offer_valid.d.next = false;
        }
    }
}
