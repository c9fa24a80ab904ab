//! Which message an operation of the message table reads.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::SqIndex;

use crate::records::Block;

/// Holds the message on which the operation decides, and addresses the next one, or the one behind it, because the memory answers two cycles later. `E` is the width of
/// an address: a block and 3 bits of the slot. Levels: 2.
#[derive(LogicBlock, Default)]
pub struct Cursor<const E: usize> {
    pub clock: Signal<In, Clock>,

    /// The block behind `block`, or behind `follow` of the cycle before.
    pub followed: Signal<In, Block>,
    /// An operation is in progress: the message of the next cycle is `to_slot` of `to_block`, or with `streams` the one behind this one.
    pub moves: Signal<In, Bit>,
    pub to_slot: Signal<In, SqIndex>,
    pub to_block: Signal<In, Block>,
    /// `followed` counts in place of `to_block`. It comes last, so it is chosen last.
    pub to_followed: Signal<In, Bit>,
    pub streams: Signal<In, Bit>,
    /// The message is being read: addresses the one behind it.
    pub reads_ahead: Signal<In, Bit>,

    pub slot: Signal<Out, SqIndex>,
    pub block: Signal<Out, Block>,
    /// It is the last one of its block.
    pub crosses: Signal<Out, Bit>,
    /// The slot behind it, and the one behind that.
    pub next_slot: Signal<Out, SqIndex>,
    pub second_slot: Signal<Out, SqIndex>,
    /// Its address.
    pub here: Signal<Out, Bits<E>>,
    /// Address to read, and the block whose link is read.
    pub address: Signal<Out, Bits<E>>,
    pub follow: Signal<Out, Block>,

    slot_held: DFF<SqIndex>,
    block_held: DFF<Block>,
}

impl<const E: usize> Logic for Cursor<E> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, slot_held, block_held);
        let slot = self.slot_held.q.val();
        let block = self.block_held.q.val();
        let followed = self.followed.val();
        let streams = self.streams.val();
        let crosses = slot.get_bits::<3>(0).all();
        let next_slot = slot + 1;
        let second_slot = slot + 2;
        let ends_soon = slot.get_bits::<2>(1).all();

        let target_is_followed = if streams {
            crosses
        } else {
            self.to_followed.val()
        };
        let target_known = if streams { block } else { self.to_block.val() };
        let target_block = if target_is_followed {
            followed
        } else {
            target_known
        };
        if self.moves.val() {
            self.slot_held.d.next = if streams {
                next_slot
            } else {
                self.to_slot.val()
            };
            self.block_held.d.next = target_block;
        }
        let read_slot = if streams {
            second_slot
        } else if self.reads_ahead.val() {
            next_slot
        } else {
            self.to_slot.val()
        };
        let read_is_followed = if streams {
            ends_soon
        } else if self.reads_ahead.val() {
            crosses
        } else {
            self.to_followed.val()
        };
        let read_known = if streams | self.reads_ahead.val() {
            block
        } else {
            self.to_block.val()
        };
        let read_block = if read_is_followed {
            followed
        } else {
            read_known
        };

        self.slot.next = slot;
        self.block.next = block;
        self.crosses.next = crosses;
        self.next_slot.next = next_slot;
        self.second_slot.next = second_slot;
        self.here.next = (bit_cast::<E, 10>(block) << 3) | bit_cast::<E, 3>(slot.get_bits::<3>(0));
        self.address.next =
            (bit_cast::<E, 10>(read_block) << 3) | bit_cast::<E, 3>(read_slot.get_bits::<3>(0));
        self.follow.next = target_block;
    }
}
