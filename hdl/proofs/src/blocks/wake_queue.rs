//! The queue of the queue pairs that may have work.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::bundles::QpSrc;
use hdl_requester::WakeQueue;
use rust_hdl::prelude::*;
use stellar_wire::hw::{Qpn, QPN_BITS};

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

    /// `watched` does not change.
    pub given_one_watched: Signal<Out, Bit>,

    /// As long as no port came up or went down, a queue pair is output only if it was added since its last output: it is inside at most once. It is inside until the cycle after its output.
    pub holds_once: Signal<Out, Bit>,
    /// Behind a queue pair that was added, at most 3 others leave before it: none is lost, and none waits for ever.
    pub holds_no_loss: Signal<Out, Bit>,
    /// When there is a queue pair inside, one is offered in this cycle or in the next two.
    pub holds_offer: Signal<Out, Bit>,
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
        dff_setup!(self, clock, cleared, taken);
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
        let adds = is_cleared & named & !self.taken.q.val();
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
        self.reaches_longest_wait.next = self.passed.q.val() == 3;
        if self.reset.val() {
            self.cleared.d.next = bits(0);
            self.added.d.next = false;
            self.taken.d.next = false;
            self.swept.d.next = false;
            self.passed.d.next = bits(0);
            self.silent.d.next = bits(0);
        }
    }
}
