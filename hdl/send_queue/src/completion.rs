//! Completions of messages (reference: `Messages::completion`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::host::{CqeOpcode, WcStatus};
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::{Qpn, SqIndex};

use crate::entry::{has_immediate, is_nop};
use crate::records::{Entry, Started};

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

/// Returns the completion of a message.
#[hdl_fn]
pub fn completion_of(
    qp: Qpn,
    entry: Entry,
    started: Started,
    slot: SqIndex,
    status: Bits<8>,
) -> Completion {
    let wqe = entry.wqe;
    Completion {
        qp,
        status,
        opcode: opcode_of(is_nop(wqe), has_immediate(wqe)),
        wr_id: wqe.wr_id,
        byte_len: wqe.length,
        immediate: bits::<32>(0),
        msn: started.msn,
        sq_head: slot + 1,
    }
}
