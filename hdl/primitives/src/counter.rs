//! An event counter.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// Counts in `N` bits (16 to 64) by up to 65,535 per cycle. Made by [`Counter::wrapping`] (also the default) or [`Counter::saturating`].
#[derive(LogicBlock)]
pub struct Counter<const N: usize> {
    pub clock: Signal<In, Clock>,
    /// Back to zero.
    pub reset: Signal<In, Bit>,
    /// Number of events in this cycle.
    pub add: Signal<In, Bits<16>>,
    /// Sum of all cycles before this one.
    pub total: Signal<Out, Bits<N>>,
    sum: DFF<Bits<N>>,
    _saturates: bool,
}

impl<const N: usize> Counter<N> {
    /// A counter modulo 2^`N`: readers subtract two readings.
    pub fn wrapping() -> Self {
        Self::new(false)
    }

    /// A counter that stays at 2^`N` - 1.
    pub fn saturating() -> Self {
        Self::new(true)
    }

    fn new(saturates: bool) -> Self {
        assert!((16..=64).contains(&N), "Counter of {N} bits: use 16 to 64");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            add: Default::default(),
            total: Default::default(),
            sum: Default::default(),
            _saturates: saturates,
        }
    }
}

impl<const N: usize> Default for Counter<N> {
    fn default() -> Self {
        Self::wrapping()
    }
}

impl<const N: usize> Logic for Counter<N> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, sum);
        let next = self.sum.q.val() + bit_cast::<N, 16>(self.add.val());
        if self._saturates {
            self.sum.d.next = if next < self.sum.q.val() {
                Bits::<N>::mask()
            } else {
                next
            };
        } else {
            self.sum.d.next = next;
        }
        self.total.next = self.sum.q.val();
        if self.reset.val() {
            self.sum.d.next = bits(0);
        }
    }
}
