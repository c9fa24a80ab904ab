//! Slots and links of the blocks of the pool.

use hdl_macros::hdl;
use hdl_primitives::ram::BlockRam;
use rust_hdl::prelude::*;

use crate::blocks::{Block, BlockSlots};

/// Stores the state of the slots of each of 2^`B` blocks, and the block that follows it in its window.
///
/// Data come one cycle after the address. A read returns the contents before the cycle: what is written in cycle n is read by an address of cycle n + 1 or
/// later.
#[derive(LogicBlock, Default)]
pub struct BlockMemory<const B: usize> {
    pub clock: Signal<In, Clock>,

    pub read_block: Signal<In, Block>,
    pub slots: Signal<Out, BlockSlots>,
    pub link: Signal<Out, Block>,

    pub write: Signal<In, Bit>,
    pub write_block: Signal<In, Block>,
    pub write_slots: Signal<In, BlockSlots>,
    pub write_link: Signal<In, Bit>,
    pub link_block: Signal<In, Bits<B>>,
    pub link_data: Signal<In, Bits<B>>,

    states: BlockRam<BlockSlots, B>,
    links: BlockRam<Bits<B>, B>,
}

impl<const B: usize> Logic for BlockMemory<B> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, states, links);
        let read = self.read_block.val().get_bits::<B>(0);
        self.states.read_address.next = read;
        self.states.write_enable.next = self.write.val();
        self.states.write_address.next = self.write_block.val().get_bits::<B>(0);
        self.states.write_data.next = self.write_slots.val();
        self.slots.next = self.states.read_data.val();
        self.links.read_address.next = read;
        self.links.write_enable.next = self.write_link.val();
        self.links.write_address.next = self.link_block.val();
        self.links.write_data.next = self.link_data.val();
        self.link.next = bit_cast::<10, B>(self.links.read_data.val());
    }
}
