//! A delay line.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// A delay line: `delayed` is `data` of `N` cycles ago. It has no reset, because it is flushed after `N` cycles, and synthesis may use shift-register LUTs.
#[derive(LogicBlock)]
pub struct Delay<T: Synth, const N: usize> {
    pub clock: Signal<In, Clock>,
    pub data: Signal<In, T>,
    pub delayed: Signal<Out, T>,
    stage: [DFF<T>; N],
}

impl<T: Synth, const N: usize> Default for Delay<T, N> {
    fn default() -> Self {
        assert!(N > 0, "Delay by 0 clocks: use a wire");
        Self {
            clock: Default::default(),
            data: Default::default(),
            delayed: Default::default(),
            stage: std::array::from_fn(|_| Default::default()),
        }
    }
}

impl<T: Synth, const N: usize> Logic for Delay<T, N> {
    #[hdl]
    fn update(&mut self) {
        for i in 0..N {
            self.stage[i].clock.next = self.clock.val();
            if i == 0 {
                self.stage[i].d.next = self.data.val();
            } else {
                self.stage[i].d.next = self.stage[i - 1].q.val();
            }
        }
        self.delayed.next = self.stage[N - 1].q.val();
    }
}
