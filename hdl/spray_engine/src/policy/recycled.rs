//! Paths that are taken again (reference: `transport/src/spray/policy/recycled.rs`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayFeedback, SprayOp, SprayRequest};
use stellar_wire::rows::{EXPLORED_PACKETS, FREEZE_TICKS, RECYCLED_BITS};

use crate::row::slot_of_eight;

// A ring has eight slots.
const _: () = assert!(RECYCLED_BITS == 3);

/// Slots that a plane remembers. The fresh ones, which were not taken again yet, are those before `head`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Ring {
    /// Eight slots of six bits.
    pub slots: Bits<48>,
    /// Where the next slot is written.
    pub head: Bits<3>,
    /// Fresh slots, 0 to 8.
    pub fresh: Bits<4>,
    /// Entries that were written, 0 to 8.
    pub filled: Bits<4>,
}

/// What both planes share.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RecycledRow {
    /// The remembered slots are taken in turn, until this time.
    pub frozen: Bit,
    pub until: Bits<32>,
    /// Packets that have to be acknowledged before slots are remembered.
    pub explore: Bits<5>,
}

/// Returns the ring without its slots.
#[hdl_fn]
pub fn emptied(ring: Ring) -> Ring {
    Ring {
        slots: ring.slots,
        head: bits::<3>(0),
        fresh: bits::<4>(0),
        filled: bits::<4>(0),
    }
}

/// Returns the ring with one more slot. 2 levels.
#[hdl_fn]
pub fn pushed(ring: Ring, slot: Bits<6>) -> Ring {
    let mut slots = bits::<48>(0);
    for i in 0..8 {
        let kept = ring.slots.get_bits::<6>(6 * i);
        let entry = if ring.head == bits::<3>(i as u64) {
            slot
        } else {
            kept
        };
        slots = slots | (bit_cast::<48, 6>(entry) << (6 * i as u64));
    }
    let place = bit_cast::<4, 3>(ring.head);
    Ring {
        slots,
        head: ring.head + 1,
        fresh: if ring.fresh.get_bit(3) {
            ring.fresh
        } else {
            ring.fresh + 1
        },
        filled: if place < ring.filled {
            ring.filled
        } else {
            place + 1
        },
    }
}

/// Returns whether a ring may have a slot to take: it was not searched for one that is a candidate. 2 levels.
#[hdl_fn]
pub fn may_have(ring: Ring, shared: RecycledRow) -> Bit {
    ring.fresh.any() | (shared.frozen & ring.filled.any())
}

/// Returns the written entries whose slot is among `candidates`. 6 levels (bit of a map 4, entries that were written in parallel).
#[hdl_fn]
pub fn usable_entries(ring: Ring, candidates: Bits<64>) -> Bits<8> {
    let mut usable = bits::<8>(0);
    for i in 0..8 {
        let slot = ring.slots.get_bits::<6>(6 * i);
        let hit = candidates.get_bit(slot.index()) & (ring.filled > bits::<4>(i as u64));
        usable = usable.replace_bit(i, hit);
    }
    usable
}

/// A step through a ring.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Recall {
    /// There is an entry: the oldest fresh one, or the next in turn while frozen.
    pub goes_on: Bit,
    /// Its slot is a candidate.
    pub usable: Bit,
    pub slot: Bits<6>,
    /// The ring without this entry being fresh.
    pub ring: Ring,
}

/// Takes an entry from a ring. `usable`: result of [`usable_entries`]. 5 levels (entry 3, its slot 2).
#[hdl_fn]
pub fn recall(ring: Ring, frozen: Bit, usable: Bits<8>) -> Recall {
    let has_fresh = ring.fresh.any();
    let oldest = ring.head - ring.fresh.get_bits::<3>(0);
    let in_turn = if bit_cast::<4, 3>(ring.head) < ring.filled {
        ring.head
    } else {
        bits::<3>(0)
    };
    let entry = if has_fresh { oldest } else { in_turn };
    let fresh = Ring {
        fresh: ring.fresh - 1,
        ..ring
    };
    let turned = Ring {
        head: in_turn + 1,
        ..ring
    };
    let slot = slot_of_eight(ring.slots, entry);
    Recall {
        goes_on: has_fresh | (frozen & usable.any()),
        usable: usable.get_bit(entry.index()),
        slot,
        ring: if has_fresh { fresh } else { turned },
    }
}

/// Returns whether the time after a timeout is over: what was remembered is forgotten. A carry chain and 1 level.
#[hdl_fn]
pub fn thaws(shared: RecycledRow, request: SprayRequest) -> Bit {
    let hears = (request.op == SprayOp::Ack) | (request.op == SprayOp::Feedback);
    let ago = request.now - shared.until;
    hears & shared.frozen & !ago.get_bit(31)
}

/// Returns the shared state when that time is over.
#[hdl_fn]
pub fn thawed(shared: RecycledRow) -> RecycledRow {
    RecycledRow {
        frozen: false,
        until: shared.until,
        explore: bits::<5>(EXPLORED_PACKETS as u64),
    }
}

/// Returns the shared state after a request. 3 levels and a carry chain.
#[hdl_fn]
pub fn heard(shared: RecycledRow, request: SprayRequest) -> RecycledRow {
    let explores = shared.explore.any();
    let late = (request.op == SprayOp::Feedback) & (request.feedback == SprayFeedback::Timeout);
    let freezes = late & !shared.frozen & !explores;
    let packets = request.ack.packets;
    let enough = packets.get_bits::<8>(5).any() | (packets.get_bits::<5>(0) >= shared.explore);
    let left = if enough {
        bits::<5>(0)
    } else {
        shared.explore - packets.get_bits::<5>(0)
    };
    let until = request.now + (FREEZE_TICKS as u64);
    RecycledRow {
        frozen: shared.frozen | freezes,
        until: if freezes { until } else { shared.until },
        explore: if request.op == SprayOp::Ack {
            left
        } else {
            shared.explore
        },
    }
}
