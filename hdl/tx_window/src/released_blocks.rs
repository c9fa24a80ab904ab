//! Which blocks return to the pool with a response.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::WindowOp;

use crate::blocks::Block;
use crate::row::WindowRow;
use crate::step::Step;

/// Counts the blocks that the window leaves, from its oldest one on. `Configure` returns all that are held. Levels: 3.
#[derive(LogicBlock, Default)]
pub struct ReleasedBlocks {
    pub clock: Signal<In, Clock>,

    pub step: Signal<In, Step>,
    pub op: Signal<In, WindowOp>,
    /// `Fetch`: the row before the operation.
    pub fetched: Signal<In, WindowRow>,
    /// Number of blocks that the window held then.
    pub held: Signal<In, Bits<8>>,
    /// The window leaves the block `visited`.
    pub leaves: Signal<In, Bit>,
    pub visited: Signal<In, Block>,
    pub responds: Signal<In, Bit>,

    /// Blocks return, from `first` to `last`.
    pub returns: Signal<Out, Bit>,
    pub count: Signal<Out, Bits<8>>,
    pub first: Signal<Out, Block>,
    pub last: Signal<Out, Block>,

    count_held: DFF<Bits<8>>,
    first_held: DFF<Block>,
    last_held: DFF<Block>,
}

impl Logic for ReleasedBlocks {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, count_held, first_held, last_held);
        let released = self.count_held.q.val();
        if self.step.val() == Step::Fetch {
            self.count_held.d.next = bits::<8>(0);
            self.first_held.d.next = self.fetched.val().head;
            self.last_held.d.next = self.fetched.val().tail;
        } else if self.leaves.val() {
            self.count_held.d.next = released + 1;
            self.last_held.d.next = self.visited.val();
        }
        let count = if self.op.val() == WindowOp::Configure {
            self.held.val()
        } else {
            released
        };
        self.returns.next = self.responds.val() & count.any();
        self.count.next = count;
        self.first.next = self.first_held.q.val();
        self.last.next = self.last_held.q.val();
    }
}
