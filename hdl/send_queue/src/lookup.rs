//! Evaluation of a queue pair's state for an operation.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::messages::{MessageRequest, SendQueueConfig};

use crate::entry::{has_immediate, is_nop, packet_count};
use crate::records::{Entry, Lookup, QueueRow};

const LOC_LEN_ERR: u64 = WcStatus::LocLenErr.code() as u64;
const LOC_QP_OP_ERR: u64 = WcStatus::LocQpOpErr.code() as u64;

/// Evaluates the state. `full`: no more messages may be outstanding. `is_flush_step`: the operation is a step of a flush. A request finds no outstanding
/// messages in a flushed queue pair.
#[hdl_fn]
pub fn look_up(
    asked: MessageRequest,
    is_flush_step: Bit,
    row: QueueRow,
    entry: Entry,
    settings: SendQueueConfig,
    full: Bit,
) -> Lookup {
    let wqe = entry.wqe;
    let entry_pending = row.asked_phase != entry.phase;
    let present = row.asked & !entry_pending;
    let misplaced = entry.unreadable | (wqe.slot != row.next_slot);
    let fault = misplaced | entry.too_long;
    let fenced = wqe.fence & row.with_packets.any();
    let too_many = has_immediate(wqe) & (bit_cast::<11, 8>(row.wimm) >= settings.max_wimm);
    let status = if misplaced {
        bits::<8>(LOC_QP_OP_ERR)
    } else {
        bits::<8>(LOC_LEN_ERR)
    };
    let has_packets = !fault & !is_nop(wqe);
    let packets = if has_packets {
        packet_count(wqe.length, settings.mtu_log2)
    } else {
        bits::<24>(0)
    };
    let any = row.outstanding.any() & (is_flush_step | !row.flushed);
    let behind = row.next_slot - asked.slot;
    // The doorbell is checked against this index: an entry that `NextMessage` has evaluated counts as taken.
    let taken = if row.flushed {
        row.producer
    } else if row.blocked {
        row.next_slot + 1
    } else {
        row.next_slot
    };
    Lookup {
        any,
        inside: any & behind.any() & (behind <= bit_cast::<16, 8>(row.outstanding)),
        continues: any & !row.stopped & ((asked.psn - row.last_first) < row.last_packets),
        entry_pending,
        present,
        may_start: present & !row.stopped & !full,
        blocked: !fault & (fenced | too_many),
        fault,
        status,
        has_packets,
        packets,
        pending: row.producer - taken,
        pending_after_doorbell: asked.slot - taken,
        more: row.producer != row.next_slot,
        more_after_next: row.producer != (row.next_slot + 1),
        more_after_doorbell: asked.slot != row.next_slot,
    }
}
