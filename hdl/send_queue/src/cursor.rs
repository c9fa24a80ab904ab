//! Which message an operation of the message table reads.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::SqIndex;

use crate::position::{position_behind, position_of};
use crate::records::{Block, Position, QueueRow};

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
    /// `followed` counts in place of `to_block`.
    pub to_followed: Signal<In, Bit>,
    pub streams: Signal<In, Bit>,
    /// The message is being read: addresses the one behind it, unless the operation goes elsewhere (`redirects`).
    pub waits: Signal<In, Bit>,
    pub redirects: Signal<In, Bit>,
    /// The message has been read.
    pub reads: Signal<In, Bit>,
    /// What is known of the queue pair. Entries before `arriving` are there; messages may start.
    pub row: Signal<In, QueueRow>,
    pub arriving: Signal<In, SqIndex>,
    pub may_start: Signal<In, Bit>,

    pub slot: Signal<Out, SqIndex>,
    pub block: Signal<Out, Block>,
    /// It is the last one of its block.
    pub crosses: Signal<Out, Bit>,
    /// The slot behind it.
    pub next_slot: Signal<Out, SqIndex>,
    /// Valid with `reads`.
    pub at: Signal<Out, Position>,
    /// Its address.
    pub here: Signal<Out, Bits<E>>,
    /// Address to read, and the block whose link is read.
    pub address: Signal<Out, Bits<E>>,
    pub follow: Signal<Out, Block>,

    slot_held: DFF<SqIndex>,
    block_held: DFF<Block>,
    at_held: DFF<Position>,
}

impl<const E: usize> Logic for Cursor<E> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, slot_held, block_held, at_held);
        let slot = self.slot_held.q.val();
        let block = self.block_held.q.val();
        let followed = self.followed.val();
        let streams = self.streams.val();
        let crosses = slot.get_bits::<3>(0).all();
        let next_slot = slot + 1;
        let second_slot = slot + 2;
        let ends_soon = slot.get_bits::<2>(1).all();

        // Whether the operation streams comes last, so it is chosen last.
        let to_block = if self.to_followed.val() {
            followed
        } else {
            self.to_block.val()
        };
        let next_block = if crosses { followed } else { block };
        let second_block = if ends_soon { followed } else { block };
        let target_block = if streams { next_block } else { to_block };
        if self.moves.val() {
            self.slot_held.d.next = if streams {
                next_slot
            } else {
                self.to_slot.val()
            };
            self.block_held.d.next = target_block;
        }
        let reads_ahead = self.waits.val() & !self.redirects.val();
        let other_slot = if reads_ahead {
            next_slot
        } else {
            self.to_slot.val()
        };
        let other_block = if reads_ahead { next_block } else { to_block };
        let read_slot = if streams { second_slot } else { other_slot };
        let read_block = if streams { second_block } else { other_block };

        let row = self.row.val();
        let arriving = self.arriving.val();
        let at = self.at_held.q.val();
        if self.waits.val() {
            self.at_held.d.next = position_of(slot, row, arriving, self.may_start.val());
        } else if self.reads.val() {
            // If the operation does not go on with the message behind this one, it reads this one again.
            self.at_held.d.next = position_behind(at, second_slot, row, arriving);
        }

        self.slot.next = slot;
        self.block.next = block;
        self.crosses.next = crosses;
        self.next_slot.next = next_slot;
        self.at.next = at;
        self.here.next = (bit_cast::<E, 10>(block) << 3) | bit_cast::<E, 3>(slot.get_bits::<3>(0));
        self.address.next =
            (bit_cast::<E, 10>(read_block) << 3) | bit_cast::<E, 3>(read_slot.get_bits::<3>(0));
        self.follow.next = target_block;
    }
}
