//! Queue of the queue pairs that may have work.

use hdl_macros::{clock, clock_reset, hdl};
use hdl_primitives::bundles::QpSrc;
use hdl_primitives::{BlockFifo, BypassRam, Checked, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::{Qpn, QPN_BITS};

/// Holds each of 2^`Q` = `K` queue pairs at most once (`C` = `Q` + 1), in the order in which they were added. A queue pair that is queued already is not
/// added again. When a port comes up or goes down, every queue pair is added.
///
/// Whether a queue pair is queued is told by two memories, because one enters and another one leaves in a cycle: it is if `raised` and `lowered` differ. They are cleared in
/// the `K` cycles after reset, in which a queue pair that is named is not added. Nothing names one then: the message table takes as long.
///
/// A queue pair leaves in the cycle after it was taken, so one may be taken every second cycle. One that is named meanwhile is still queued: whoever took it looks for its work later.
///
/// A queue pair enters in the cycle after it was named, when its bits have been read. The queue never overflows, so it has no back-pressure. Levels: 8 (block RAM 4, word written meanwhile 1, comparison 1, FIFO 2).
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

    /// A queue pair was named in the last cycle.
    named: DFF<Bit>,
    /// The queue pair whose bits have been read: the one that was named, or else the next one of the sweep.
    read_qp: DFF<Bits<Q>>,
    /// The top bit is that of `raised`, which `lowered` becomes when the queue pair leaves.
    queue: BlockFifo<Bits<C>, Q, C>,
    raised: BypassRam<Bit, Q>,
    lowered: BypassRam<Bit, Q>,
    /// The first queue pair was taken in the last cycle, and leaves in this one: that it is taken is known late.
    taken: DFF<Bit>,
    /// The memories are being cleared, by `sweep`.
    clearing: DFF<Bit>,
    planes: DFF<Bits<2>>,
    /// The queue pair to add next because a port changed; the top bit says that there is none.
    sweep: DFF<Bits<C>>,
}

impl<const Q: usize, const C: usize, const K: usize> Parameters for WakeQueue<Q, C, K> {
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&Q) && C == Q + 1 && K == 1 << Q,
            "WakeQueue<{Q}, {C}, {K}>: use Q of 1 to {QPN_BITS}, C = Q + 1 and K = 2^Q"
        );
    }
}

impl<const Q: usize, const C: usize, const K: usize> Logic for WakeQueue<Q, C, K> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, named, read_qp, taken, clearing, planes, sweep);
        clock!(self, clock, raised, lowered);
        clock_reset!(self, queue);
        let clearing = self.clearing.q.val();
        let sweep = self.sweep.q.val();
        let swept_qp = sweep.get_bits::<Q>(0);

        // read
        let named = self.named.q.val();
        let sweeping = !sweep.get_bit(Q);
        let swept = sweeping & !named;
        let next_sweep = if !clearing & (self.plane_up.val() != self.planes.q.val()) {
            bits(0)
        } else if swept {
            sweep + 1
        } else {
            sweep
        };
        let next_qp = if self.in_valid.val() {
            self.in_qp.val().get_bits::<Q>(0)
        } else {
            next_sweep.get_bits::<Q>(0)
        };
        self.named.d.next = self.in_valid.val() & !clearing & !self.reset.val();
        self.read_qp.d.next = next_qp;
        self.raised.read_address.next = next_qp;
        self.lowered.read_address.next = next_qp;
        self.sweep.d.next = next_sweep;
        self.planes.d.next = if clearing {
            self.planes.q.val()
        } else {
            self.plane_up.val()
        };
        self.clearing.d.next = clearing & !swept_qp.all();

        // add
        let qp = self.read_qp.q.val();
        let raised = !self.lowered.read_data.val();
        let queued = self.raised.read_data.val() == raised;
        let new = (named | swept) & !queued & !clearing;
        self.queue.in_.valid.next = new;
        self.queue.in_.data.next =
            bit_cast::<C, Q>(qp) | (bit_cast::<C, 1>(raised.into()) << (Q as u64));
        self.raised.write_enable.next = new | clearing;
        self.raised.write_address.next = if clearing { swept_qp } else { qp };
        self.raised.write_data.next = raised & !clearing;

        // remove
        let offered = self.queue.out.valid.val() & !self.taken.q.val();
        self.out.valid.next = offered;
        self.taken.d.next = offered & self.out.ready.val();
        let first = self.queue.out.data.val();
        self.out.qp.next = bit_cast::<QPN_BITS, Q>(first.get_bits::<Q>(0));
        self.queue.out.ready.next = self.taken.q.val();
        self.lowered.write_enable.next = self.taken.q.val() | clearing;
        self.lowered.write_address.next = if clearing {
            swept_qp
        } else {
            first.get_bits::<Q>(0)
        };
        self.lowered.write_data.next = first.get_bit(Q) & !clearing;
        if self.reset.val() {
            self.taken.d.next = false;
            self.clearing.d.next = true;
            self.planes.d.next = self.plane_up.val();
            self.sweep.d.next = bits(0);
        }
    }
}
