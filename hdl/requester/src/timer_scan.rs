//! Timers of all queue pairs.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::{BypassRam, Checked, LutRam, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::{Qpn, QPN_BITS};

use crate::bundles::{DeadlineSnk, DueSrc};
use crate::deadline::reached;

/// Cycles from the check of a deadline to its offer.
pub const OFFER_CYCLES: u64 = 1;
/// Returns the group of a queue pair. The queue pairs of a group have the same low bits.
#[hdl_fn]
fn group<const G: usize>(qp: Qpn) -> Bits<G> {
    qp.get_bits::<G>(0)
}

/// Returns the bit of a queue pair in the word of its group, one-hot.
#[hdl_fn]
fn member<const G: usize>(qp: Qpn) -> Bits<32> {
    bits::<32>(1) << qp.get_bits::<5>(G)
}

/// Holds one deadline for each of 2^`Q` queue pairs, `Q` at most [`QPN_BITS`], in `N` = 2^`G` groups of up to 32. Offers the deadlines that `now` has reached, and disarms a timer when its offer is
/// accepted.
///
/// A set is accepted in every cycle, and takes effect in the next one. The scan checks one queue pair per cycle, and stops while an offer is not accepted. If
/// offers are accepted at once, a deadline is offered at most 2^`Q` + [`OFFER_CYCLES`] cycles after it was reached, or after it was set, if it was reached
/// before. This holds for any number of timers and any sequence of sets.
///
/// **Arming the timer of the queue pair that is offered** cancels the offer from the next cycle on, whether it was accepted or not. In the cycle in which the
/// timer is armed, the offer still refers to the old deadline, which has passed. If it is accepted in that cycle, the old deadline ends and the new one stays
/// armed. So `due_valid` may fall without `due_ready`. A receiver that acts in the cycle in which it accepts never acts on a deadline that changed before.
///
/// A timer is armed if two bits differ: one is written by sets only, the other by disarms only. So both may happen in one cycle. The bits are stored in words
/// of 32 queue pairs. A word counts as disarmed until its first set after reset, so no initialisation is needed. Levels: 5 (armed: LUT RAM 1, choice of 32 3;
/// both and hold 1).
#[derive(LogicBlock, Default)]
pub struct TimerScan<const Q: usize = 10, const G: usize = 5, const N: usize = 32> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Arms and disarms timers. A deadline is less than 2^31 ticks away from `now`, modulo 2^32.
    pub deadline: DeadlineSnk,

    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,

    // Expired timers.
    pub due: DueSrc,

    deadlines: BypassRam<Bits<32>, Q>,
    /// Bits written by sets: one copy per reader.
    set_words: [LutRam<Bits<32>, G>; 2],
    /// Bits written by disarms: one copy per reader.
    taken_words: [LutRam<Bits<32>, G>; 3],
    /// Groups with at least one set since reset.
    known: DFF<Bits<N>>,
    /// The queue pair whose deadline is at the read port.
    scanned: DFF<Bits<Q>>,
    offered: DFF<Bit>,
    offer: DFF<Qpn>,
}

impl<const Q: usize, const G: usize, const N: usize> Parameters for TimerScan<Q, G, N> {
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&Q),
            "TimerScan<{Q}>: use Q of 1 to {QPN_BITS} (2 to 65,536 queue pairs)"
        );
        assert!(
            Q <= G + 5 && N == 1 << G,
            "TimerScan<{Q}, {G}, {N}>: a group has 32 queue pairs at most, so use G of Q - 5 or more, and N = 2^G"
        );
    }
}

impl<const Q: usize, const G: usize, const N: usize> Logic for TimerScan<Q, G, N> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, known, scanned, offered, offer);
        clock!(self, clock, deadlines);
        for i in 0..2 {
            self.set_words[i].clock.next = self.clock.val();
        }
        for i in 0..3 {
            self.taken_words[i].clock.next = self.clock.val();
        }
        let known = self.known.q.val();
        let scanned = bit_cast::<QPN_BITS, Q>(self.scanned.q.val());
        let offer = self.offer.q.val();
        let sets = self.deadline.valid.val();
        let set_qp = bit_cast::<QPN_BITS, Q>(self.deadline.qp.val().get_bits::<Q>(0));
        let withdraws = sets & (set_qp == offer);
        let moves = !self.offered.q.val() | self.due.ready.val() | withdraws;

        // set
        let own = member::<G>(set_qp);
        self.set_words[0].read_address.next = group::<G>(set_qp);
        self.taken_words[0].read_address.next = group::<G>(set_qp);
        let taken = self.taken_words[0].read_data.val();
        let others = if known.get_bit(group::<G>(set_qp).index()) {
            self.set_words[0].read_data.val()
        } else {
            taken
        };
        let armed = if self.deadline.armed.val() {
            !taken
        } else {
            taken
        };
        for i in 0..2 {
            self.set_words[i].write_enable.next = sets;
            self.set_words[i].write_address.next = group::<G>(set_qp);
            self.set_words[i].write_data.next = (others & !own) | (armed & own);
        }
        self.deadlines.write_enable.next = sets;
        self.deadlines.write_address.next = set_qp.get_bits::<Q>(0);
        self.deadlines.write_data.next = self.deadline.record.val();
        if sets {
            self.known.d.next = known | (bits::<N>(1) << group::<G>(set_qp));
        }

        // scan
        let next = self.scanned.q.val() + 1;
        self.deadlines.read_address.next = if moves { next } else { self.scanned.q.val() };
        self.set_words[1].read_address.next = group::<G>(scanned);
        self.taken_words[1].read_address.next = group::<G>(scanned);
        let armed = self.set_words[1].read_data.val() ^ self.taken_words[1].read_data.val();
        let is_armed = known.get_bit(group::<G>(scanned).index())
            & armed.get_bit(scanned.get_bits::<5>(G).index());
        let is_due = is_armed
            & reached(self.now.val(), self.deadlines.read_data.val())
            & !(sets & (set_qp == scanned));
        if moves {
            self.scanned.d.next = next;
            self.offered.d.next = is_due;
        }
        // The queue pair stays until the next offer, so that what reads it rests.
        if moves & is_due {
            self.offer.d.next = scanned;
        }

        // disarm
        self.taken_words[2].read_address.next = group::<G>(offer);
        let disarmed = self.taken_words[2].read_data.val() ^ member::<G>(offer);
        for i in 0..3 {
            self.taken_words[i].write_enable.next =
                self.offered.q.val() & self.due.ready.val() & !withdraws;
            self.taken_words[i].write_address.next = group::<G>(offer);
            self.taken_words[i].write_data.next = disarmed;
        }

        self.due.valid.next = self.offered.q.val();
        self.due.qp.next = offer;
        if self.reset.val() {
            self.known.d.next = bits(0);
            self.offered.d.next = false;
        }
    }
}
