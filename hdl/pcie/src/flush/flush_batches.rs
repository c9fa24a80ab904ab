//! Batches of writes whose flush reads are on their way.

use hdl_macros::{clock_reset, hdl, hdl_fn};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc, Snk, SyncFifo};
use rust_hdl::prelude::*;

use super::records::{
    ArrivedBatch, ClosedBatch, FailedFlush, FlushAnswer, OpenBatch, ReadEnd, BATCH_BITS,
    GENERATIONS_BITS, GENERATION_BITS, READ_BITS,
};

const COUNT_BITS: usize = BATCH_BITS + 1;
/// A bit for the read of host memory of each batch, and for that of a device.
const OF_HOST: u64 = 0x5555;
const OF_PEER: u64 = OF_HOST << 1;
const _: () = assert!(READ_BITS == 16);

/// Number of the first flush read of a batch.
#[hdl_fn]
fn first_read(batch: Bits<3>) -> Bits<READ_BITS> {
    bit_cast::<READ_BITS, 3>(batch) << 1
}

#[hdl_fn]
fn bit_if(set: Bit) -> Bits<READ_BITS> {
    bit_cast::<READ_BITS, 1>(set.into())
}

/// What is known of the read of the first batch that `bit` has, which is not open, among those of `target`.
#[hdl_fn]
fn read_end(
    failed: Bits<READ_BITS>,
    heard: Bits<READ_BITS>,
    bit: Bits<READ_BITS>,
    target: u64,
) -> ReadEnd {
    ReadEnd {
        failed: (failed & bit).any(),
        late: (failed & bit & !heard).any(),
        silent: !(heard & target).any(),
    }
}

/// The generation of a batch number.
#[hdl_fn]
fn generation_of(generations: Bits<GENERATIONS_BITS>, batch: Bits<3>) -> Bits<GENERATION_BITS> {
    (generations >> (bit_cast::<GENERATIONS_BITS, 3>(batch) << 1)).get_bits::<GENERATION_BITS>(0)
}

/// Holds up to eight batches, and reports them in the order in which they were closed, each when the last of its flush reads is answered.
///
/// A read that is not answered by its batch's deadline has failed. Completions that come later are of an old generation, and are ignored. A read of the
/// batch that is reported may be repeated, with a deadline of its own, and then the batch is reported again. LUT levels: 5 (deadline: 32-bit compare 3,
/// gate, select).
#[derive(LogicBlock, Default)]
pub struct FlushBatches {
    pub clock: Signal<In, Clock>,
    /// Discards all batches.
    pub reset: Signal<In, Bit>,
    /// Cycle count, modulo 2^32.
    pub now: Signal<In, Bits<32>>,
    /// Cycles from the close of a batch to its deadline; 0 switches it off.
    pub timeout: Signal<In, Bits<31>>,

    pub closed: Snk<ClosedBatch>,
    /// Number and generation of the batch that is closed next, for the tags of its reads.
    pub batch: Signal<Out, Bits<3>>,
    pub generation: Signal<Out, Bits<2>>,

    pub answer: FlowSnk<FlushAnswer>,

    /// A batch with place commands: its reads are answered, or given up.
    pub arrived: OfferSrc<ArrivedBatch>,
    /// The read of host memory (0) or of a device (1) of that batch is repeated, with these parts of its tag. Not while the batch is taken.
    pub again: FlowSnk<Bit>,
    pub again_batch: Signal<Out, Bits<3>>,
    pub again_generation: Signal<Out, Bits<2>>,
    /// One cycle: the batch of the fence has arrived.
    pub fence_done: Signal<Out, Bit>,
    /// One cycle: the batch of the drain has arrived.
    pub drained: Signal<Out, Bit>,
    /// One cycle: a batch was not answered in time.
    pub timed_out: Signal<Out, Bit>,
    /// A flush read failed. Of a batch that was not answered in time it is one of those without an answer.
    pub failed_flush: FlowSrc<FailedFlush>,

    order: SyncFifo<OpenBatch, BATCH_BITS, COUNT_BITS>,
    head: DFF<Bits<3>>,
    tail: DFF<Bits<3>>,
    /// A bit for each flush read that is not answered.
    waiting: DFF<Bits<READ_BITS>>,
    /// A bit for each one that failed, and for each one on its way that was answered, well or not.
    failed: DFF<Bits<READ_BITS>>,
    heard: DFF<Bits<READ_BITS>>,
    /// A read of the first batch was repeated, with this deadline.
    repeats: DFF<Bit>,
    deadline: DFF<Bits<32>>,
    generations: DFF<Bits<GENERATIONS_BITS>>,
}

impl Logic for FlushBatches {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, head, tail, waiting, failed, heard, generations);
        dff_setup!(self, clock, repeats, deadline);
        clock_reset!(self, order);
        let head = self.head.q.val();
        let tail = self.tail.q.val();
        let waiting = self.waiting.q.val();
        let failed = self.failed.q.val();
        let heard = self.heard.q.val();
        let generations = self.generations.q.val();
        let now = self.now.val();
        let deadline = now + bit_cast::<32, 31>(self.timeout.val());

        // close
        let closed = self.closed.record.val();
        let room = self.order.in_.ready.val();
        let closes = self.closed.valid.val() & room;
        self.closed.ready.next = room;
        self.batch.next = tail;
        self.generation.next = generation_of(generations, tail);
        self.order.in_.valid.next = closes;
        self.order.in_.data.next = OpenBatch {
            commands: closed.commands,
            fence: closed.fence,
            drain: closed.drain,
            deadline,
        };
        let asked =
            (bit_if(closed.reads_host) | (bit_if(closed.reads_peer) << 1)) << first_read(tail);
        let adds = if closes { asked } else { bits(0) };
        if closes {
            self.tail.d.next = tail + 1;
        }

        // answer
        let answer = self.answer.record.val();
        let read = first_read(answer.tag.batch) | bit_if(answer.tag.of_peer);
        let is_current = generation_of(generations, answer.tag.batch) == answer.tag.generation;
        let answers = self.answer.valid.val() & is_current;
        let answered = if answers {
            bits::<READ_BITS>(1) << read
        } else {
            bits(0)
        };
        let fails = if answer.failed { answered } else { bits(0) };

        // repeat
        let of_head = bits::<READ_BITS>(0b11) << first_read(head);
        let again = self.again.valid.val();
        let repeated = if again {
            bits::<READ_BITS>(1) << (first_read(head) | bit_if(self.again.record.val()))
        } else {
            bits(0)
        };
        if again {
            self.deadline.d.next = deadline;
        }
        self.again_batch.next = head;
        self.again_generation.next = generation_of(generations, head);

        // report
        let first = self.order.out.data.val();
        let valid = self.order.out.valid.val();
        let open = (waiting & of_head).any();
        let due = if self.repeats.q.val() {
            self.deadline.q.val()
        } else {
            first.deadline
        };
        let is_late = !(now - due).get_bit(31);
        // One failure is reported per cycle.
        let refused = answers & answer.failed;
        let expires = valid & open & is_late & self.timeout.val().any() & !refused;
        let arrived = valid & !open;
        let counts = first.commands.any();
        let leaves = arrived & (!counts | self.arrived.ready.val());
        self.arrived.valid.next = arrived & counts;
        self.arrived.record.next = ArrivedBatch {
            commands: first.commands,
            host: read_end(failed, heard, of_head & OF_HOST, OF_HOST),
            peer: read_end(failed, heard, of_head & OF_PEER, OF_PEER),
        };
        self.order.out.ready.next = leaves;
        self.fence_done.next = leaves & first.fence;
        self.drained.next = leaves & first.drain;
        self.timed_out.next = expires;
        let host_waits = ((waiting >> first_read(head)) & 1).any();
        self.failed_flush.valid.next = refused | expires;
        self.failed_flush.record.next = FailedFlush {
            batch: if refused { answer.tag.batch } else { head },
            of_peer: if refused {
                answer.tag.of_peer
            } else {
                !host_waits
            },
        };
        if leaves {
            self.head.d.next = head + 1;
        }
        self.repeats.d.next = (self.repeats.q.val() | again) & !leaves;

        // update
        let expired = if expires { of_head } else { bits(0) };
        let gone = if leaves { of_head } else { bits(0) };
        let fresh = if closes {
            bits::<READ_BITS>(0b11) << first_read(tail)
        } else {
            bits(0)
        };
        self.waiting.d.next = (waiting & !answered & !expired) | adds | repeated;
        self.failed.d.next = (failed & !fresh & !repeated) | fails | (waiting & expired);
        self.heard.d.next = (heard & !gone & !repeated) | answered;
        if expires {
            let shift = bit_cast::<GENERATIONS_BITS, 3>(head) << 1;
            let next = generation_of(generations, head) + 1;
            let cleared = generations & !(bits::<GENERATIONS_BITS>(0b11) << shift);
            self.generations.d.next =
                cleared | (bit_cast::<GENERATIONS_BITS, GENERATION_BITS>(next) << shift);
        }

        if self.reset.val() {
            self.head.d.next = bits(0);
            self.tail.d.next = bits(0);
            self.waiting.d.next = bits(0);
            self.failed.d.next = bits(0);
            self.heard.d.next = bits(0);
            self.repeats.d.next = false;
            self.generations.d.next = bits(0);
        }
    }
}
