//! A shallow FIFO in distributed RAM, first word falls through.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::parameters::{Checked, Parameters};
use crate::ram::LutRam;
use crate::stream::{DataOfferSnk, DataSrc};

/// A FIFO with 2^`A` entries of `T`. `C` must be `A + 1`.
///
/// An entry that enters in cycle `n` is offered in cycle `n + 1`. One entry can enter and one can leave in every cycle. `in_ready` is a register bit
/// and does not depend on `out_ready`, so a full FIFO accepts an entry one cycle after an entry left.
/// Timing: `out_data` is an asynchronous read by a registered pointer (1 LUT level), `out_valid` has 2 levels.
#[derive(LogicBlock, Default)]
pub struct SyncFifo<T: Synth, const A: usize, const C: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Empties the FIFO.
    pub reset: Signal<In, Bit>,

    pub in_: DataOfferSnk<T>,
    pub out: DataSrc<T>,

    /// Entries held, 0 to 2^`A`.
    pub count: Signal<Out, Bits<C>>,

    memory: LutRam<T, A>,
    write_pointer: DFF<Bits<A>>,
    read_pointer: DFF<Bits<A>>,
    held: DFF<Bits<C>>,
}

impl<T: Synth, const A: usize, const C: usize> SyncFifo<T, A, C> {
    /// Entries.
    pub const DEPTH: usize = 1 << A;
}

impl<T: Synth, const A: usize, const C: usize> Parameters for SyncFifo<T, A, C> {
    fn check() {
        assert!(
            (1..=6).contains(&A),
            "SyncFifo with A = {A}: use 1 to 6 (2 to 64 entries), or a BlockFifo"
        );
        assert!(
            C == A + 1,
            "SyncFifo<T, {A}, {C}>: the count needs C = A + 1 = {} bits",
            A + 1
        );
    }
}

impl<T: Synth, const A: usize, const C: usize> Logic for SyncFifo<T, A, C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, read_pointer, held);
        clock!(self, clock, memory);
        assert!(self.held.q.val().index() <= 1 << A, "SyncFifo overflow");
        // The count has its top bit exactly when the FIFO is full.
        let room = !self.held.q.val().get_bit(A);
        let available = self.held.q.val().any();
        let push = self.in_.valid.val() & room;
        let pop = self.out.ready.val() & available;

        self.memory.write_enable.next = push;
        self.memory.write_address.next = self.write_pointer.q.val();
        self.memory.write_data.next = self.in_.data.val();
        self.memory.read_address.next = self.read_pointer.q.val();

        if push {
            self.write_pointer.d.next = self.write_pointer.q.val() + 1;
        }
        if pop {
            self.read_pointer.d.next = self.read_pointer.q.val() + 1;
        }
        if push & !pop {
            self.held.d.next = self.held.q.val() + 1;
        }
        if pop & !push {
            self.held.d.next = self.held.q.val() - 1;
        }

        self.in_.ready.next = room;
        self.out.valid.next = available;
        self.out.data.next = self.memory.read_data.val();
        self.count.next = self.held.q.val();

        if self.reset.val() {
            self.write_pointer.d.next = bits(0);
            self.read_pointer.d.next = bits(0);
            self.held.d.next = bits(0);
        }
    }
}
