//! Blocks that several tests use.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// Adds `add` to its sum while `enable` is high.
#[derive(LogicBlock, Default)]
pub struct Accumulator {
    pub clock: Signal<In, Clock>,
    pub add: Signal<In, Bits<40>>,
    pub enable: Signal<In, Bit>,
    pub total: Signal<Out, Bits<40>>,
    pub sum: DFF<Bits<40>>,
}

impl Logic for Accumulator {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, sum);
        if self.enable.val() {
            self.sum.d.next = self.sum.q.val() + self.add.val();
        }
        self.total.next = self.sum.q.val();
    }
}

/// Has two accumulators. The second one adds the total of the first one in cycles in which the first one does not add.
#[derive(LogicBlock, Default)]
pub struct TwoAccumulators {
    pub clock: Signal<In, Clock>,
    pub add: Signal<In, Bits<40>>,
    pub enable: Signal<In, Bit>,
    pub total: Signal<Out, Bits<40>>,
    pub first: Accumulator,
    pub second: Accumulator,
}

impl Logic for TwoAccumulators {
    #[hdl]
    fn update(&mut self) {
        self.first.clock.next = self.clock.val();
        self.second.clock.next = self.clock.val();
        self.first.add.next = self.add.val();
        self.first.enable.next = self.enable.val();
        self.second.add.next = self.first.total.val();
        self.second.enable.next = !self.enable.val();
        self.total.next = self.second.total.val();
    }
}
