//! The turns of flushed queue pairs.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::BlockFifo;
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

/// Minimum number of cycles between two flush steps, so that a flush leaves the unit to requests.
pub const FLUSH_INTERVAL: u64 = 31;

/// Queue pairs that are being flushed take turns, each at most once in the queue. A turn is due at the earliest [`FLUSH_INTERVAL`] cycles after the last one has ended.
/// There are places for 2^`F` queue pairs, `D` = `F` + 1. Levels: 2.
#[derive(LogicBlock, Default)]
pub struct FlushTurns<const F: usize = 10, const D: usize = 11> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// No turn starts: a completion waits to be accepted.
    pub hold: Signal<In, Bit>,
    /// The queue pair `qp` may have its turn, and has it.
    pub due: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub take: Signal<In, Bit>,
    /// One cycle: the turn has ended.
    pub ends: Signal<In, Bit>,
    /// One cycle: this queue pair needs another turn.
    pub queues: Signal<In, Bit>,
    pub queued_qp: Signal<In, Qpn>,

    queue: BlockFifo<Qpn, F, D>,
    pause: DFF<Bits<5>>,
}

impl<const F: usize, const D: usize> Logic for FlushTurns<F, D> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, pause);
        clock_reset!(self, queue);
        assert!(
            !self.queue.in_.valid.val() || self.queue.in_.ready.val(),
            "a queue pair waits for more than one visit"
        );
        let pauses = self.pause.q.val().any();
        if pauses {
            self.pause.d.next = self.pause.q.val() - 1;
        }
        if self.ends.val() {
            self.pause.d.next = bits(FLUSH_INTERVAL);
        }
        self.due.next = self.queue.out.valid.val() & !pauses & !self.hold.val();
        self.qp.next = self.queue.out.data.val();
        self.queue.out.ready.next = self.take.val();
        self.queue.in_.valid.next = self.queues.val();
        self.queue.in_.data.next = self.queued_qp.val();
        if self.reset.val() {
            self.pause.d.next = bits(0);
        }
    }
}
