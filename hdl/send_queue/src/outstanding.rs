//! Outstanding messages, and how their start and completion change the row.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Message;
use stellar_wire::hw::wqe::REST_BITS;
use stellar_wire::hw::{Psn, SqIndex};

use crate::completion::SUCCESS;
use crate::entry::{fault_of, has_immediate, is_faulty};
use crate::records::{Block, Entry, QueueRow, Reading, Rest, Started};

/// Returns what the start of an entry adds to it.
#[hdl_fn]
pub fn start_of(entry: Entry, row: QueueRow, first: Psn) -> Started {
    Started {
        first,
        msn: row.next_msn,
        rqmsn: if entry.counts {
            row.next_rqmsn
        } else {
            bits::<16>(0)
        },
        status: if is_faulty(entry) {
            fault_of(entry)
        } else {
            bits::<8>(SUCCESS)
        },
    }
}

/// Returns the message of an entry that has started.
#[hdl_fn]
pub fn message_of(entry: Entry, rest: Rest, started: Started, slot: SqIndex) -> Message {
    let wqe = entry.wqe;
    Message {
        has_immediate: has_immediate(wqe),
        inline: wqe.inline,
        fault: started.status != SUCCESS,
        slot,
        length: wqe.length,
        remote_va: wqe.remote_va,
        rkey: wqe.rkey,
        immediate: wqe.immediate,
        source: bit_cast::<512, 256>(wqe.source) | (bit_cast::<512, REST_BITS>(rest) << 256),
        first: started.first,
        packets: entry.packets,
        msn: started.msn.get_bits::<16>(0),
        rqmsn: started.rqmsn,
    }
}

/// Returns the row after the entry that was read became outstanding. `flushes`: it only waits for its completion.
#[hdl_fn]
pub fn after_start(row: QueueRow, message: Reading, flushes: Bit, first: Psn) -> QueueRow {
    let entry = message.entry;
    let mut after = row;
    let has_packets: Bits<1> = (entry.sends & !flushes).into();
    let counts: Bits<1> = (entry.counts & !flushes).into();
    after.next_slot = row.next_slot + 1;
    after.next_block = message.block;
    after.next_passed = message.crosses;
    after.outstanding = row.outstanding + 1;
    after.with_packets = row.with_packets + bit_cast::<11, 1>(has_packets);
    after.next_msn = row.next_msn + bit_cast::<24, 1>(has_packets);
    after.wimm = row.wimm + bit_cast::<11, 1>(counts);
    after.next_rqmsn = row.next_rqmsn + bit_cast::<16, 1>(counts);
    after.last_end = first + entry.packets;
    after.stopped = row.stopped | is_faulty(entry);
    after.blocked = false;
    after.failed = row.failed & !flushes;
    after
}

/// Returns the row after the completion of its oldest message. `next_block` is the block behind its one, which counts unless it was the last message, `is_last`.
#[hdl_fn]
pub fn after_completion(
    row: QueueRow,
    message: Reading,
    is_last: Bit,
    next_block: Block,
) -> QueueRow {
    let entry = message.entry;
    let crosses = message.crosses;
    let mut after = row;
    let has_packets: Bits<1> = entry.sends.into();
    let counts: Bits<1> = entry.counts.into();
    after.outstanding = row.outstanding - 1;
    after.with_packets = row.with_packets - bit_cast::<11, 1>(has_packets);
    after.wimm = row.wimm - bit_cast::<11, 1>(counts);
    after.first_block = if crosses & !is_last {
        next_block
    } else {
        row.first_block
    };
    after.first_passed = crosses & is_last;
    after
}

/// Returns whether all packets of a message have PSNs before `psn`.
#[hdl_fn]
pub fn is_over(entry: Entry, started: Started, psn: Psn) -> Bit {
    (psn - started.first) >= entry.packets
}

/// Returns whether a message that started cannot be sent, or not completely.
#[hdl_fn]
pub fn has_failed(started: Started) -> Bit {
    started.status != SUCCESS
}
