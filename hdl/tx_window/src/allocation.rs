//! Where the packets of `Allocate` go.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::WindowRequest;

use crate::blocks::{range_of, Block};
use crate::change::Added;
use crate::row::WindowRow;
use crate::step::Step;

/// Blocks and slots of the new packets.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Allocation {
    /// Block of the first packet, and the next one.
    pub first: Block,
    pub second: Block,
    /// What is added to the first one. It is a free block if the window is empty or its newest block is full.
    pub added: Added,
    /// Slots in the second one.
    pub beyond: Bits<32>,
}

/// Returns where the packets go. `free` is the block that is taken next from the pool. A carry chain and 3 levels.
#[hdl_fn]
pub fn allocation(asked: WindowRequest, row: WindowRow, is_empty: Bit, free: Block) -> Allocation {
    let range = range_of(row.next_psn, asked.count);
    let enters = is_empty | !row.next_psn.get_bits::<5>(0).any();
    Allocation {
        first: if enters { free } else { row.tail },
        second: free,
        added: Added {
            enters,
            slots: range.here,
        },
        beyond: range.beyond,
    }
}

/// Returns whether the step takes a block from the pool. 2 levels.
#[hdl_fn]
pub fn takes_block(step: Step, asked: WindowRequest, added: Added) -> Bit {
    ((step == Step::Allocate) & added.enters & asked.count.any()) | (step == Step::AllocateEnd)
}
