//! The pool of blocks of entries: which are free, and which block follows which.

use hdl_macros::{clock, hdl};
use hdl_primitives::ram::{BypassRam, LutRam};
use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;

use crate::records::{Block, BlockCount};

/// 2^`B` blocks in chains. One chain has the free blocks; each queue pair has one of its own.
///
/// `spare` is a free block while `free` is not 0. It is taken with `take`. At least one cycle lies between two cycles with `take`, and between a `give` and a
/// `take`. `take` and `give` exclude each other. A link that was written in cycle n can be followed from cycle n on. LUT levels: 3.
#[derive(LogicBlock, Default)]
pub struct BlockPool<const B: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// All blocks are free, when their links have been cleared.
    pub reset: Signal<In, Bit>,
    /// Clears the link of a block.
    pub clear: Signal<In, Bit>,
    pub clear_block: Signal<In, Block>,

    /// Number of free blocks.
    pub free: Signal<Out, BlockCount>,
    pub spare: Signal<Out, Block>,
    /// Takes `spare`; with `append` it follows the block `append_to`.
    pub take: Signal<In, Bit>,
    pub append: Signal<In, Bit>,
    pub append_to: Signal<In, Block>,

    /// Returns the chain from `give_first` to `give_last`, of `give_count` blocks.
    pub give: Signal<In, Bit>,
    pub give_first: Signal<In, Block>,
    pub give_last: Signal<In, Block>,
    pub give_count: Signal<In, BlockCount>,

    /// Two readers follow links: the block behind another one comes one cycle later.
    pub follow: Signal<In, Block>,
    pub followed: Signal<Out, Block>,
    pub follow_arriving: Signal<In, Block>,
    pub followed_arriving: Signal<Out, Block>,

    /// The block behind each block. Three copies: of the free chain, of the follower of entries that arrive, and of the other one, on whose link the next message depends in the
    /// same cycle: a memory of LUTs has it two levels earlier.
    links: [BypassRam<Block, B>; 2],
    fast_links: LutRam<Block, B>,
    followed_from: DFF<Block>,
    head: DFF<Block>,
    tail: DFF<Block>,
    held: DFF<BlockCount>,
}

impl<const B: usize> Parameters for BlockPool<B> {
    fn check() {
        assert!(
            (1..=10).contains(&B),
            "BlockPool<{B}>: use 1 (2 blocks) to 10 (1,024 blocks)"
        );
    }
}

impl<const B: usize> Logic for BlockPool<B> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, head, tail, held, followed_from);
        clock!(self, clock, links[..], fast_links);
        let head = self.head.q.val();
        let tail = self.tail.q.val();
        let held = self.held.q.val();
        let takes = self.take.val();
        let gives = self.give.val();
        let is_empty = !held.any();
        assert!(!takes | held.any(), "a block is taken that is not there");
        assert!(!takes | !gives, "a block is taken and given at once");

        // write a link
        let clear = self.clear.val();
        let appends = takes & self.append.val();
        let joins = gives & !is_empty;
        let written = if clear {
            self.clear_block.val()
        } else if joins {
            tail
        } else {
            self.append_to.val()
        };
        let link = if clear {
            self.clear_block.val() + 1
        } else if joins {
            self.give_first.val()
        } else {
            head
        };
        let writes = clear | appends | joins;
        for i in 0..2 {
            self.links[i].write_enable.next = writes;
            self.links[i].write_address.next = written.get_bits::<B>(0);
            self.links[i].write_data.next = link;
        }
        self.fast_links.write_enable.next = writes;
        self.fast_links.write_address.next = written.get_bits::<B>(0);
        self.fast_links.write_data.next = link;

        // take and give
        self.links[0].read_address.next = head.get_bits::<B>(0);
        if takes {
            self.head.d.next = self.links[0].read_data.val();
            self.held.d.next = held - 1;
        } else if gives {
            self.head.d.next = if is_empty {
                self.give_first.val()
            } else {
                head
            };
            self.tail.d.next = self.give_last.val();
            self.held.d.next = held + self.give_count.val();
        }
        self.spare.next = head;
        self.free.next = held;

        // follow
        self.followed_from.d.next = self.follow.val();
        self.fast_links.read_address.next = self.followed_from.q.val().get_bits::<B>(0);
        self.followed.next = self.fast_links.read_data.val();
        self.links[1].read_address.next = self.follow_arriving.val().get_bits::<B>(0);
        self.followed_arriving.next = self.links[1].read_data.val();

        if self.reset.val() {
            self.head.d.next = bits(0);
            self.tail.d.next = !bits::<10>(0);
            self.held.d.next = bits::<11>(1) << (B as u64);
        }
    }
}
