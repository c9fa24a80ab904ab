//! Payloads of one lane that have left or reached memory, and whose reports have not been made.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::Snk;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::FlushedBatch;

/// Both kinds of credits can be as many as the entries of the queue and the tokens in flight together, less than 1,024.
const CREDIT_BITS: usize = 10;

#[hdl_fn]
fn bit_if(set: Bit) -> Bits<CREDIT_BITS> {
    bit_cast::<CREDIT_BITS, 1>(set.into())
}

/// Says whether the outcome at the head of a lane's queue may leave. The place commands of a lane that need a flush, and those that need none, are each
/// reported in order, so a count of each kind is enough.
///
/// A failed batch is accepted when no good credit is left, and the next good one when its failures are used. LUT levels: 3 (10-bit sums).
#[derive(LogicBlock, Default)]
pub struct PlacedCredits {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// One cycle: a command that needs no flush has left.
    pub sent: Signal<In, Bit>,
    /// Commands that need a flush have reached memory, or failed to.
    pub flushed: Snk<FlushedBatch>,

    // The head of the queue.
    pub placed: Signal<In, Bit>,
    pub flush: Signal<In, Bit>,
    /// Its payload has left, or has reached memory if it needs a flush.
    pub arrived: Signal<Out, Bit>,
    /// With `arrived`: the flush of its payload failed.
    pub lost: Signal<Out, Bit>,
    pub leaves: Signal<In, Bit>,

    sent_credits: DFF<Bits<CREDIT_BITS>>,
    flush_credits: DFF<Bits<CREDIT_BITS>>,
    /// The flush credits are of failed batches.
    failing: DFF<Bit>,
}

impl Logic for PlacedCredits {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, sent_credits, flush_credits, failing);
        let sent = self.sent_credits.q.val();
        let flushed = self.flush_credits.q.val();
        let failing = self.failing.q.val();
        let placed = self.placed.val();
        let flush = placed & self.flush.val();

        self.arrived.next = !placed | (flush & flushed.any()) | (!self.flush.val() & sent.any());
        self.lost.next = flush & failing;

        let batch = self.flushed.record.val();
        let accepts = !flushed.any() | (batch.failed == failing);
        let takes = self.flushed.valid.val() & accepts;
        self.flushed.ready.next = accepts;
        if takes {
            self.failing.d.next = batch.failed;
        }
        // What is earned is known late in a cycle, so it selects between two sums.
        let leaves = self.leaves.val();
        let flush_kept = flushed - bit_if(leaves & flush);
        let sent_kept = sent - bit_if(leaves & placed & !flush);
        self.flush_credits.d.next = if takes {
            flush_kept + batch.commands
        } else {
            flush_kept
        };
        self.sent_credits.d.next = if self.sent.val() {
            sent_kept + 1
        } else {
            sent_kept
        };

        if self.reset.val() {
            self.sent_credits.d.next = bits(0);
            self.flush_credits.d.next = bits(0);
            self.failing.d.next = false;
        }
    }
}
