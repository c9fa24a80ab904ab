//! What an operation does to the slots of a block that has been read.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{WindowOp, WindowRequest};

use crate::blocks::{changed_slots, from_slot, slot_of, unacknowledged, Block, BlockSlots, Place};
use crate::row::WindowRow;
use crate::sack::{named_slots, SackSpan};
use crate::step::Step;
use crate::visit::{named_at, Visit};

/// A block that has been read, its place, its index in the window, and its slots.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReadBlock {
    pub block: Block,
    pub place: Place,
    pub index: Bits<8>,
    pub slots: BlockSlots,
}

/// What `Allocate` adds to the block that it begins with.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Added {
    /// The block is a new one, so its slots are empty whatever has been read.
    pub enters: Bit,
    pub slots: Bits<32>,
}

/// Returns the slots that a SACK acknowledges, including that of the packet that it answers (`answered`); none for other operations. Levels: 6.
#[hdl_fn]
pub fn named_in(
    asked: WindowRequest,
    span: SackSpan,
    read: ReadBlock,
    answered: Bits<32>,
) -> Bits<32> {
    if asked.op == WindowOp::Sack {
        named_slots(span, asked.cack, read.place, read.index) | answered
    } else {
        bits::<32>(0)
    }
}

/// Returns the visit of the block: its slots as the operation leaves them, and those among which it looks for the lowest one. What it removes (`named`), adds and looks for is known before the slots have been read.
/// Levels: 2.
#[hdl_fn]
pub fn visit_of(
    step: Step,
    asked: WindowRequest,
    read: ReadBlock,
    row: WindowRow,
    named: Bits<32>,
    new: Added,
) -> Visit {
    let is_sack = asked.op == WindowOp::Sack;
    let seeks = step == Step::Seek;
    let allocates = step == Step::Allocate;
    let added = if allocates {
        new.slots
    } else if seeks & (asked.op == WindowOp::MarkRetransmitted) {
        slot_of(asked.psn)
    } else {
        bits::<32>(0)
    };
    let kept = if allocates & new.enters {
        bits::<32>(0)
    } else {
        !(named | added)
    };
    let wanted = if is_sack {
        !named
    } else if seeks {
        from_slot(asked.psn)
    } else {
        Bits::<32>::mask()
    };
    let wanted_of = if is_sack {
        unacknowledged(read.slots)
    } else {
        read.slots.in_flight
    };
    Visit {
        block: read.block,
        place: read.place,
        index: read.index,
        slots: changed_slots(read.slots, kept, added),
        named: named_at(row, read.place),
        wanted: wanted & wanted_of,
    }
}
