//! The queue of the queue pairs that may have work.

mod inner;

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::bundles::QpSrc;
use hdl_requester::WakeQueue;
use rust_hdl::prelude::*;
use stellar_wire::hw::{Qpn, QPN_BITS};

use inner::QueueInsideSnk;

/// Cycles after reset in which the queue clears its memories: one for each queue pair.
const CLEARING: u64 = 4;

/// Properties of [`WakeQueue`] of 4 queue pairs, told for one queue pair that the solver chooses.
#[derive(LogicBlock, Default)]
pub struct WakeQueueProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub in_valid: Signal<In, Bit>,
    pub in_qp: Signal<In, Qpn>,
    pub plane_up: Signal<In, Bits<2>>,
    pub out: QpSrc,
    /// The queue pair that is watched.
    pub watched: Signal<In, Bits<2>>,
    /// Registers and memories of the block.
    pub inner_queue: QueueInsideSnk,

    /// `watched` does not change.
    pub given_one_watched: Signal<Out, Bit>,

    /// As long as no port came up or went down, a queue pair is output only if it was added since its last output: it is inside at most once. It is inside until the cycle after its output.
    pub holds_once: Signal<Out, Bit>,
    /// Behind a queue pair that was added, at most 3 others leave before it: none is lost, and none waits for ever.
    pub holds_no_loss: Signal<Out, Bit>,
    /// When there is a queue pair inside, one is offered in this cycle or in the next two.
    pub holds_offer: Signal<Out, Bit>,

    // What is inside, so that the properties are an invariant together.
    /// The pointers of the FIFO are as far apart as it has entries, and its output is the first of them.
    pub holds_fifo: Signal<Out, Bit>,
    /// After reset the queue is empty until its memories are clear. It clears them in the order of their addresses.
    pub holds_cleared: Signal<Out, Bit>,
    /// The bits that have been read are those of the queue pair that is added, or else of the next one of a sweep.
    pub holds_read: Signal<Out, Bit>,
    /// The FIFO has one entry of each queue pair that is queued by the memories, and none of others.
    pub holds_members: Signal<Out, Bit>,
    /// A queue pair that was added is queued, and its place in the FIFO bounds how many others left before it. As long as no port changed, only one that was added is queued.
    pub holds_watched: Signal<Out, Bit>,

    /// The watched queue pair can wait for three others.
    pub reaches_longest_wait: Signal<Out, Bit>,

    queue: WakeQueue<2, 3, 4>,
    /// Cycles since reset, up to [`CLEARING`].
    cleared: DFF<Bits<3>>,
    before: DFF<Bits<2>>,
    started: DFF<Bit>,
    planes: DFF<Bits<2>>,
    /// A port changed since reset, so every queue pair was added.
    swept: DFF<Bit>,
    /// The watched queue pair was named in the last cycle, so it is added in this one.
    entering: DFF<Bit>,
    /// The watched queue pair was added and has not left since.
    added: DFF<Bit>,
    /// It was taken in the last cycle.
    taken: DFF<Bit>,
    /// Other queue pairs that left since it was added.
    passed: DFF<Bits<3>>,
    /// Cycles since it was added without an offer.
    silent: DFF<Bits<2>>,
}

impl Logic for WakeQueueProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, before, started, planes, swept, added, passed, silent);
        dff_setup!(self, clock, cleared, entering, taken);
        clock_reset!(self, queue);
        self.queue.in_valid.next = self.in_valid.val();
        self.queue.in_qp.next = self.in_qp.val();
        self.queue.plane_up.next = self.plane_up.val();
        join!(self, queue.out => out);

        let watched = self.watched.val();
        self.before.d.next = watched;
        self.started.d.next = true;
        self.given_one_watched.next = !self.started.q.val() | (watched == self.before.q.val());

        let is_cleared = self.cleared.q.val() == CLEARING;
        if !is_cleared {
            self.cleared.d.next = self.cleared.q.val() + 1;
        }
        let named = self.in_valid.val() & (self.in_qp.val().get_bits::<2>(0) == watched);
        self.entering.d.next = is_cleared & named;
        let adds = self.entering.q.val() & !self.taken.q.val();
        let offered = self.queue.out.valid.val();
        let is_watched = self.queue.out.qp.val() == bit_cast::<QPN_BITS, 2>(watched);
        let leaves = offered & self.out.ready.val();
        let added = self.added.q.val();
        self.taken.d.next = leaves & is_watched;
        self.planes.d.next = self.plane_up.val();
        if leaves & is_watched {
            self.added.d.next = false;
            self.passed.d.next = bits(0);
        } else {
            if adds {
                self.added.d.next = true;
            }
            if leaves & added {
                self.passed.d.next = self.passed.q.val() + 1;
            }
        }
        if self.plane_up.val() != self.planes.q.val() {
            self.swept.d.next = true;
        }
        if offered | !added {
            self.silent.d.next = bits(0);
        } else if self.silent.q.val() != 3 {
            self.silent.d.next = self.silent.q.val() + 1;
        }

        self.holds_once.next = !(offered & is_watched) | added | self.swept.q.val();
        self.holds_no_loss.next = self.passed.q.val() <= 3;
        self.holds_offer.next = self.silent.q.val() < 2;

        // What is inside.
        let held = self.inner_queue.queue_held.val();
        let head = self.inner_queue.queue_read_pointer.val();
        let head_read = self.inner_queue.queue_head_read.val();
        let clearing = self.inner_queue.clearing.val();
        let sweep = self.inner_queue.sweep.val();
        let takes = self.inner_queue.taken.val();
        let first = self.inner_queue.queue_memory_read_data.val();
        let is_first = head_read & (first.get_bits::<2>(0) == watched);
        let mut raised = bits::<4>(0);
        let mut lowered = bits::<4>(0);
        for i in 0..4 {
            raised = raised.replace_bit(i, self.inner_queue.raised_memory[i].val());
            lowered = lowered.replace_bit(i, self.inner_queue.lowered_memory[i].val());
        }
        let queued = raised ^ lowered;
        let mut members = bits::<4>(0);
        let mut once = true;
        let mut head_entry = bits::<3>(0);
        let mut place = bits::<3>(0);
        for i in 0..4 {
            let entry = self.inner_queue.queue_memory_memory[i].val();
            let qp = entry.get_bits::<2>(0);
            let behind = bit_cast::<3, 2>(bits::<2>(i as u64) - head);
            let inside = behind < held;
            let member = if inside {
                bits::<4>(1) << bit_cast::<4, 2>(qp)
            } else {
                bits::<4>(0)
            };
            let flag = raised.get_bit(qp.index()) == entry.get_bit(2);
            once = once & !(members & member).any() & (!inside | flag);
            members = members | member;
            head_entry = if behind == 0 { entry } else { head_entry };
            place = if inside & (qp == watched) {
                behind
            } else {
                place
            };
        }
        let started = self.started.q.val();
        self.holds_fifo.next = !started
            | ((held <= 4)
                & (bit_cast::<3, 2>(self.inner_queue.queue_write_pointer.val() - head)
                    == (held & 3))
                & (!head_read | (held.any() & (first == head_entry)))
                & (!takes | head_read));

        let enters = self.inner_queue.named.val();
        let is_empty = !held.any() & !head_read & !takes & !enters;
        let mut is_clear = true;
        for i in 0..4 {
            let seen = (bits::<3>(i as u64) < sweep) & (raised.get_bit(i) | lowered.get_bit(i));
            is_clear = is_clear & !seen;
        }
        self.holds_cleared.next = if !started {
            self.reset.val()
        } else if clearing {
            is_empty & is_clear & !sweep.get_bit(2) & (self.cleared.q.val() == sweep) & !added
        } else {
            is_cleared
        };
        let read_qp = self.inner_queue.read_qp.val();
        let is_read = (self.inner_queue.raised_read_data.val() == raised.get_bit(read_qp.index()))
            & (self.inner_queue.lowered_read_data.val() == lowered.get_bit(read_qp.index()));
        let is_swept = enters | sweep.get_bit(2) | (read_qp == sweep.get_bits::<2>(0));
        self.holds_read.next = !started | (is_read & (clearing | is_swept));
        self.holds_members.next = !started | clearing | (once & (members == queued));

        let watched_enters = enters & (self.inner_queue.read_qp.val() == watched);
        let is_queued = !clearing & queued.get_bit(watched.index());
        let leaving = takes & is_first;
        let swept = self.swept.q.val();
        let passed = self.passed.q.val();
        let left = if takes {
            bits::<3>(4) - place
        } else {
            bits::<3>(3) - place
        };
        self.holds_watched.next = !started
            | ((self.taken.q.val() == leaving)
                & (self.entering.q.val() == watched_enters)
                & (!added | (is_queued & !leaving & (passed <= left)))
                & (added | (!passed.any() & !self.silent.q.val().any()))
                & (!self.silent.q.val().any() | (head_read & !takes))
                & (swept
                    | ((self.inner_queue.planes.val() == self.planes.q.val())
                        & (clearing | sweep.get_bit(2))
                        & (!is_queued | added | leaving))));

        self.reaches_longest_wait.next = self.passed.q.val() == 3;
        if self.reset.val() {
            self.cleared.d.next = bits(0);
            self.added.d.next = false;
            self.entering.d.next = false;
            self.taken.d.next = false;
            self.swept.d.next = false;
            self.passed.d.next = bits(0);
            self.silent.d.next = bits(0);
        }
    }
}
