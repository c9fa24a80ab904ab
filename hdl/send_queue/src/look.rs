//! What the state of a queue pair says of an operation.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::messages::{MessageRequest, SendQueueConfig};

use crate::entry::{has_immediate, is_nop, packet_count};
use crate::records::{Entry, Looked, QueueRow};

const LOC_LEN_ERR: u64 = WcStatus::LocLenErr.code() as u64;
const LOC_QP_OP_ERR: u64 = WcStatus::LocQpOpErr.code() as u64;

/// `full`: no more messages may be under way. `visits`: not a request, which finds nothing under way in a queue pair that is flushed.
#[hdl_fn]
pub fn look(
    asked: MessageRequest,
    visits: Bit,
    row: QueueRow,
    entry: Entry,
    settings: SendQueueConfig,
    full: Bit,
) -> Looked {
    let wqe = entry.wqe;
    let outstanding = row.asked_phase != entry.phase;
    let present = row.asked & !outstanding;
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
    let any = row.under_way.any() & (visits | !row.flushed);
    let behind = row.next_slot - asked.slot;
    // What the doorbell is held against: entries that Current looked at are taken.
    let taken = if row.flushed {
        row.producer
    } else if row.held_back {
        row.next_slot + 1
    } else {
        row.next_slot
    };
    Looked {
        any,
        inside: any & behind.any() & (behind <= bit_cast::<16, 8>(row.under_way)),
        continues: any & !row.stopped & ((asked.psn - row.last_first) < row.last_packets),
        outstanding,
        present,
        may_start: present & !row.stopped & !full,
        blocked: !fault & (fenced | too_many),
        fault,
        status,
        has_packets,
        packets,
        pending: row.producer - taken,
        rung_pending: asked.slot - taken,
        more: row.producer != row.next_slot,
        more_behind: row.producer != (row.next_slot + 1),
        more_rung: asked.slot != row.next_slot,
    }
}
