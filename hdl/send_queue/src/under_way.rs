//! Messages under way, and what their start and completion change.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Message;

use crate::entry::{has_immediate, is_nop};
use crate::records::{Entry, Looked, MessageRow, QueueRow};

/// The message that an entry becomes.
#[hdl_fn]
pub fn message_of(entry: Entry, row: QueueRow, looked: Looked, first: Bits<24>) -> MessageRow {
    let wqe = entry.wqe;
    let immediate = has_immediate(wqe);
    let rqmsn = if immediate & !looked.fault {
        row.next_rqmsn
    } else {
        bits::<16>(0)
    };
    MessageRow {
        message: Message {
            has_immediate: immediate,
            inline: wqe.inline,
            fault: looked.fault,
            slot: row.next_slot,
            length: wqe.length,
            remote_va: wqe.remote_va,
            rkey: wqe.rkey,
            immediate: wqe.immediate,
            local_va: wqe.local_va,
            lkey: wqe.lkey,
            inline_data: wqe.inline_data,
            first,
            packets: looked.packets,
            msn: row.next_msn.get_bits::<16>(0),
            rqmsn,
        },
        nop: is_nop(wqe),
        signaled: wqe.signaled,
        msn_high: row.next_msn.get_bits::<8>(16),
        status: looked.status,
        wr_id: wqe.wr_id,
    }
}

/// The row behind a message that started.
#[hdl_fn]
pub fn started(row: QueueRow, looked: Looked, message: MessageRow) -> QueueRow {
    let mut after = row;
    let has_packets: Bits<1> = looked.has_packets.into();
    let counts: Bits<1> = (message.message.has_immediate & !looked.fault).into();
    after.under_way = row.under_way + 1;
    after.with_packets = row.with_packets + bit_cast::<8, 1>(has_packets);
    after.next_msn = row.next_msn + bit_cast::<24, 1>(has_packets);
    after.wimm = row.wimm + bit_cast::<8, 1>(counts);
    after.next_rqmsn = row.next_rqmsn + bit_cast::<16, 1>(counts);
    after.last_first = message.message.first;
    after.last_packets = message.message.packets;
    after.stopped = looked.fault;
    after
}

/// The row without its oldest message.
#[hdl_fn]
pub fn without(row: QueueRow, message: MessageRow) -> QueueRow {
    let mut after = row;
    let has_packets: Bits<1> = (!message.nop).into();
    let counts: Bits<1> = message.message.has_immediate.into();
    after.under_way = row.under_way - 1;
    after.with_packets = row.with_packets - bit_cast::<8, 1>(has_packets);
    after.wimm = row.wimm - bit_cast::<8, 1>(counts);
    after
}
