//! Completion of a WRITE with immediate received.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::host::{CqeOpcode, WcStatus};
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::Qpn;

/// The completion of a message of `length` bytes.
#[hdl_fn]
pub fn received(qp: Qpn, length: Bits<32>, immediate: Bits<32>, msn: Bits<24>) -> Completion {
    Completion {
        qp,
        status: bits::<8>(WcStatus::Success.code() as u64),
        opcode: bits::<8>(CqeOpcode::RecvRdmaWithImm.code() as u64),
        wr_id: bits::<64>(0),
        byte_len: length,
        immediate,
        msn,
        sq_head: bits::<16>(0),
    }
}
