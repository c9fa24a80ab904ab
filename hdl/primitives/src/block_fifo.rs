//! A deep FIFO in block RAM, first word falls through.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::parameters::{Checked, Parameters};
use crate::ram::BlockRam;
use crate::stream::{DataOfferSnk, DataSrc};

/// A FIFO of 2^`A` entries of `T` in block RAM; `C` must be `A + 1`.
///
/// An entry taken in cycle `n` is offered in cycle `n + 2`: one cycle to write it, one to read it. After that one entry in and one out per
/// cycle: the memory is always read at the place that will be the head in the next cycle. `in_ready` and `out_valid` are registers.
#[derive(LogicBlock, Default)]
pub struct BlockFifo<T: Synth, const A: usize, const C: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Empties the FIFO.
    pub reset: Signal<In, Bit>,

    pub in_: DataOfferSnk<T>,
    pub out: DataSrc<T>,

    /// Entries held, 0 to 2^`A`.
    pub count: Signal<Out, Bits<C>>,

    memory: BlockRam<T, A>,
    write_pointer: DFF<Bits<A>>,
    read_pointer: DFF<Bits<A>>,
    held: DFF<Bits<C>>,
    /// The memory's output is the head of the FIFO.
    head_read: DFF<Bit>,
}

impl<T: Synth, const A: usize, const C: usize> BlockFifo<T, A, C> {
    /// Entries.
    pub const DEPTH: usize = 1 << A;
}

impl<T: Synth, const A: usize, const C: usize> Parameters for BlockFifo<T, A, C> {
    fn check() {
        assert!(
            (2..=20).contains(&A),
            "BlockFifo with A = {A}: use 2 to 20 (4 to 1,048,576 entries)"
        );
        assert!(
            C == A + 1,
            "BlockFifo<T, {A}, {C}>: the count needs C = A + 1 = {} bits",
            A + 1
        );
    }
}

impl<T: Synth, const A: usize, const C: usize> Logic for BlockFifo<T, A, C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, read_pointer, held, head_read);
        clock!(self, clock, memory);
        assert!(self.held.q.val().index() <= 1 << A, "BlockFifo overflow");
        // The count has its top bit exactly when the FIFO is full.
        let room = !self.held.q.val().get_bit(A);
        let push = self.in_.valid.val() & room;
        let pop = self.out.ready.val() & self.head_read.q.val();
        let next_head = if pop {
            self.read_pointer.q.val() + 1
        } else {
            self.read_pointer.q.val()
        };
        // Whether an entry leaves is known late in a cycle, so it selects between two values that are known before.
        let held = self.held.q.val();
        let one_less = held - 1;
        let left = if pop { one_less } else { held };
        let keeps = if pop { one_less.any() } else { held.any() };

        self.memory.write_enable.next = push;
        self.memory.write_address.next = self.write_pointer.q.val();
        self.memory.write_data.next = self.in_.data.val();
        self.memory.read_address.next = next_head;

        self.read_pointer.d.next = next_head;
        // What is pushed now is in the memory one cycle too late for this read.
        self.head_read.d.next = keeps;
        if push {
            self.write_pointer.d.next = self.write_pointer.q.val() + 1;
            self.held.d.next = if pop { held } else { held + 1 };
        } else {
            self.held.d.next = left;
        }

        self.in_.ready.next = room;
        self.out.valid.next = self.head_read.q.val();
        self.out.data.next = self.memory.read_data.val();
        self.count.next = self.held.q.val();

        if self.reset.val() {
            self.write_pointer.d.next = bits(0);
            self.read_pointer.d.next = bits(0);
            self.held.d.next = bits(0);
            self.head_read.d.next = false;
        }
    }
}
