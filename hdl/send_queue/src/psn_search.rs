//! Finds the message of a PSN among the outstanding messages (`LookupByPsn`).

use hdl_macros::{hdl, hdl_fn};
use rust_hdl::prelude::*;
use stellar_wire::hw::{Psn, SqIndex};

use crate::message_step::{end, Effect, Step};
use crate::records::{Block, Place};

/// What the search makes of a message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Narrowed {
    /// It looks for the block. The message is not before this one, and there is another block: its first message is the next one to read.
    pub walks: Bit,
    pub passes: Bit,
    /// The block of the message, if it is known now.
    pub block: Block,
    /// It looks in the block: the message is another one than this one. This comes late.
    pub halves: Bit,
}

/// `Access` of `LookupByPsn`: goes to the next block, to the middle of what is left of the block, or ends.
#[hdl_fn]
pub fn search_effect(narrowed: Narrowed, slot: SqIndex, stays: Effect) -> Effect {
    let here = stays.to;
    let mut passes = stays;
    passes.step = Step::Wait;
    passes.followed = true;
    passes.to = Place {
        slot: (slot | 7) + 1,
        ..here
    };
    let mut enters = stays;
    enters.step = Step::Bisect;
    enters.to = Place {
        block: narrowed.block,
        ..here
    };
    let mut halves = stays;
    halves.step = Step::Bisect;
    let walks = if narrowed.passes { passes } else { enters };
    let ends = end(stays);
    let bisects = if narrowed.halves { halves } else { ends };
    if narrowed.walks {
        walks
    } else {
        bisects
    }
}

/// `Bisect`: reads the message in the `middle` of what is left.
#[hdl_fn]
pub fn bisect_effect(middle: SqIndex, stays: Effect) -> Effect {
    let mut reads = stays;
    reads.step = Step::Wait;
    reads.to = Place {
        slot: middle,
        ..stays.to
    };
    reads
}

/// Narrows down where the message is: first its block, by the first message of each block from the oldest one on, then the message in the block by halves, because
/// messages are stored in the order of their PSNs. Levels: a carry chain and 3.
#[derive(LogicBlock, Default)]
pub struct PsnSearch {
    pub clock: Signal<In, Clock>,

    /// One cycle: an operation begins.
    pub start: Signal<In, Bit>,
    pub psn: Signal<In, Psn>,

    // The message that is read, its block, and how many outstanding messages there are from it on (valid with `waits`, a cycle before it has been read).
    pub slot: Signal<In, SqIndex>,
    pub block: Signal<In, Block>,
    pub waits: Signal<In, Bit>,
    pub outstanding: Signal<In, Bits<16>>,
    /// One cycle: it has been read. Its first PSN; all of its packets are before the PSN.
    pub reads: Signal<In, Bit>,
    pub first: Signal<In, Psn>,
    pub is_over: Signal<In, Bit>,
    /// The operation that reads it is `LookupByPsn`.
    pub searches: Signal<In, Bit>,

    /// Valid with `reads`.
    pub narrowed: Signal<Out, Narrowed>,
    /// The message in the middle of those that are left. Valid in the cycle after `reads`.
    pub middle: Signal<Out, SqIndex>,

    seeks_block: DFF<Bit>,
    /// The message read is the oldest one.
    is_oldest: DFF<Bit>,
    ahead: DFF<Bits<16>>,
    /// The message is one of `size` messages from slot `low` of `low_block` on.
    low: DFF<SqIndex>,
    low_block: DFF<Block>,
    size: DFF<Bits<4>>,
}

impl Logic for PsnSearch {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            seeks_block,
            is_oldest,
            ahead,
            low,
            low_block,
            size
        );
        let slot = self.slot.val();
        let block = self.block.val();
        let low = self.low.q.val();
        let low_block = self.low_block.q.val();
        let ahead = self.ahead.q.val();
        let seeks_block = self.seeks_block.q.val();
        let below = self.size.q.val() >> 1;
        let above = self.size.q.val() - below - 1;
        // A PSN before the message is more than half of the PSN space away from its first PSN.
        let searches_below = (self.psn.val() - self.first.val()).get_bit(23);
        let nothing_left = if searches_below {
            !below.any()
        } else {
            !above.any()
        };
        let is_behind = self.is_oldest.q.val() | !searches_below;
        let to_end = bits::<4>(8) - bit_cast::<4, 3>(slot.get_bits::<3>(0));
        let low_to_end = bits::<4>(8) - bit_cast::<4, 3>(low.get_bits::<3>(0));
        let passes = is_behind & (ahead > bit_cast::<16, 4>(to_end));
        let halves = self.is_over.val() & !nothing_left;

        if self.start.val() {
            self.seeks_block.d.next = true;
            self.is_oldest.d.next = true;
        }
        if self.waits.val() {
            self.ahead.d.next = self.outstanding.val();
        }
        if self.reads.val() {
            self.is_oldest.d.next = false;
        }
        if self.reads.val() & self.searches.val() {
            if seeks_block & passes {
                self.low.d.next = slot;
                self.low_block.d.next = block;
            } else if seeks_block {
                self.seeks_block.d.next = false;
                self.low.d.next = if is_behind { slot } else { low };
                self.size.d.next = if is_behind {
                    ahead.get_bits::<4>(0)
                } else {
                    low_to_end
                };
            } else if halves {
                self.low.d.next = if searches_below { low } else { slot + 1 };
                self.size.d.next = if searches_below { below } else { above };
            }
        }

        self.narrowed.next = Narrowed {
            walks: seeks_block,
            passes,
            block: if is_behind { block } else { low_block },
            halves,
        };
        self.middle.next = low + bit_cast::<16, 4>(below);
    }
}
