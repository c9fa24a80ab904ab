//! Properties of a packet that follow from its BTH opcode.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::Position;
use stellar_wire::Opcode;

/// RC and MRC WRITEs have the same low six bits. The top two bits are the transport.
const FAMILY_BITS: u64 = 0b11 << 6;
const WRITE_FIRST: u64 = Opcode::RcWriteFirst.code() as u64;
const WRITE_MIDDLE: u64 = Opcode::RcWriteMiddle.code() as u64;
const WRITE_LAST_IMM: u64 = Opcode::RcWriteLastImm.code() as u64;
const WRITE_ONLY: u64 = Opcode::RcWriteOnly.code() as u64;
const WRITE_ONLY_IMM: u64 = Opcode::RcWriteOnlyImm.code() as u64;
const SEND_ONLY_IMM: u64 = Opcode::RcSendOnlyImm.code() as u64;
const _: () = assert!(Opcode::RcSendFirst.code() == 0);
const READ_REQUEST: u64 = Opcode::RcReadRequest.code() as u64;
const COMPARE_SWAP: u64 = Opcode::RcCompareSwap.code() as u64;
const FETCH_ADD: u64 = Opcode::RcFetchAdd.code() as u64;
const SEND_LAST_INVALIDATE: u64 = Opcode::RcSendLastInvalidate.code() as u64;
const SEND_ONLY_INVALIDATE: u64 = Opcode::RcSendOnlyInvalidate.code() as u64;
const _: () = assert!(Opcode::MrcWriteFirst.code() as u64 == FAMILY_BITS | WRITE_FIRST);
const _: () = assert!(Opcode::MrcWriteOnlyImm.code() as u64 == FAMILY_BITS | WRITE_ONLY_IMM);

/// Properties of a packet by its opcode. If it is neither `supported` nor `refused`, the other fields are undefined. Only supported packets have
/// extension headers. A refused packet counts as a whole message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PacketKind {
    /// RC or MRC WRITE.
    pub supported: Bit,
    /// RC request other than WRITE: SEND, READ, atomics.
    pub refused: Bit,
    pub mrc: Bit,
    pub position: Position,
    pub has_reth: Bit,
    pub has_timestamp: Bit,
    pub has_immediate: Bit,
    /// Extension headers in words of four bytes.
    pub extension_words: Bits<3>,
}

/// Decodes an opcode. `timestamped` is the TSETH bit of the BTH, which does not exist in RC.
/// LUT levels: 4 (8 bits to flags 2, counting the words 2).
#[hdl_fn]
pub fn packet_kind(opcode: Bits<8>, timestamped: Bit) -> PacketKind {
    let low = opcode & (0xff ^ FAMILY_BITS);
    let family = opcode.get_bits::<2>(6);
    let from_first = low >= WRITE_FIRST;
    let to_last = low <= WRITE_ONLY_IMM;
    let supported = (family.all() | !family.any()) & from_first & to_last;
    let mrc = supported & family.all();
    let is_send =
        (low <= SEND_ONLY_IMM) | (low == SEND_LAST_INVALIDATE) | (low == SEND_ONLY_INVALIDATE);
    let is_fetch = (low == READ_REQUEST) | (low == COMPARE_SWAP) | (low == FETCH_ADD);
    let refused = !family.any() & (is_send | is_fetch);
    let only = refused | (low == WRITE_ONLY) | (low == WRITE_ONLY_IMM);
    let has_reth = mrc | (supported & ((low == WRITE_FIRST) | only));
    let has_timestamp = mrc & timestamped;
    let has_immediate = supported & ((low == WRITE_LAST_IMM) | (low == WRITE_ONLY_IMM));
    let position = if only {
        Position::Only
    } else if low == WRITE_FIRST {
        Position::First
    } else if low == WRITE_MIDDLE {
        Position::Middle
    } else {
        Position::Last
    };
    // METH, TSETH and the immediate are one word each, RETH is four.
    let reth_words = if has_reth { bits::<3>(4) } else { bits::<3>(0) };
    let meth_words = if mrc { bits::<3>(1) } else { bits::<3>(0) };
    let timestamp_words = if has_timestamp {
        bits::<3>(1)
    } else {
        bits::<3>(0)
    };
    let immediate_words = if has_immediate {
        bits::<3>(1)
    } else {
        bits::<3>(0)
    };
    PacketKind {
        supported,
        refused,
        mrc,
        position,
        has_reth,
        has_timestamp,
        has_immediate,
        extension_words: reth_words + meth_words + timestamp_words + immediate_words,
    }
}
