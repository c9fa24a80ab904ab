//! Queue pairs that wait for a block of the window's pool.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::StreamSkid;
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

use crate::wake_queue::WakeQueue;

/// A queue pair that was woken for a block has 63 cycles to take it before the next one is woken. So a block does not wake all that wait for it.
const PAUSE_BITS: usize = 6;

/// Queue of the queue pairs, of 2^`Q` = `K`, that have something to send and found no block. While a block is free, one of them is woken every 64 cycles. `C` = `Q` + 1. Levels: 2.
#[derive(LogicBlock, Default)]
pub struct StarvedQueue<const Q: usize, const C: usize, const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// The queue pair found no block.
    pub starved: Signal<In, Bit>,
    pub starved_qp: Signal<In, Qpn>,
    /// The pool has a free block.
    pub has_free: Signal<In, Bit>,
    /// Another queue pair is woken in this cycle.
    pub defer: Signal<In, Bit>,
    /// High for one cycle: this queue pair is woken.
    pub wakes: Signal<Out, Bit>,
    pub wakes_qp: Signal<Out, Qpn>,

    waiting: WakeQueue<Q, C, K>,
    /// The first of them: a register behind the block RAM of the queue.
    first: StreamSkid<Qpn>,
    /// Cycles until the next one may be woken.
    pause: DFF<Bits<PAUSE_BITS>>,
    /// A cycle ago there was a first one, and a free block for it. It stays the first until it is woken.
    may_wake: DFF<Bit>,
    /// The last operation starved: a register at the end of the transmit flow.
    starved_held: DFF<Bit>,
    starved_qp_held: DFF<Qpn>,
}

impl<const Q: usize, const C: usize, const K: usize> Logic for StarvedQueue<Q, C, K> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, pause, may_wake, starved_held, starved_qp_held);
        clock_reset!(self, waiting, first);
        let pauses = self.pause.q.val().any();
        let wakes = self.may_wake.q.val() & !self.defer.val();
        self.may_wake.d.next =
            self.first.out.valid.val() & self.has_free.val() & !pauses & !wakes & !self.reset.val();
        self.starved_held.d.next = self.starved.val() & !self.reset.val();
        self.starved_qp_held.d.next = self.starved_qp.val();
        self.waiting.in_valid.next = self.starved_held.q.val();
        self.waiting.in_qp.next = self.starved_qp_held.q.val();
        self.waiting.plane_up.next = bits::<2>(3);
        self.first.in_.valid.next = self.waiting.out.valid.val();
        self.first.in_.data.next = self.waiting.out.qp.val();
        self.waiting.out.ready.next = self.first.in_.ready.val();
        self.first.out.ready.next = wakes;
        if wakes {
            self.pause.d.next = Bits::<PAUSE_BITS>::mask();
        } else if pauses {
            self.pause.d.next = self.pause.q.val() - 1;
        }
        self.wakes.next = wakes;
        self.wakes_qp.next = self.first.out.data.val();
    }
}
