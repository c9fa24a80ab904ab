//! What the properties remember of the operations: whose each block is, and which packets each window has.

use hdl_macros::{clock, hdl};
use hdl_tx_window::step::Step;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{WindowRequest, WindowResponse};
use stellar_wire::hw::Psn;

use super::operation::{end_after, is_resting};
use super::pool::{Followed, Low, Number, Pool, BLOCKS};

/// Follows each block through the list of the free ones and the windows.
#[derive(LogicBlock, Default)]
pub struct PoolFollower {
    pub clock: Signal<In, Clock>,
    /// Block `fill_number` is free, behind those with lower numbers.
    pub fill: Signal<In, Bit>,
    pub fill_number: Signal<In, Number>,
    /// The window of `odd` takes the block for its place `take_place`.
    pub take: Signal<In, Bit>,
    pub take_number: Signal<In, Number>,
    pub take_place: Signal<In, Low>,
    /// The window of `odd`, which begins at `put_place`, returns its first `put_count` blocks.
    pub put: Signal<In, Bit>,
    pub put_place: Signal<In, Low>,
    pub put_count: Signal<In, Bits<8>>,
    pub odd: Signal<In, Bit>,
    /// Number of free blocks.
    pub free: Signal<In, Bits<11>>,

    pub pool: Signal<Out, Pool>,
    /// Place of the first free block in the list of those.
    pub first_free: Signal<Out, Low>,

    blocks: [DFF<Followed>; BLOCKS],
    first: DFF<Low>,
}

impl Logic for PoolFollower {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, first);
        clock!(self, clock, blocks[..]);
        let first = self.first.q.val();
        for n in 0..BLOCKS {
            let own = self.blocks[n].q.val();
            let number = bits::<2>(n as u64);
            let index = own.place - self.put_place.val();
            let held = !own.free & (own.odd == self.odd.val());
            let returns = held & (bit_cast::<8, 2>(index) < self.put_count.val());
            self.blocks[n].d.next = if self.fill.val() & (self.fill_number.val() == number) {
                Followed {
                    free: true,
                    odd: false,
                    place: number,
                }
            } else if self.put.val() & returns {
                Followed {
                    free: true,
                    odd: false,
                    place: first + self.free.val().get_bits::<2>(0) + index,
                }
            } else if self.take.val() & (self.take_number.val() == number) {
                Followed {
                    free: false,
                    odd: self.odd.val(),
                    place: self.take_place.val(),
                }
            } else {
                own
            };
        }
        if self.fill.val() {
            self.first.d.next = bits::<2>(0);
        } else if self.take.val() {
            self.first.d.next = first + 1;
        }
        self.first_free.next = first;
        self.pool.next = Pool {
            b0: self.blocks[0].q.val(),
            b1: self.blocks[1].q.val(),
            b2: self.blocks[2].q.val(),
            b3: self.blocks[3].q.val(),
        };
    }
}

/// First and last PSN of the windows of both queue pairs, as their requests and responses make them.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Windows {
    pub una_0: Psn,
    pub next_0: Psn,
    pub una_1: Psn,
    pub next_1: Psn,
}

/// Follows the windows: a window grows by the packets of an `Allocate` only.
#[derive(LogicBlock, Default)]
pub struct WindowFollower {
    pub clock: Signal<In, Clock>,
    /// Empties both windows.
    pub clear: Signal<In, Bit>,
    pub responds: Signal<In, Bit>,
    pub asked: Signal<In, WindowRequest>,
    pub response: Signal<In, WindowResponse>,

    pub windows: Signal<Out, Windows>,

    held: DFF<Windows>,
}

impl Logic for WindowFollower {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        let asked = self.asked.val();
        let una = self.response.val().una;
        let held = self.held.q.val();
        if self.clear.val() {
            self.held.d.next.una_0 = bits::<24>(0);
            self.held.d.next.next_0 = bits::<24>(0);
            self.held.d.next.una_1 = bits::<24>(0);
            self.held.d.next.next_1 = bits::<24>(0);
        } else if self.responds.val() & asked.qp.get_bit(0) {
            self.held.d.next.una_1 = una;
            self.held.d.next.next_1 = end_after(asked, held.next_1);
        } else if self.responds.val() {
            self.held.d.next.una_0 = una;
            self.held.d.next.next_0 = end_after(asked, held.next_0);
        }
        self.windows.next = held;
    }
}

/// Counts the cycles of an operation.
#[derive(LogicBlock, Default)]
pub struct OperationTimer {
    pub clock: Signal<In, Clock>,
    pub step: Signal<In, Step>,
    /// A SACK is at the block at which it was in the last cycle.
    pub stays: Signal<In, Bit>,

    /// Cycles since the first one, without those that wait at the response.
    pub age: Signal<Out, Bits<6>>,
    /// Cycles for which a SACK is at its block.
    pub stay: Signal<Out, Bits<6>>,

    cycles: DFF<Bits<6>>,
    cycles_here: DFF<Bits<6>>,
}

impl Logic for OperationTimer {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, cycles, cycles_here);
        let age = self.cycles.q.val();
        let stay = self.cycles_here.q.val();
        if is_resting(self.step.val()) {
            self.cycles.d.next = bits::<6>(0);
        } else if self.step.val() != Step::Respond {
            self.cycles.d.next = age + 1;
        }
        self.cycles_here.d.next = if self.stays.val() {
            stay + 1
        } else {
            bits::<6>(0)
        };
        self.age.next = age;
        self.stay.next = stay;
    }
}
