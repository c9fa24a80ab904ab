//! `NextMessage` and `TakeMessages`: whether a message starts, and what the operation takes of it.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::entry::is_faulty;
use crate::message_step::{Effect, Step};
use crate::operation::Operation;
use crate::records::{AskKind, Left, Lookup, QueueRow, Reading, Taken};

/// Returns whether a message has all packets that are wanted.
#[hdl_fn]
pub fn are_enough(packets: Bits<24>, want: Bits<6>) -> Bit {
    (packets >> 6_u64).any() | (packets.get_bits::<6>(0) >= want)
}

/// Decides on the message that was read. `left`: of the last message started.
#[hdl_fn]
pub fn take(
    op: Operation,
    row: QueueRow,
    message: Reading,
    lookup: Lookup,
    left: Left,
    want: Bits<6>,
) -> Taken {
    let entry = message.entry;
    let at = message.at;
    let is_take = op.is_take;
    let fenced = entry.fenced & row.with_packets.any();
    let too_many = entry.counts & (row.wimm >= lookup.max_wimm);
    let exceeds = entry.long & is_take & op.request.only_short;
    let blocked = fenced | too_many | exceeds;
    let is_full = row.outstanding.get_bit(10);
    let can = !at.is_started & at.present & !row.stopped & !is_full;
    let may = can & !blocked;
    let starts = may;
    let carries = at.is_started | (may & entry.sends);
    let packets = if at.is_started {
        left.packets
    } else {
        entry.packets
    };
    let fills = if at.is_started {
        left.fills
    } else {
        are_enough(entry.packets, want)
    };
    // Nothing follows: the wanted packets are there, or the next entry is not.
    let is_last = fills | !at.next_present;
    let ends = !is_take | (carries & is_last) | (!carries & !starts);
    let misses = !at.is_started & !at.present;
    let starts_nop = starts & !carries & !is_faulty(entry);
    let ends_nop = !is_take & starts_nop;
    let runs_out = is_take & carries & !at.next_present;
    let misses_next = (runs_out & !fills) | ends_nop;
    let may_miss_next = runs_out | ends_nop;
    Taken {
        starts,
        blocks: can & !starts,
        responds: carries | ends,
        found: carries,
        starts_nop,
        packets,
        here: if fills {
            want
        } else {
            packets.get_bits::<6>(0)
        },
        ends,
        misses: !row.stopped & ((misses & at.posted) | (misses_next & at.next_posted)),
        misses_next,
        may_miss: !row.stopped & ((misses & at.posted) | (may_miss_next & at.next_posted)),
    }
}

/// `Access`: takes the message if it can, which is outstanding then (`started`), and goes on with the one behind it. `waits`: the prefetch has to be told, and does not hear.
#[hdl_fn]
pub fn take_effect(
    row: QueueRow,
    message: Reading,
    taken: Taken,
    waits: Bit,
    started: QueueRow,
    stays: Effect,
) -> Effect {
    let passed = QueueRow {
        blocked: row.blocked | taken.blocks,
        ..row
    };
    let taken_row = if taken.starts { started } else { passed };
    let next_step = if taken.ends { Step::Idle } else { Step::Access };
    Effect {
        step: if waits { Step::Wait } else { next_step },
        ends: taken.ends & !waits,
        row: if waits { row } else { taken_row },
        asks: taken.misses,
        ask_kind: AskKind::Misses,
        ask_slot: if taken.misses_next {
            message.next_slot
        } else {
            message.slot
        },
        ..stays
    }
}
