//! A deep FIFO in block RAM whose head is a register.

use hdl_macros::{clock_reset, hdl, join};
use rust_hdl::prelude::*;

use crate::block_fifo::BlockFifo;
use crate::stream::{DataOfferSnk, DataSrc};
use crate::stream_skid::StreamSkid;

/// A [`BlockFifo`] with two registers at its output. An entry that finds the memory empty goes past it, straight to these registers.
///
/// So an entry is offered one cycle after it was taken, not two, as long as what takes them keeps up; and `out` comes from a register, not from a block RAM, which is
/// slow. Behind entries in the memory an entry takes three cycles. `out_ready` ends at the registers. LUT levels: 2.
#[derive(LogicBlock, Default)]
pub struct CutThroughFifo<T: Synth, const A: usize, const C: usize> {
    pub clock: Signal<In, Clock>,
    /// Empties the FIFO.
    pub reset: Signal<In, Bit>,

    pub in_: DataOfferSnk<T>,
    pub out: DataSrc<T>,

    /// Entries in the memory, 0 to 2^`A`. Up to two more are in the registers.
    pub count: Signal<Out, Bits<C>>,

    memory: BlockFifo<T, A, C>,
    front: StreamSkid<T>,
}

impl<T: Synth, const A: usize, const C: usize> Logic for CutThroughFifo<T, A, C> {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, memory, front);
        let count = self.memory.count.val();
        let passes = !count.any() & self.front.in_.ready.val();
        let offered = self.in_.valid.val();
        self.memory.in_.valid.next = offered & !passes;
        self.memory.out.ready.next = self.front.in_.ready.val();
        // With entries in the memory, but none at its output, the registers get nothing: an entry must not pass others.
        self.front.in_.valid.next = self.memory.out.valid.val() | (offered & passes);
        self.front.in_.data.next = if self.memory.out.valid.val() {
            self.memory.out.data.val()
        } else {
            self.in_.data.val()
        };
        self.in_.ready.next = self.memory.in_.ready.val();
        self.count.next = count;
        join!(
            self,
            in_.data => memory.in_.data,
            front.out => out,
        );
    }
}
