//! Completions of messages (reference: `Messages::completion`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::host::{CqeOpcode, WcStatus};
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::wqe::Wqe;
use stellar_wire::hw::Qpn;

use crate::entry::{has_immediate, is_nop};
use crate::records::{MessageRow, QueueRow};

pub const SUCCESS: u64 = WcStatus::Success.code() as u64;
pub const WR_FLUSH_ERR: u64 = WcStatus::WrFlushErr.code() as u64;

const NOP: u64 = CqeOpcode::Nop.code() as u64;
const WRITE: u64 = CqeOpcode::Write.code() as u64;
const WRITE_IMM: u64 = CqeOpcode::WriteImm.code() as u64;

#[hdl_fn]
fn opcode_of(nop: Bit, immediate: Bit) -> Bits<8> {
    if nop {
        bits::<8>(NOP)
    } else if immediate {
        bits::<8>(WRITE_IMM)
    } else {
        bits::<8>(WRITE)
    }
}

/// Returns the completion of an outstanding message.
#[hdl_fn]
pub fn of_message(qp: Qpn, row: MessageRow, status: Bits<8>) -> Completion {
    let message = row.message;
    Completion {
        qp,
        status,
        opcode: opcode_of(row.nop, message.has_immediate),
        wr_id: row.wr_id,
        byte_len: message.length,
        immediate: bits::<32>(0),
        msn: (bit_cast::<24, 8>(row.msn_high) << 16) | bit_cast::<24, 16>(message.msn),
        sq_head: message.slot + 1,
    }
}

/// Returns the completion of an entry that is flushed before its message started.
#[hdl_fn]
pub fn of_entry(qp: Qpn, wqe: Wqe, row: QueueRow) -> Completion {
    Completion {
        qp,
        status: bits::<8>(WR_FLUSH_ERR),
        opcode: opcode_of(is_nop(wqe), has_immediate(wqe)),
        wr_id: wqe.wr_id,
        byte_len: wqe.length,
        immediate: bits::<32>(0),
        msn: row.next_msn,
        sq_head: row.next_slot + 1,
    }
}
