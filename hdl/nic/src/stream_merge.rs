//! Two streams become one.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{DataSnk, DataSrc, StreamSkid};
use rust_hdl::prelude::*;

/// Takes turns between two streams of `T` that both wait; each stays in its own order. One item per cycle, latency 1; an item on offer stays.
/// LUT levels: 3 (turn, choice).
#[derive(LogicBlock, Default)]
pub struct StreamMerge<T: Synth> {
    pub clock: Signal<In, Clock>,
    /// Discards stored beats.
    pub reset: Signal<In, Bit>,

    pub in_: [DataSnk<T>; 2],

    pub out: DataSrc<T>,

    /// The last frame came from stream 1.
    went1: DFF<Bit>,
    held: StreamSkid<T>,
}

impl<T: Synth> Logic for StreamMerge<T> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, went1);
        clock_reset!(self, held);
        let room = self.held.in_.ready.val();
        let goes1 = self.in_[1].valid.val() & !(self.in_[0].valid.val() & self.went1.q.val());
        let goes0 = self.in_[0].valid.val() & !goes1;
        self.in_[0].ready.next = goes0 & room;
        self.in_[1].ready.next = goes1 & room;
        self.held.in_.valid.next = goes0 | goes1;
        self.held.in_.data.next = if goes1 {
            self.in_[1].data.val()
        } else {
            self.in_[0].data.val()
        };
        if (goes0 | goes1) & room {
            self.went1.d.next = goes1;
        }
        join!(self, held.out => out);
        if self.reset.val() {
            self.went1.d.next = false;
        }
    }
}
