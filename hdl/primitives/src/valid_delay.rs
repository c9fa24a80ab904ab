//! A delay line for a stream that is never stalled.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::delay::Delay;

/// Delays a stream by `N` cycles, for data that accompanies a block of that latency. `reset` discards the delayed items at once.
#[derive(LogicBlock)]
pub struct ValidDelay<T: Synth, const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub in_valid: Signal<In, Bit>,
    pub in_data: Signal<In, T>,
    pub out_valid: Signal<Out, Bit>,
    /// The delayed `in_data`. It has no meaning without `out_valid`.
    pub out_data: Signal<Out, T>,
    valid: [DFF<Bit>; N],
    data: Delay<T, N>,
}

impl<T: Synth, const N: usize> Default for ValidDelay<T, N> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            in_valid: Default::default(),
            in_data: Default::default(),
            out_valid: Default::default(),
            out_data: Default::default(),
            valid: std::array::from_fn(|_| Default::default()),
            data: Default::default(),
        }
    }
}

impl<T: Synth, const N: usize> Logic for ValidDelay<T, N> {
    #[hdl]
    fn update(&mut self) {
        self.data.clock.next = self.clock.val();
        self.data.data.next = self.in_data.val();
        for i in 0..N {
            self.valid[i].clock.next = self.clock.val();
            let before = if i == 0 {
                self.in_valid.val()
            } else {
                self.valid[i - 1].q.val()
            };
            self.valid[i].d.next = before & !self.reset.val();
        }
        self.out_valid.next = self.valid[N - 1].q.val();
        self.out_data.next = self.data.delayed.val();
    }
}
