//! Decisions on the message that was read.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{MessageOp, MessageRequest};

use crate::completion::SUCCESS;
use crate::entry::is_faulty;
use crate::records::{Entry, Left, Position, QueueRow, Started, Taken};

/// Returns whether a message has all packets that are wanted.
#[hdl_fn]
pub fn are_enough(packets: Bits<24>, want: Bits<6>) -> Bit {
    (packets >> 6_u64).any() | (packets.get_bits::<6>(0) >= want)
}

/// Decides on the message at a position for `NextMessage` and `TakeMessages`. `left`: of the last message started.
#[hdl_fn]
pub fn take(
    asked: MessageRequest,
    row: QueueRow,
    entry: Entry,
    at: Position,
    left: Left,
    want: Bits<6>,
    max_wimm: Bits<11>,
) -> Taken {
    let is_take = asked.op == MessageOp::TakeMessages;
    let fenced = entry.fenced & row.with_packets.any();
    let too_many = entry.counts & (row.wimm >= max_wimm);
    let exceeds = entry.long & is_take & asked.only_short;
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
        last: ends,
        starts_nop,
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

/// Returns whether all packets of a message have PSNs before `psn`.
#[hdl_fn]
pub fn is_over(entry: Entry, started: Started, psn: Bits<24>) -> Bit {
    (psn - started.first) >= entry.packets
}

/// Returns whether a message that started cannot be sent, or not completely.
#[hdl_fn]
pub fn has_failed(started: Started) -> Bit {
    started.status != SUCCESS
}
