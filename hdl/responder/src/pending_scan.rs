//! Says when the pending packets of each queue pair are visited (reference: `Responder::next_visit`).

use hdl_macros::hdl;
use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::{Qpn, QPN_BITS};
use stellar_wire::time::{visit_period_log2, visit_step_log2};

use crate::bundles::VisitSrc;

/// Times for a visit in a period, less one: all ones.
const fn last_time(queue_pair_bits: usize) -> u64 {
    (1 << (visit_period_log2(queue_pair_bits) - visit_step_log2(queue_pair_bits))) - 1
}

/// Offers each of 2^`Q` queue pairs once in a period of 2^[`visit_period_log2`] ticks of 8 ns, queue pair n when the ticks modulo that period are n * 2^[`visit_step_log2`]. An offer that is
/// not accepted for longer than until the next one delays that, and no queue pair is left out unless the offers stop for a whole period.
///
/// After a reset it first offers each queue pair once, as fast as they are accepted, to have forgotten what was pending before: the memory of the responder keeps its contents.
/// Levels: 4 (comparison of 16 bits).
#[derive(LogicBlock, Default)]
pub struct PendingScan<const Q: usize = 10> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,

    pub visit: VisitSrc,

    /// The queue pair whose time it is, one cycle late.
    due: DFF<Qpn>,
    /// The queue pair that is offered, or was offered last, and its port: the ports alternate from period to period.
    visited: DFF<Qpn>,
    port: DFF<Bit>,
    offers: DFF<Bit>,
    /// Queue pairs from before the reset are left, not counting the offer.
    sweeps: DFF<Bit>,
    /// The offer is one of these.
    forgets: DFF<Bit>,
}

impl<const Q: usize> Parameters for PendingScan<Q> {
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&Q),
            "PendingScan<{Q}>: use Q of 1 to {QPN_BITS}"
        );
    }
}

impl<const Q: usize> Logic for PendingScan<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, due, port, visited, offers, sweeps, forgets);
        let now = self.now.val();
        let last = bits::<QPN_BITS>(last_time(Q));
        self.due.d.next = now.get_bits::<QPN_BITS>(visit_step_log2(Q)) & last;
        let visited = self.visited.q.val();
        let sweeps = self.sweeps.q.val();
        let is_behind = sweeps | (visited != self.due.q.val());
        let next = (visited + 1) & last;
        let moves = !self.offers.q.val() | self.visit.ready.val();
        if moves {
            self.offers.d.next = is_behind & !(next >> (Q as u64)).any();
        }
        if moves & is_behind {
            self.visited.d.next = next;
            self.port.d.next = now.get_bit(visit_period_log2(Q));
            self.forgets.d.next = sweeps;
            self.sweeps.d.next = sweeps & next.any();
        }
        self.visit.valid.next = self.offers.q.val();
        self.visit.qp.next = visited;
        self.visit.port.next = self.port.q.val();
        self.visit.forgets.next = self.forgets.q.val();
        if self.reset.val() {
            self.offers.d.next = false;
            self.sweeps.d.next = true;
            self.visited.d.next = bits(0);
        }
    }
}
