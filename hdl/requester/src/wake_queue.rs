//! Queue of the queue pairs that may have work.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::bundles::QpSrc;
use hdl_primitives::{BlockFifo, Checked, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

/// Holds each of 2^`Q` = `K` queue pairs at most once (`C` = `Q` + 1), in the order in which they were added. A queue pair that is queued already is not
/// added again. When a port comes up or goes down, every queue pair is added.
///
/// The queue never overflows, so it has no back-pressure. Levels: 5 (one of `K` bits).
#[derive(LogicBlock, Default)]
pub struct WakeQueue<const Q: usize, const C: usize, const K: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub in_valid: Signal<In, Bit>,
    pub in_qp: Signal<In, Qpn>,
    /// Bit p: port p is up.
    pub plane_up: Signal<In, Bits<2>>,

    pub out: QpSrc,

    queue: BlockFifo<Bits<Q>, Q, C>,
    queued: DFF<Bits<K>>,
    planes: DFF<Bits<2>>,
    /// The queue pair to add next because a port changed; the top bit says that there is none.
    sweep: DFF<Bits<C>>,
}

impl<const Q: usize, const C: usize, const K: usize> Parameters for WakeQueue<Q, C, K> {
    fn check() {
        assert!(
            (1..=10).contains(&Q) && C == Q + 1 && K == 1 << Q,
            "WakeQueue<{Q}, {C}, {K}>: use Q of 1 to 10, C = Q + 1 and K = 2^Q"
        );
    }
}

impl<const Q: usize, const C: usize, const K: usize> Logic for WakeQueue<Q, C, K> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, queued, planes, sweep);
        clock_reset!(self, queue);

        // add
        let sweeping = !self.sweep.q.val().get_bit(Q);
        let swept = sweeping & !self.in_valid.val();
        let qp = if self.in_valid.val() {
            self.in_qp.val().get_bits::<Q>(0)
        } else {
            self.sweep.q.val().get_bits::<Q>(0)
        };
        let queued = self.queued.q.val();
        let new = (self.in_valid.val() | swept) & !queued.get_bit(qp.index());
        self.queue.in_.valid.next = new;
        self.queue.in_.data.next = qp;
        self.planes.d.next = self.plane_up.val();
        if self.plane_up.val() != self.planes.q.val() {
            self.sweep.d.next = bits(0);
        } else if swept {
            self.sweep.d.next = self.sweep.q.val() + 1;
        }

        // remove
        self.out.valid.next = self.queue.out.valid.val();
        self.out.qp.next = bit_cast::<10, Q>(self.queue.out.data.val());
        self.queue.out.ready.next = self.out.ready.val();
        let dequeues = self.queue.out.valid.val() & self.out.ready.val();
        let queued_after_dequeue = if dequeues {
            queued.replace_bit(self.queue.out.data.val().index(), false)
        } else {
            queued
        };
        self.queued.d.next = if new {
            queued_after_dequeue.replace_bit(qp.index(), true)
        } else {
            queued_after_dequeue
        };
        if self.reset.val() {
            self.queued.d.next = bits(0);
            self.planes.d.next = self.plane_up.val();
            self.sweep.d.next = bits::<C>(1) << (Q as u64);
        }
    }
}
