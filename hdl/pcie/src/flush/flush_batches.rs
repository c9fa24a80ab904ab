//! Batches of writes whose flush reads are on their way.

use hdl_macros::{clock_reset, hdl, hdl_fn};
use hdl_primitives::{FlowSnk, FlowSrc, Snk, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::FlushedBatch;

use super::records::{
    ClosedBatch, FailedFlush, FlushAnswer, OpenBatch, BATCH_BITS, GENERATIONS_BITS,
    GENERATION_BITS, READ_BITS,
};

const COUNT_BITS: usize = BATCH_BITS + 1;
const BATCHES: usize = 1 << BATCH_BITS;

/// Number of the first flush read of a batch.
#[hdl_fn]
fn first_read(batch: Bits<3>) -> Bits<READ_BITS> {
    bit_cast::<READ_BITS, 3>(batch) << 1
}

#[hdl_fn]
fn bit_if(set: Bit) -> Bits<READ_BITS> {
    bit_cast::<READ_BITS, 1>(set.into())
}

/// The generation of a batch number.
#[hdl_fn]
fn generation_of(generations: Bits<GENERATIONS_BITS>, batch: Bits<3>) -> Bits<GENERATION_BITS> {
    (generations >> (bit_cast::<GENERATIONS_BITS, 3>(batch) << 1)).get_bits::<GENERATION_BITS>(0)
}

/// Holds up to eight batches, and reports them in the order in which they were closed, each when the last of its flush reads is answered.
///
/// A batch whose reads are not answered by its deadline is reported as failed. Completions that come later are of an old generation, and are ignored.
/// LUT levels: 5 (deadline: 32-bit compare 3, gate, select).
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

    /// A batch with place commands has arrived.
    pub flushed: Src<FlushedBatch>,
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
    /// A bit for each batch with a read that failed.
    failed: DFF<Bits<BATCHES>>,
    generations: DFF<Bits<GENERATIONS_BITS>>,
}

impl Logic for FlushBatches {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, head, tail, waiting, failed, generations);
        clock_reset!(self, order);
        let head = self.head.q.val();
        let tail = self.tail.q.val();
        let waiting = self.waiting.q.val();
        let failed = self.failed.q.val();
        let generations = self.generations.q.val();
        let now = self.now.val();

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
            deadline: now + bit_cast::<32, 31>(self.timeout.val()),
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
        let fails = if answers & answer.failed {
            bits::<BATCHES>(1) << bit_cast::<BATCHES, 3>(answer.tag.batch)
        } else {
            bits(0)
        };

        // report
        let first = self.order.out.data.val();
        let valid = self.order.out.valid.val();
        let of_head = bits::<READ_BITS>(0b11) << first_read(head);
        let open = (waiting & of_head).any();
        let is_late = !(now - first.deadline).get_bit(31);
        // One failure is reported per cycle.
        let refused = answers & answer.failed;
        let expires = valid & open & is_late & self.timeout.val().any() & !refused;
        let is_failed = ((failed >> bit_cast::<BATCHES, 3>(head)) & 1).any();
        let arrived = valid & !open;
        let counts = first.commands.any();
        let leaves = arrived & (!counts | self.flushed.ready.val());
        self.flushed.valid.next = arrived & counts;
        self.flushed.record.next = FlushedBatch {
            commands: first.commands,
            failed: is_failed,
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

        // update
        let head_bit = bits::<BATCHES>(1) << bit_cast::<BATCHES, 3>(head);
        let tail_bit = bits::<BATCHES>(1) << bit_cast::<BATCHES, 3>(tail);
        let expired = if expires { of_head } else { bits(0) };
        let given_up = if expires { head_bit } else { bits(0) };
        let fresh = if closes { tail_bit } else { bits(0) };
        self.waiting.d.next = (waiting & !answered & !expired) | adds;
        self.failed.d.next = (failed & !fresh) | fails | given_up;
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
            self.generations.d.next = bits(0);
        }
    }
}
