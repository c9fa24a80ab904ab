//! Queue of outcomes that wait until their payload has left.

use hdl_macros::{clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{CutThroughFifo, QuickBypassRam, Snk};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::FlushedBatch;
use stellar_wire::hw::receive::RxOutcome;

use crate::placed_credits::PlacedCredits;
use crate::rx_core::IN_FLIGHT;
use crate::stream_merge::StreamMerge;

/// 512 outcomes in a lane. Small packets bring a lane at most one per two cycles, and a flush read takes 600 ns to 1.5 us, which is 188 outcomes.
const QUEUE_ADDRESS: usize = 9;
const QUEUE_COUNT: usize = QUEUE_ADDRESS + 1;
/// Number of outcomes in a queue at which no more tokens are issued.
const QUEUE_LIMIT: u64 = (1 << QUEUE_ADDRESS) - IN_FLIGHT;

/// Outcomes of a lane are numbered; an outcome that waits may be passed by 2^47 of the other lane (6 days) before numbers are mistaken.
pub const NUMBER_BITS: usize = 48;

/// Numbers behind the last outcome of a queue pair in each lane. Anything may stand here before the first.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct LastOutcomes {
    after0: Bits<NUMBER_BITS>,
    after1: Bits<NUMBER_BITS>,
}

/// An outcome in the queue of its lane.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Queued {
    outcome: RxOutcome,
    /// The payload of its packet is placed, so it waits until the lane has sent the payload.
    placed: Bit,
    /// It waits until the payload has reached memory.
    flush: Bit,
    /// Outcomes of the other lane up to this number go first.
    waits: Bit,
    until: Bits<NUMBER_BITS>,
}

/// Whether a lane that has released outcomes up to `released` still holds one before `number`.
#[hdl_fn]
fn holds(released: Bits<NUMBER_BITS>, number: Bits<NUMBER_BITS>) -> Bit {
    (released - number).get_bit(NUMBER_BITS - 1)
}

/// Whether the lane has reached `number`. A number that lies ahead of the lane is not one of its own.
#[hdl_fn]
fn reached(next: Bits<NUMBER_BITS>, number: Bits<NUMBER_BITS>) -> Bit {
    !(next - number).get_bit(NUMBER_BITS - 1)
}

/// The outcome of a packet whose payload may be lost says nothing else.
#[hdl_fn]
fn judged(outcome: RxOutcome, lost: Bit) -> RxOutcome {
    RxOutcome {
        accepted: outcome.accepted & !lost,
        ack_valid: outcome.ack_valid & !lost,
        lost,
        ..outcome
    }
}

/// Holds each outcome until its payload has left, or has reached memory where PCIe does not keep the order, and keeps the outcomes of a queue pair in order.
///
/// There is a queue per lane. The head of a queue leaves when the lane's endpoint has sent its payload, or has flushed it, and when the other queue holds no older
/// outcome of the same queue pair. An outcome whose flush failed leaves as lost. So a lane whose PCIe link stalls holds up the other only in queue pairs that used both.
///
/// One row for each of 2^`Q` queue pairs holds the number of its last outcome in each lane. A row may hold an old number before its first outcome or after a reset.
/// Such a number can only delay an outcome behind older outcomes, never behind itself.
/// LUT levels: 6 (48-bit subtraction 3, gates 2, turn 1). Latency 4 cycles if no outcome waits in the lane; the head of a queue is in a register.
#[derive(LogicBlock, Default)]
pub struct AckOrderQueue<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    /// Discards outcomes in progress.
    pub reset: Signal<In, Bit>,

    // From the core; no `ready`.
    pub in_valid: Signal<In, Bit>,
    pub in_outcome: Signal<In, RxOutcome>,
    pub in_placed: Signal<In, Bit>,
    /// With `in_placed`: the payload has to be flushed.
    pub in_flush: Signal<In, Bit>,
    /// The queue of a lane has room for every token in flight and one more.
    pub room0: Signal<Out, Bit>,
    pub room1: Signal<Out, Bit>,

    // From the endpoints: the lane's next payload that needs no flush has left, and payloads that need one have reached memory.
    pub sent: [Signal<In, Bit>; 2],
    pub flushed: [Snk<FlushedBatch>; 2],

    pub out_valid: Signal<Out, Bit>,
    pub outcome: Signal<Out, RxOutcome>,
    pub out_ready: Signal<In, Bit>,

    lasts: QuickBypassRam<LastOutcomes, Q>,
    numbered: DFF<Bit>,
    arrived: DFF<RxOutcome>,
    arrived_placed: DFF<Bit>,
    arrived_flush: DFF<Bit>,
    queue0: CutThroughFifo<Queued, QUEUE_ADDRESS, QUEUE_COUNT>,
    queue1: CutThroughFifo<Queued, QUEUE_ADDRESS, QUEUE_COUNT>,
    /// Number of the next outcome to be queued, and of the next to be released.
    next0: DFF<Bits<NUMBER_BITS>>,
    next1: DFF<Bits<NUMBER_BITS>>,
    released0: DFF<Bits<NUMBER_BITS>>,
    released1: DFF<Bits<NUMBER_BITS>>,
    credits: [PlacedCredits; 2],
    merge: StreamMerge<RxOutcome>,
}

impl<const Q: usize> Logic for AckOrderQueue<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            numbered,
            arrived,
            arrived_placed,
            arrived_flush
        );
        dff_setup!(self, clock, next0, next1, released0, released1);
        clock_reset!(self, queue0, queue1, credits[..], merge);
        clock!(self, clock, lasts);

        // read: the queue pair's last outcomes.
        let outcome = self.in_outcome.val();
        self.lasts.read_address.next = outcome.qp.get_bits::<Q>(0);
        self.numbered.d.next = self.in_valid.val();
        self.arrived.d.next = outcome;
        self.arrived_placed.d.next = self.in_placed.val();
        self.arrived_flush.d.next = self.in_flush.val();

        // queue
        let arrived = self.arrived.q.val();
        let lasts = self.lasts.read_data.val();
        let next0 = self.next0.q.val();
        let next1 = self.next1.q.val();
        let to0 = self.numbered.q.val() & !arrived.port;
        let to1 = self.numbered.q.val() & arrived.port;
        self.lasts.write_enable.next = self.numbered.q.val();
        self.lasts.write_address.next = arrived.qp.get_bits::<Q>(0);
        self.lasts.write_data.next = LastOutcomes {
            after0: if arrived.port {
                lasts.after0
            } else {
                next0 + 1
            },
            after1: if arrived.port {
                next1 + 1
            } else {
                lasts.after1
            },
        };
        self.queue0.in_.valid.next = to0;
        self.queue0.in_.data.next = Queued {
            outcome: arrived,
            placed: self.arrived_placed.q.val(),
            flush: self.arrived_flush.q.val(),
            waits: reached(next1, lasts.after1),
            until: lasts.after1,
        };
        self.queue1.in_.valid.next = to1;
        self.queue1.in_.data.next = Queued {
            outcome: arrived,
            placed: self.arrived_placed.q.val(),
            flush: self.arrived_flush.q.val(),
            waits: reached(next0, lasts.after0),
            until: lasts.after0,
        };
        if to0 {
            self.next0.d.next = next0 + 1;
        }
        if to1 {
            self.next1.d.next = next1 + 1;
        }
        self.room0.next = self.queue0.count.val() < QUEUE_LIMIT;
        self.room1.next = self.queue1.count.val() < QUEUE_LIMIT;

        // release
        let head0 = self.queue0.out.data.val();
        let head1 = self.queue1.out.data.val();
        let released0 = self.released0.q.val();
        let released1 = self.released1.q.val();
        let blocked0 = head0.waits & holds(released1, head0.until);
        let blocked1 = head1.waits & holds(released0, head1.until);
        let free0 = self.queue0.out.valid.val() & !blocked0 & self.credits[0].arrived.val();
        let free1 = self.queue1.out.valid.val() & !blocked1 & self.credits[1].arrived.val();
        self.merge.in_[0].valid.next = free0;
        self.merge.in_[0].data.next = judged(head0.outcome, self.credits[0].lost.val());
        self.merge.in_[1].valid.next = free1;
        self.merge.in_[1].data.next = judged(head1.outcome, self.credits[1].lost.val());
        let goes0 = self.merge.in_[0].ready.val();
        let goes1 = self.merge.in_[1].ready.val();
        self.queue0.out.ready.next = goes0;
        self.queue1.out.ready.next = goes1;
        if goes0 {
            self.released0.d.next = released0 + 1;
        }
        if goes1 {
            self.released1.d.next = released1 + 1;
        }
        self.credits[0].placed.next = head0.placed;
        self.credits[0].flush.next = head0.flush;
        self.credits[0].leaves.next = goes0;
        self.credits[1].placed.next = head1.placed;
        self.credits[1].flush.next = head1.flush;
        self.credits[1].leaves.next = goes1;
        for i in 0..2 {
            join!(
                self,
                sent[i] => credits[i].sent,
                flushed[i] => credits[i].flushed,
            );
        }
        join!(
            self,
            merge.out.valid => out_valid,
            merge.out.data => outcome,
            out_ready => merge.out.ready,
        );

        if self.reset.val() {
            self.numbered.d.next = false;
            self.next0.d.next = bits(0);
            self.next1.d.next = bits(0);
            self.released0.d.next = bits(0);
            self.released1.d.next = bits(0);
        }
    }
}
