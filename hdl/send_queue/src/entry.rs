//! Checks of a send queue entry by itself (reference: `stellar_transport::requester::SendQueue`).

use hdl_macros::hdl_fn;
use hdl_primitives::whole_packets::whole_packets;
use rust_hdl::prelude::*;
use stellar_wire::host::{WcStatus, WqeOpcode, WqeSize};
use stellar_wire::hw::messages::{WqeFetched, SHORT_MESSAGE};
use stellar_wire::hw::wqe::Wqe;
use stellar_wire::hw::{FromBits, SqIndex};

use crate::records::Entry;

/// Longest RDMA message in bytes (InfiniBand architecture volume 1, section 9.4.1).
const MAX_MESSAGE: u64 = 1 << 31;
/// Bytes of inline data of an entry of 64 bytes, at most, and of one of 128 bytes.
const MAX_INLINE: u64 = WqeSize::Bytes64.inline() as u64;
const MAX_LONG_INLINE: u64 = WqeSize::Bytes128.inline() as u64;

const LOC_LEN_ERR: u64 = WcStatus::LocLenErr.code() as u64;
const LOC_QP_OP_ERR: u64 = WcStatus::LocQpOpErr.code() as u64;
const NOP: u64 = WqeOpcode::Nop.code() as u64;
pub const WRITE_IMM: u64 = WqeOpcode::WriteImm.code() as u64;

/// Returns whether an entry of 128 bytes has inline data behind its first line.
#[hdl_fn]
pub fn has_rest(entry: Wqe) -> Bit {
    entry.inline & (entry.length > MAX_INLINE)
}

/// Decodes and checks the first line that a read returned of the entry for `slot`. `long`: it has 128 bytes.
#[hdl_fn]
pub fn decode(answer: WqeFetched, slot: SqIndex, mtu_log2: Bits<4>, long: Bit) -> Entry {
    let mut read = Wqe::from_bits(answer.line);
    read.reserved_flags = bits::<5>(0);
    let unreadable = answer.error | (read.opcode > WRITE_IMM);
    let over_inline = (has_rest(read) & !long) | (read.inline & (read.length > MAX_LONG_INLINE));
    let over = over_inline | (read.length > MAX_MESSAGE);
    let misplaced = unreadable | (read.slot != slot);
    let too_long = over & !unreadable & (read.opcode != NOP);
    let mut wqe = if unreadable { Wqe::default() } else { read };
    wqe.wr_id = if answer.error {
        bits::<64>(0)
    } else {
        read.wr_id
    };
    let executes = !misplaced & !too_long;
    let sends = executes & (read.opcode != NOP);
    Entry {
        misplaced,
        too_long,
        packets: if sends {
            packet_count(read.length, mtu_log2)
        } else {
            bits::<24>(0)
        },
        sends,
        counts: executes & has_immediate(read),
        fenced: executes & read.fence,
        long: executes & (read.length >= SHORT_MESSAGE),
        wqe,
    }
}

/// Returns whether the entry cannot be executed.
#[hdl_fn]
pub fn is_faulty(entry: Entry) -> Bit {
    entry.misplaced | entry.too_long
}

/// Returns why a faulty entry cannot be executed.
#[hdl_fn]
pub fn fault_of(entry: Entry) -> Bits<8> {
    if entry.misplaced {
        bits::<8>(LOC_QP_OP_ERR)
    } else {
        bits::<8>(LOC_LEN_ERR)
    }
}

#[hdl_fn]
pub fn is_nop(wqe: Wqe) -> Bit {
    wqe.opcode == NOP
}

#[hdl_fn]
pub fn has_immediate(wqe: Wqe) -> Bit {
    wqe.opcode == WRITE_IMM
}

/// Returns the number of packets of a message. An empty message has one packet. `length` is at most [`MAX_MESSAGE`].
#[hdl_fn]
pub fn packet_count(length: Bits<32>, mtu_log2: Bits<4>) -> Bits<24> {
    let last_byte = match mtu_log2.to_u8() {
        8 => bits::<32>(0xff),
        9 => bits::<32>(0x1ff),
        10 => bits::<32>(0x3ff),
        11 => bits::<32>(0x7ff),
        12 => bits::<32>(0xfff),
        _ => bits::<32>(0x1fff),
    };
    if length.any() {
        whole_packets(length + last_byte, mtu_log2)
    } else {
        bits::<24>(1)
    }
}
