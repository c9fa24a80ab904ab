//! Reads send queue entries ahead of their messages.

use hdl_macros::hdl;
use hdl_primitives::ram::{BlockRam, LutRam};
use hdl_primitives::{BlockFifo, Delay};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};

use crate::entry::{judge, judge__hdl};
use crate::records::{Ask, Entry, Wake};

/// One entry per queue pair, for 2^`Q` queue pairs; each has at most one read under way.
///
/// An answer taken in clock `n` is read by a look of clock `n + 2` or later, and wakes its queue pair in clock `n +` [`WAKE_CLOCKS`]: after the answer to
/// whoever did not find it. Answers are taken in every clock. Levels: 6 (judge an entry: 32-bit comparison, choice).
#[derive(LogicBlock, Default)]
pub struct WqePrefetch<const Q: usize> {
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
    pub fetched_valid: Signal<In, Bit>,
    pub fetched: Signal<In, WqeFetched>,

    /// One clock for every answer.
    pub wake_valid: Signal<Out, Bit>,
    pub wake_qp: Signal<Out, Bits<10>>,

    entries: BlockRam<Entry, Q>,
    /// [`Entry::phase`] again, to be flipped.
    phases: LutRam<Bit, Q>,
    /// Room for one read of every queue pair.
    queue: BlockFifo<WqeFetch, 10, 11>,
    wakes: Delay<Wake, { WAKE_CLOCKS - 1 }>,
    asking_valid: DFF<Bit>,
    asking: DFF<Ask>,
    answer_valid: DFF<Bit>,
    answer: DFF<WqeFetched>,
}

/// Clocks from an answer to the wake of its queue pair.
pub const WAKE_CLOCKS: usize = 8;

impl<const Q: usize> Logic for WqePrefetch<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, asking_valid, asking, answer_valid, answer);
        clock!(self, clock, entries, phases, queue, wakes);
        self.queue.reset.next = self.reset.val();

        // ask
        let asking = self.asking.q.val();
        assert!(
            !self.asking_valid.q.val() || self.queue.in_ready.val(),
            "more than one read of a queue pair under way"
        );
        self.asking_valid.d.next = self.ask_valid.val();
        self.asking.d.next = self.ask.val();
        self.queue.in_valid.next = self.asking_valid.q.val();
        self.queue.in_data.next = WqeFetch {
            address: asking.base + (bit_cast::<64, 15>(asking.place) << 6),
            qp: asking.qp,
        };
        self.fetch_valid.next = self.queue.out_valid.val();
        self.fetch.next = self.queue.out_data.val();
        self.queue.out_ready.next = self.fetch_ready.val();

        // answer
        let answer = self.answer.q.val();
        let answered = self.answer_valid.q.val();
        self.answer_valid.d.next = self.fetched_valid.val();
        self.answer.d.next = self.fetched.val();
        let qp = answer.qp.get_bits::<Q>(0);
        self.phases.read_address.next = qp;
        let phase = !self.phases.read_data.val();
        let clear = self.clear.val();
        let written_qp = if clear { self.clear_qp.val() } else { qp };
        let write = clear | answered;
        self.phases.write_enable.next = write;
        self.phases.write_address.next = written_qp;
        self.phases.write_data.next = phase & !clear;
        self.entries.write_enable.next = write;
        self.entries.write_address.next = written_qp;
        let judged = judge(answer, phase);
        self.entries.write_data.next = if clear { Entry::default() } else { judged };

        // look
        self.entries.read_address.next = self.look_qp.val();
        self.entry.next = self.entries.read_data.val();

        // wake
        self.wakes.data.next = Wake {
            valid: answered,
            qp: answer.qp,
        };
        self.wake_valid.next = self.wakes.delayed.val().valid;
        self.wake_qp.next = self.wakes.delayed.val().qp;

        if self.reset.val() {
            self.asking_valid.d.next = false;
            self.answer_valid.d.next = false;
        }
    }
}
