//! A fair arbiter that chooses a cycle ahead.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::parameters::{Checked, Parameters};
use crate::round_robin::{above_lowest, requesters_with, RoundRobin};

/// Grants one of `N` requesters in the order of [`RoundRobin`], chosen in the cycle before: for so many that the choice and what follows from it do not fit one
/// cycle. `I` must be the bits of a requester's index.
///
/// A requester that has withdrawn its request is not granted; then nobody is, until the next choice. Nor is anybody in the cycle after an accepted grant, because the
/// choice is out of date. A requester that holds its request is granted within `N` accepted grants.
/// Planned levels for `N` = 64: mask 1, fill above the lowest request 3, choose 1 to the register; behind it mask 1 and OR 2, beside the index 2 or a fill 3.
#[derive(LogicBlock, Default)]
pub struct RoundRobinAhead<const N: usize, const I: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// After reset, requester 0 has the highest priority.
    pub reset: Signal<In, Bit>,

    pub request: Signal<In, Bits<N>>,
    /// The grant of this cycle is used.
    pub accept: Signal<In, Bit>,

    pub valid: Signal<Out, Bit>,
    /// One-hot. Valid with `valid`.
    pub grant: Signal<Out, Bits<N>>,
    /// Position of the bit of `grant`. Valid with `valid`.
    pub index: Signal<Out, Bits<I>>,

    /// The choice of the last cycle.
    chosen: DFF<Bits<N>>,
    /// Requesters above the one served last.
    above: DFF<Bits<N>>,
    /// A grant was accepted in the last cycle.
    served: DFF<Bit>,
}

impl<const N: usize, const I: usize> Parameters for RoundRobinAhead<N, I> {
    fn check() {
        RoundRobin::<N, I>::check();
    }
}

impl<const N: usize, const I: usize> Logic for RoundRobinAhead<N, I> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, chosen, above, served);
        // choose
        let request = self.request.val();
        let preferred = request & self.above.q.val();
        self.chosen.d.next = if preferred.any() {
            preferred & !above_lowest(preferred)
        } else {
            request & !above_lowest(request)
        };

        // grant
        let chosen = self.chosen.q.val();
        let grant = chosen & request;
        let valid = grant.any() & !self.served.q.val();
        let mut index = bits::<I>(0);
        for bit in 0..I {
            index = index.replace_bit(bit, (chosen & requesters_with::<N>(bit)).any());
        }
        self.grant.next = grant;
        self.index.next = index;
        self.valid.next = valid;
        let serves = self.accept.val() & valid;
        if serves {
            self.above.d.next = above_lowest(chosen);
        }
        self.served.d.next = serves;
        if self.reset.val() {
            self.chosen.d.next = bits(0);
            self.above.d.next = bits(0);
            self.served.d.next = false;
        }
    }
}
