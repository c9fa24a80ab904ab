//! A FIFO of frames: the reader sees a frame only when its last beat was committed.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::parameters::{Checked, Parameters};
use crate::ram::BlockRam;

/// 2^`A` beats of `T` in block RAM; `C` must be `A + 1`. First word falls through.
///
/// The writer is never stalled. Beats are provisional until `in_commit` comes with the frame's last beat; `in_drop` (with a beat or without)
/// forgets the frame instead. A frame that finds no room for one of its beats is lost whole. So each frame ends in exactly one of: commit and
/// readable, `in_drop`, or a pulse of `overflow`. `T` must say where a frame ends, for the reader.
/// A committed last beat of clock `n` is readable in clock `n + 2`; then one beat per clock.
#[derive(LogicBlock, Default)]
pub struct PacketFifo<T: Synth, const A: usize, const C: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Empties the FIFO and forgets the frame being written; the next beat starts a frame.
    pub reset: Signal<In, Bit>,

    pub in_valid: Signal<In, Bit>,
    pub in_data: Signal<In, T>,
    /// This beat (needs `in_valid`) is the frame's last, and the frame is good.
    pub in_commit: Signal<In, Bit>,
    /// The frame ends here and is bad; wins over `in_commit`.
    pub in_drop: Signal<In, Bit>,
    /// One clock after `in_commit`: the frame was lost for want of room.
    pub overflow: Signal<Out, Bit>,

    pub out_valid: Signal<Out, Bit>,
    pub out_data: Signal<Out, T>,
    pub out_ready: Signal<In, Bit>,

    /// Beats held, provisional ones included, 0 to 2^`A`.
    pub count: Signal<Out, Bits<C>>,

    memory: BlockRam<T, A>,
    // Pointers have one bit more than an address, so that full and empty differ.
    write_pointer: DFF<Bits<C>>,
    commit_pointer: DFF<Bits<C>>,
    read_pointer: DFF<Bits<C>>,
    /// A beat of the frame being written found no room.
    losing: DFF<Bit>,
    lost: DFF<Bit>,
    /// The memory's output is the head of the FIFO.
    head_read: DFF<Bit>,
}

impl<T: Synth, const A: usize, const C: usize> PacketFifo<T, A, C> {
    /// Beats.
    pub const DEPTH: usize = 1 << A;
}

impl<T: Synth, const A: usize, const C: usize> Parameters for PacketFifo<T, A, C> {
    fn check() {
        assert!(
            (2..=20).contains(&A),
            "PacketFifo with A = {A}: use 2 to 20 (4 to 1,048,576 beats)"
        );
        assert!(
            C == A + 1,
            "PacketFifo<T, {A}, {C}>: the count needs C = A + 1 = {} bits",
            A + 1
        );
    }
}

impl<T: Synth, const A: usize, const C: usize> Logic for PacketFifo<T, A, C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            write_pointer,
            commit_pointer,
            read_pointer,
            losing,
            lost,
            head_read
        );
        clock!(self, clock, memory);

        // Planned levels: subtract 2 (carry), decide 1, pointer multiplexer 1.
        let held = self.write_pointer.q.val() - self.read_pointer.q.val();
        let lose = self.losing.q.val() | held.get_bit(A);
        let ends = self.in_drop.val() | (self.in_valid.val() & self.in_commit.val());
        let store = self.in_valid.val() & !lose & !self.in_drop.val();
        let after_write = self.write_pointer.q.val() + 1;
        assert!(held.index() <= 1 << A, "PacketFifo overflow");

        self.memory.write_enable.next = store;
        self.memory.write_address.next = bit_cast::<A, C>(self.write_pointer.q.val());
        self.memory.write_data.next = self.in_data.val();
        if store {
            self.write_pointer.d.next = after_write;
            if ends {
                self.commit_pointer.d.next = after_write;
            }
        } else if ends {
            self.write_pointer.d.next = self.commit_pointer.q.val();
        }
        if ends {
            self.losing.d.next = false;
        } else if self.in_valid.val() {
            self.losing.d.next = lose;
        }
        self.lost.d.next = ends & lose & !self.in_drop.val();

        // What is committed now is in the memory one clock too late for this read, hence the pointer before this clock's commit.
        let pop = self.out_ready.val() & self.head_read.q.val();
        let next_head = if pop {
            self.read_pointer.q.val() + 1
        } else {
            self.read_pointer.q.val()
        };
        self.memory.read_address.next = bit_cast::<A, C>(next_head);
        self.read_pointer.d.next = next_head;
        self.head_read.d.next = self.commit_pointer.q.val() != next_head;

        self.overflow.next = self.lost.q.val();
        self.out_valid.next = self.head_read.q.val();
        self.out_data.next = self.memory.read_data.val();
        self.count.next = held;

        if self.reset.val() {
            self.write_pointer.d.next = bits(0);
            self.commit_pointer.d.next = bits(0);
            self.read_pointer.d.next = bits(0);
            self.losing.d.next = false;
            self.lost.d.next = false;
            self.head_read.d.next = false;
        }
    }
}
