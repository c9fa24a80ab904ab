//! A FIFO between two clocks, first word falls through.

use hdl_macros::hdl;
use hdl_primitives::ram::{Block36, Distributed, Style};
use hdl_primitives::{Checked, DataOfferSnk, DataSrc, Parameters};
use rust_hdl::prelude::*;

use crate::crossing_source::CrossingSource;
use crate::gray_pointer::{binary_of, gray_of};
use crate::level_synchroniser::LevelSynchroniser;
use crate::two_clock_ram::TwoClockRam;

/// Flip-flops of each synchroniser.
pub const STAGES: usize = 3;
/// Edges of `read_clock` after the edge of `write_clock` that takes an entry, until the entry is offered: the synchroniser, the number of its gray code,
/// the memory. If the first edge comes too early for the pointer, it is one more.
pub const LATENCY: usize = STAGES + 2;
/// Edges of each clock that must come while both resets are high. Two pass until a pointer of 0 has arrived, because its delay may be a period of the clock that
/// sends it. Then it passes the synchroniser and the register behind it.
pub const RESET_EDGES: usize = STAGES + 3;

/// An [`AsyncFifo`] in LUT RAM: 4 to 64 entries.
pub type LutAsyncFifo<T, const A: usize, const C: usize> = AsyncFifo<T, A, C, Distributed>;
/// An [`AsyncFifo`] in block RAM: 4 to 32,768 entries.
pub type BlockAsyncFifo<T, const A: usize, const C: usize> = AsyncFifo<T, A, C, Block36>;

/// A FIFO of 2^`A` entries of `T`, written on one clock and read on another, in the memory `S`. `C` must be `A` + 1. Use it by its names
/// `LutAsyncFifo` and `BlockAsyncFifo`.
///
/// Throughput: one entry per cycle of the slower clock. An entry is offered after 5 or 6 edges of `read_clock` and taken at the next one. The writer
/// knows after 4 or 5 edges of `write_clock` and uses the place at the next one. That is 13 cycles of equal clocks, so use 16 entries or more. With
/// 4, no more than 4 leave in 13 cycles.
///
/// Resets: each is synchronous to its own clock, and both are necessary, because a pointer that jumps is not a gray code.
/// - `read_reset` rises first. Otherwise the reader would see the write pointer jump, and take what is no entry.
/// - Both are high together for at least 6 (`RESET_EDGES`) edges of each clock. Then they fall in any order.
/// - `in_ready` is low while `write_reset` is high. Entries in the FIFO, and those that enter after `read_reset` rose, are lost.
///
/// Timing: 3 LUT levels at most, and a carry chain of `C` bits (`docs/area.md`). `in_ready` depends on registers and `write_reset` only, and
/// `out_valid` and `out_data` are registers.
#[derive(LogicBlock, Default)]
pub struct AsyncFifo<T: Synth, const A: usize, const C: usize, S: Style> {
    _parameters: Checked<Self>,
    pub write_clock: Signal<In, Clock>,
    pub write_reset: Signal<In, Bit>,
    pub in_: DataOfferSnk<T>,
    /// Entries that the write side knows of, 0 to 2^`A`, on `write_clock`. It is never less than those held: a reader's progress is seen late. A
    /// writer with `k` words that cannot wait is sure of room while `count` is at most 2^`A` - `k`.
    pub count: Signal<Out, Bits<C>>,

    pub read_clock: Signal<In, Clock>,
    pub read_reset: Signal<In, Bit>,
    pub out: DataSrc<T>,

    memory: TwoClockRam<T, A, S>,

    // On `write_clock`. Pointers have one bit more than addresses: full and empty differ.
    write_pointer: DFF<Bits<C>>,
    write_gray: CrossingSource<C>,
    read_gray_seen: LevelSynchroniser<C, STAGES>,
    read_pointer_seen: DFF<Bits<C>>,

    // On `read_clock`.
    read_pointer: DFF<Bits<C>>,
    read_gray: CrossingSource<C>,
    write_gray_seen: LevelSynchroniser<C, STAGES>,
    write_pointer_seen: DFF<Bits<C>>,
    /// The memory's output is the head of the FIFO.
    head_read: DFF<Bit>,
}

impl<T: Synth, const A: usize, const C: usize, S: Style> AsyncFifo<T, A, C, S> {
    /// Entries.
    pub const DEPTH: usize = 1 << A;
}

impl<T: Synth, const A: usize, const C: usize, S: Style> Parameters for AsyncFifo<T, A, C, S> {
    fn check() {
        let most = if S::RAM_STYLE == Distributed::RAM_STYLE {
            6
        } else {
            15
        };
        assert!(
            (2..=most).contains(&A),
            "AsyncFifo with A = {A} in {} RAM: use 4 to {most}, or 2 or 3 if it may be slow (fewer than 16 entries do not cover the way of the pointers)",
            S::RAM_STYLE
        );
        assert!(
            C == A + 1,
            "AsyncFifo with A = {A} and C = {C}: the pointers need C = A + 1 = {} bits",
            A + 1
        );
    }
}

impl<T: Synth, const A: usize, const C: usize, S: Style> Logic for AsyncFifo<T, A, C, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, write_clock, write_pointer, read_pointer_seen);
        dff_setup!(
            self,
            read_clock,
            read_pointer,
            write_pointer_seen,
            head_read
        );
        self.memory.write_clock.next = self.write_clock.val();
        self.write_gray.clock.next = self.write_clock.val();
        self.read_gray_seen.clock.next = self.write_clock.val();
        self.memory.read_clock.next = self.read_clock.val();
        self.read_gray.clock.next = self.read_clock.val();
        self.write_gray_seen.clock.next = self.read_clock.val();

        // write side
        let used = self.write_pointer.q.val() - self.read_pointer_seen.q.val();
        // The count has its top bit exactly when the FIFO is full.
        let room = !used.get_bit(A) & !self.write_reset.val();
        let push = self.in_.valid.val() & room;
        let write_next = if self.write_reset.val() {
            bits::<C>(0)
        } else if push {
            self.write_pointer.q.val() + 1
        } else {
            self.write_pointer.q.val()
        };
        self.memory.write_enable.next = push;
        self.memory.write_address.next = self.write_pointer.q.val().get_bits::<A>(0);
        self.memory.write_data.next = self.in_.data.val();
        self.write_pointer.d.next = write_next;
        self.write_gray.d.next = gray_of(write_next);
        self.read_gray_seen.level.next = self.read_gray.q.val();
        self.read_pointer_seen.d.next = binary_of(self.read_gray_seen.synchronised.val());
        self.in_.ready.next = room;
        self.count.next = used;

        // read side
        let pop = self.out.ready.val() & self.head_read.q.val();
        let read_next = if self.read_reset.val() {
            bits::<C>(0)
        } else if pop {
            self.read_pointer.q.val() + 1
        } else {
            self.read_pointer.q.val()
        };
        // Nothing is read that is being written: the pointer is seen long after the write.
        let more = (read_next != self.write_pointer_seen.q.val()) & !self.read_reset.val();
        self.memory.read_enable.next = more;
        self.memory.read_address.next = read_next.get_bits::<A>(0);
        self.head_read.d.next = more;
        self.read_pointer.d.next = read_next;
        self.read_gray.d.next = gray_of(read_next);
        self.write_gray_seen.level.next = self.write_gray.q.val();
        self.write_pointer_seen.d.next = binary_of(self.write_gray_seen.synchronised.val());
        self.out.valid.next = self.head_read.q.val();
        self.out.data.next = self.memory.read_data.val();
    }
}
