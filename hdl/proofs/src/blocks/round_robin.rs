//! The fair arbiter.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::RoundRobin;
use rust_hdl::prelude::*;

/// Requesters.
const N: usize = 6;

/// Properties of [`RoundRobin`] with 6 requesters.
#[derive(LogicBlock, Default)]
pub struct RoundRobinProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub request: Signal<In, Bits<N>>,
    pub accept: Signal<In, Bit>,
    /// The requester whose wait is counted.
    pub watched: Signal<In, Bits<3>>,

    /// `watched` does not change and is a requester.
    pub given_one_watched: Signal<Out, Bit>,

    /// At most one requester has the grant.
    pub holds_one_hot: Signal<Out, Bit>,
    /// The grant goes to a requester.
    pub holds_requested: Signal<Out, Bit>,
    /// There is a grant exactly when there is a request.
    pub holds_work_conserving: Signal<Out, Bit>,
    /// `index` is the position of the grant.
    pub holds_index: Signal<Out, Bit>,
    /// A requester that keeps its request waits for at most 5 grants to others.
    pub holds_bounded_wait: Signal<Out, Bit>,
    /// A requester can wait for 5 grants, so the bound is tight.
    pub reaches_longest_wait: Signal<Out, Bit>,

    arbiter: RoundRobin<N, 3>,
    before: DFF<Bits<3>>,
    started: DFF<Bit>,
    /// Accepted grants to others since the watched requester asks.
    waited: DFF<Bits<3>>,
}

impl Logic for RoundRobinProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, before, started, waited);
        clock_reset!(self, arbiter);
        let request = self.request.val();
        self.arbiter.request.next = request;
        self.arbiter.accept.next = self.accept.val();
        let grant = self.arbiter.grant.val();

        let watched = self.watched.val();
        self.before.d.next = watched;
        self.started.d.next = true;
        self.given_one_watched.next =
            (watched < (N as u64)) & (!self.started.q.val() | (watched == self.before.q.val()));

        self.holds_one_hot.next = !(grant & (grant - 1)).any();
        self.holds_requested.next = !(grant & !request).any();
        self.holds_work_conserving.next =
            (grant.any() == request.any()) & (self.arbiter.valid.val() == request.any());
        let index = self.arbiter.index.val();
        self.holds_index.next = if grant.any() {
            grant.get_bit(index.index())
        } else {
            !index.any()
        };

        let asks = request.get_bit(watched.index());
        let granted = grant.get_bit(watched.index());
        let waited = self.waited.q.val();
        if !asks | (granted & self.accept.val()) {
            self.waited.d.next = bits(0);
        } else if grant.any() & self.accept.val() & (waited != 7) {
            self.waited.d.next = waited + 1;
        }
        self.holds_bounded_wait.next = waited < (N as u64);
        self.reaches_longest_wait.next = waited == (N as u64 - 1);
        if self.reset.val() {
            self.waited.d.next = bits(0);
        }
    }
}
