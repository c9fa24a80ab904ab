//! The free blocks of the pool.

use hdl_macros::hdl;
use hdl_primitives::ram::BlockRam;
use rust_hdl::prelude::*;

use crate::blocks::Block;

/// A list of the blocks of a pool of 2^`B` that no window holds.
///
/// Blocks of a window are a list too, with the same links. So any number of blocks that follow each other in a window returns in one cycle: the link of the
/// last free block names the first of them.
///
/// `count` and `block` change in the cycle after `take` or `put`. `take` may come in consecutive cycles; it comes at least 3 cycles after `put`, and never
/// without a free block. Levels: 2 and a carry chain.
#[derive(LogicBlock, Default)]
pub struct FreeList<const B: usize> {
    pub clock: Signal<In, Clock>,

    /// Links block `fill_index` to the next one, and frees every block. Comes once for each index, in ascending order.
    pub fill: Signal<In, Bit>,
    pub fill_index: Signal<In, Bits<B>>,

    /// The block that `take` takes.
    pub block: Signal<Out, Block>,
    pub take: Signal<In, Bit>,
    /// Number of free blocks.
    pub count: Signal<Out, Bits<11>>,

    /// Returns `put_count` blocks, 1 or more, which are linked from `put_first` to `put_last`.
    pub put: Signal<In, Bit>,
    pub put_first: Signal<In, Block>,
    pub put_last: Signal<In, Block>,
    pub put_count: Signal<In, Bits<8>>,

    /// Links block `link_from` of a window to `link_to`. Never in a cycle of `put`.
    pub link: Signal<In, Bit>,
    pub link_from: Signal<In, Block>,
    pub link_to: Signal<In, Block>,

    /// Every write of a link, for a copy of the links.
    pub written: Signal<Out, Bit>,
    pub written_block: Signal<Out, Bits<B>>,
    pub written_link: Signal<Out, Bits<B>>,

    links: BlockRam<Bits<B>, B>,
    head: DFF<Bits<B>>,
    tail: DFF<Bits<B>>,
    free: DFF<Bits<11>>,
}

impl<const B: usize> Logic for FreeList<B> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, head, tail, free);
        clock!(self, clock, links);
        let free = self.free.q.val();
        let head = self.head.q.val();
        let second = self.links.read_data.val();
        let fill = self.fill.val();
        let put = self.put.val();

        let written = fill | (put & free.any()) | self.link.val();
        let block = if fill {
            self.fill_index.val()
        } else if put {
            self.tail.q.val()
        } else {
            self.link_from.val().get_bits::<B>(0)
        };
        let link = if fill {
            self.fill_index.val() + 1
        } else if put {
            self.put_first.val().get_bits::<B>(0)
        } else {
            self.link_to.val().get_bits::<B>(0)
        };
        self.links.write_enable.next = written;
        self.links.write_address.next = block;
        self.links.write_data.next = link;
        self.written.next = written;
        self.written_block.next = block;
        self.written_link.next = link;

        // The link of the next head is read before it is needed.
        let next_head = if self.take.val() { second } else { head };
        self.links.read_address.next = next_head;
        self.head.d.next = if fill {
            bits::<B>(0)
        } else if put & !free.any() {
            self.put_first.val().get_bits::<B>(0)
        } else {
            next_head
        };
        if fill {
            self.tail.d.next = self.fill_index.val();
            self.free.d.next = bits::<11>(1) << (B as u64);
        } else if put {
            self.tail.d.next = self.put_last.val().get_bits::<B>(0);
            self.free.d.next = free + bit_cast::<11, 8>(self.put_count.val());
        } else if self.take.val() {
            self.free.d.next = free - 1;
        }
        self.block.next = bit_cast::<10, B>(head);
        self.count.next = free;
    }
}
