//! A fair arbiter.

use hdl_macros::{hdl, hdl_fn};
use rust_hdl::prelude::*;

use crate::parameters::{Checked, Parameters};

/// Grants one of `N` requesters; `I` must be the bits of a requester's index. Combinational from `request` to `grant`.
///
/// After an accepted grant, the requesters above the granted one have priority, then those from 0 up. So a requester that holds its request
/// is granted within `N` accepted grants. A grant that is not accepted may change when other requests arrive.
/// Planned levels for `N` = 64: mask 1, fill above the lowest request 3 (any preferred: beside it), choose 1, index 2: 7.
#[derive(LogicBlock, Default)]
pub struct RoundRobin<const N: usize, const I: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// After reset, requester 0 has the highest priority.
    pub reset: Signal<In, Bit>,

    pub request: Signal<In, Bits<N>>,
    /// The grant of this cycle is used.
    pub accept: Signal<In, Bit>,

    pub valid: Signal<Out, Bit>,
    /// One-hot, or zero without request.
    pub grant: Signal<Out, Bits<N>>,
    /// Position of the set bit of `grant`; 0 without request.
    pub index: Signal<Out, Bits<I>>,

    /// Requesters above the one served last.
    above: DFF<Bits<N>>,
}

impl<const N: usize, const I: usize> Parameters for RoundRobin<N, I> {
    fn check() {
        assert!(
            (2..=64).contains(&N),
            "RoundRobin of {N} requesters: use 2 to 64 (arbitrate more in two levels)"
        );
        assert!(
            I == clog2(N),
            "RoundRobin<{N}, {I}>: the index needs I = {} bits",
            clog2(N)
        );
    }
}

/// The requesters whose index has bit `bit` set.
pub(crate) fn requesters_with<const N: usize>(bit: usize) -> Bits<N> {
    (0..N).fold(Bits::default(), |mask: Bits<N>, i| {
        mask.replace_bit(i, i >> bit & 1 == 1)
    })
}

/// All positions above the lowest set bit: an OR of everything below, four shifts per level.
#[hdl_fn]
pub(crate) fn above_lowest<const N: usize>(x: Bits<N>) -> Bits<N> {
    let mut filled = x;
    for shift in [1u64, 4, 16] {
        filled = filled | (filled << shift) | (filled << (2 * shift)) | (filled << (3 * shift));
    }
    filled << 1
}

impl<const N: usize, const I: usize> Logic for RoundRobin<N, I> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, above);
        // Both searches run in parallel; at the end, the result depends on whether there is a preferred requester.
        let preferred = self.request.val() & self.above.q.val();
        let above_preferred = above_lowest(preferred);
        let above_request = above_lowest(self.request.val());
        let any_preferred = preferred.any();
        let grant = if any_preferred {
            preferred & !above_preferred
        } else {
            self.request.val() & !above_request
        };
        let mut index = bits::<I>(0);
        for bit in 0..I {
            index = index.replace_bit(bit, (grant & requesters_with::<N>(bit)).any());
        }
        self.grant.next = grant;
        self.index.next = index;
        self.valid.next = self.request.val().any();
        if self.accept.val() & self.request.val().any() {
            self.above.d.next = if any_preferred {
                above_preferred
            } else {
                above_request
            };
        }
        if self.reset.val() {
            self.above.d.next = bits(0);
        }
    }
}
