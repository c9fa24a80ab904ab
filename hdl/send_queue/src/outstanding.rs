//! Outstanding messages, and how their start and completion change the row.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Message;
use stellar_wire::hw::Psn;

use crate::entry::{has_immediate, is_nop};
use crate::records::{Entry, Lookup, MessageRow, QueueRow};

/// Returns the message of an entry.
#[hdl_fn]
pub fn message_of(entry: Entry, row: QueueRow, lookup: Lookup, first: Psn) -> MessageRow {
    let wqe = entry.wqe;
    let immediate = has_immediate(wqe);
    let rqmsn = if immediate & !lookup.fault {
        row.next_rqmsn
    } else {
        bits::<16>(0)
    };
    MessageRow {
        message: Message {
            has_immediate: immediate,
            inline: wqe.inline,
            fault: lookup.fault,
            slot: row.next_slot,
            length: wqe.length,
            remote_va: wqe.remote_va,
            rkey: wqe.rkey,
            immediate: wqe.immediate,
            local_va: wqe.local_va,
            lkey: wqe.lkey,
            inline_data: wqe.inline_data,
            first,
            packets: lookup.packets,
            msn: row.next_msn.get_bits::<16>(0),
            rqmsn,
        },
        nop: is_nop(wqe),
        signaled: wqe.signaled,
        msn_high: row.next_msn.get_bits::<8>(16),
        status: lookup.status,
        wr_id: wqe.wr_id,
    }
}

/// Returns the row after the start of a message.
#[hdl_fn]
pub fn after_start(row: QueueRow, lookup: Lookup, message: MessageRow) -> QueueRow {
    let mut after = row;
    let has_packets: Bits<1> = lookup.has_packets.into();
    let counts: Bits<1> = (message.message.has_immediate & !lookup.fault).into();
    after.outstanding = row.outstanding + 1;
    after.with_packets = row.with_packets + bit_cast::<8, 1>(has_packets);
    after.next_msn = row.next_msn + bit_cast::<24, 1>(has_packets);
    after.wimm = row.wimm + bit_cast::<8, 1>(counts);
    after.next_rqmsn = row.next_rqmsn + bit_cast::<16, 1>(counts);
    after.last_first = message.message.first;
    after.last_packets = message.message.packets;
    after.stopped = lookup.fault;
    after
}

/// Returns the row after the completion of its oldest message.
#[hdl_fn]
pub fn after_completion(row: QueueRow, message: MessageRow) -> QueueRow {
    let mut after = row;
    let has_packets: Bits<1> = (!message.nop).into();
    let counts: Bits<1> = message.message.has_immediate.into();
    after.outstanding = row.outstanding - 1;
    after.with_packets = row.with_packets - bit_cast::<8, 1>(has_packets);
    after.wimm = row.wimm - bit_cast::<8, 1>(counts);
    after
}
