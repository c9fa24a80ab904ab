//! A fair arbiter.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// Grants one of `N` requesters; `I` must be the bits of a requester's index. Combinational from `request` to `grant`.
///
/// After a grant that was accepted, the requesters above the granted one come first, then those from 0 up: who keeps requesting is
/// served within `N` accepted grants. A grant that is not accepted may change while others start to request.
/// Planned levels for `N` = 64: mask 1, any 3, choose 1, lowest set bit 2 (carry chain): 7.
#[derive(LogicBlock)]
pub struct RoundRobin<const N: usize, const I: usize> {
    pub clock: Signal<In, Clock>,
    /// Requester 0 comes first again.
    pub reset: Signal<In, Bit>,

    pub request: Signal<In, Bits<N>>,
    /// The grant of this clock is used.
    pub accept: Signal<In, Bit>,

    pub valid: Signal<Out, Bit>,
    /// One-hot, or zero without request.
    pub grant: Signal<Out, Bits<N>>,
    /// Position of the set bit of `grant`; 0 without request.
    pub index: Signal<Out, Bits<I>>,

    /// Requesters above the one served last.
    above: DFF<Bits<N>>,
}

impl<const N: usize, const I: usize> Default for RoundRobin<N, I> {
    fn default() -> Self {
        assert!(
            (2..=64).contains(&N),
            "RoundRobin of {N} requesters: use 2 to 64 (arbitrate more in two levels)"
        );
        assert!(
            I == clog2(N),
            "RoundRobin<{N}, {I}>: the index needs I = {} bits",
            clog2(N)
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            request: Default::default(),
            accept: Default::default(),
            valid: Default::default(),
            grant: Default::default(),
            index: Default::default(),
            above: Default::default(),
        }
    }
}

/// The requesters whose index has bit `bit` set.
fn requesters_with<const N: usize>(bit: usize) -> Bits<N> {
    (0..N).fold(Bits::default(), |mask: Bits<N>, i| {
        mask.replace_bit(i, i >> bit & 1 == 1)
    })
}

impl<const N: usize, const I: usize> Logic for RoundRobin<N, I> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, above);
        let preferred = self.request.val() & self.above.q.val();
        let candidates = if preferred.any() {
            preferred
        } else {
            self.request.val()
        };
        let negated = !candidates + 1;
        let grant = candidates & negated;
        let mut index = bits::<I>(0);
        for bit in 0..I {
            index = index.replace_bit(bit, (grant & requesters_with::<N>(bit)).any());
        }
        self.grant.next = grant;
        self.index.next = index;
        self.valid.next = self.request.val().any();
        if self.accept.val() & self.request.val().any() {
            self.above.d.next = candidates ^ negated;
        }
        if self.reset.val() {
            self.above.d.next = bits(0);
        }
    }
}
