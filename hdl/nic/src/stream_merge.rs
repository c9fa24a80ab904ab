//! Two streams become one.

use hdl_macros::hdl;
use hdl_primitives::StreamSkid;
use rust_hdl::prelude::*;

/// Takes turns between two streams of `T` that both wait; each stays in its own order. One item per clock, latency 1; an item on offer stays.
/// LUT levels: 3 (turn, choice).
#[derive(LogicBlock, Default)]
pub struct StreamMerge<T: Synth> {
    pub clock: Signal<In, Clock>,
    /// Forgets what is held.
    pub reset: Signal<In, Bit>,

    pub in0_valid: Signal<In, Bit>,
    pub in0_data: Signal<In, T>,
    pub in0_ready: Signal<Out, Bit>,
    pub in1_valid: Signal<In, Bit>,
    pub in1_data: Signal<In, T>,
    pub in1_ready: Signal<Out, Bit>,

    pub out_valid: Signal<Out, Bit>,
    pub out_data: Signal<Out, T>,
    pub out_ready: Signal<In, Bit>,

    /// Stream 1 went last.
    went1: DFF<Bit>,
    held: StreamSkid<T>,
}

impl<T: Synth> Logic for StreamMerge<T> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, went1);
        clock!(self, clock, held);
        self.held.reset.next = self.reset.val();
        let room = self.held.in_ready.val();
        let goes1 = self.in1_valid.val() & !(self.in0_valid.val() & self.went1.q.val());
        let goes0 = self.in0_valid.val() & !goes1;
        self.in0_ready.next = goes0 & room;
        self.in1_ready.next = goes1 & room;
        self.held.in_valid.next = goes0 | goes1;
        self.held.in_data.next = if goes1 {
            self.in1_data.val()
        } else {
            self.in0_data.val()
        };
        if (goes0 | goes1) & room {
            self.went1.d.next = goes1;
        }
        self.out_valid.next = self.held.out_valid.val();
        self.out_data.next = self.held.out_data.val();
        self.held.out_ready.next = self.out_ready.val();
        if self.reset.val() {
            self.went1.d.next = false;
        }
    }
}
