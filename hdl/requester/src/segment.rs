//! The part of a message that a packet carries (reference: `stellar_transport::requester::segment`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Message;
use stellar_wire::hw::Psn;
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::rows::{BURST_BYTES, BURST_PACKETS};
use stellar_wire::Opcode;

/// A packet of a message, and the remainder of the message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Segment {
    pub psn: Psn,
    pub first: Bit,
    pub last: Bit,
    /// Bytes of the message before the packet.
    pub offset: Bits<32>,
    /// Bytes of the message from the packet on.
    pub rest: Bits<32>,
    /// Packets of the message from this one on.
    pub left: Bits<24>,
}

/// Returns packet `psn` of a message without `rest` and `left`. Levels: two carry chains with a barrel shift of 3 between them.
#[hdl_fn]
pub fn segment_at(message: Message, psn: Psn, mtu_log2: Bits<4>) -> Segment {
    let index = psn - message.first;
    Segment {
        psn,
        first: !index.any(),
        last: index + 1 == message.packets,
        offset: bit_cast::<32, 24>(index) << bit_cast::<32, 4>(mtu_log2),
        rest: bits::<32>(0),
        left: bits::<24>(0),
    }
}

/// Computes the fields `rest` and `left` of `segment`. Levels: two carry chains.
#[hdl_fn]
pub fn measured(message: Message, segment: Segment) -> Segment {
    Segment {
        rest: message.length - segment.offset,
        left: (message.first + message.packets) - segment.psn,
        ..segment
    }
}

/// Returns the first packet of a message that begins, which has packets. Levels: 4.
#[hdl_fn]
pub fn whole_message(message: Message) -> Segment {
    Segment {
        psn: message.first,
        first: true,
        last: message.packets == 1,
        offset: bits::<32>(0),
        rest: message.length,
        left: message.packets,
    }
}

/// Returns the path MTU in bytes. Levels: 1.
#[hdl_fn]
pub fn mtu_bytes(mtu_log2: Bits<4>) -> Bits<LENGTH_BITS> {
    bits::<LENGTH_BITS>(1) << bit_cast::<LENGTH_BITS, 4>(mtu_log2)
}

/// Returns the packet after this one, which must not be the last. Levels: a carry chain behind 1.
#[hdl_fn]
pub fn segment_after(segment: Segment, mtu_log2: Bits<4>) -> Segment {
    let mtu = bit_cast::<32, LENGTH_BITS>(mtu_bytes(mtu_log2));
    Segment {
        psn: segment.psn + 1,
        first: false,
        last: segment.left == 2,
        offset: segment.offset + mtu,
        rest: segment.rest - mtu,
        left: segment.left - 1,
    }
}

/// Returns the payload bytes of the packet. Levels: 2.
#[hdl_fn]
pub fn payload_length(segment: Segment, mtu_log2: Bits<4>) -> Bits<LENGTH_BITS> {
    if segment.last {
        segment.rest.get_bits::<LENGTH_BITS>(0)
    } else {
        mtu_bytes(mtu_log2)
    }
}

/// Returns the payload bytes of `count` packets from this one on. Levels: 5.
#[hdl_fn]
pub fn bytes_of(segment: Segment, count: Bits<6>, mtu_log2: Bits<4>) -> Bits<24> {
    if segment.left == bit_cast::<24, 6>(count) {
        segment.rest.get_bits::<24>(0)
    } else {
        bit_cast::<24, 6>(count) << bit_cast::<24, 4>(mtu_log2)
    }
}

/// Opcode bits that select the transport: they differ between a packet over MRC and the same packet over RC.
const MRC: u64 = (Opcode::MrcWriteFirst.code() ^ Opcode::RcWriteFirst.code()) as u64;

/// Returns the opcode of the packet. Levels: 1.
#[hdl_fn]
pub fn write_opcode(segment: Segment, has_immediate: Bit, rc: Bit) -> Bits<8> {
    let over_rc = rc_write_opcode(segment, has_immediate);
    if rc {
        over_rc
    } else {
        over_rc ^ bits::<8>(MRC)
    }
}

/// Returns the opcode of the packet over RC. Levels: 1.
#[hdl_fn]
fn rc_write_opcode(segment: Segment, has_immediate: Bit) -> Bits<8> {
    if segment.last {
        if segment.first {
            if has_immediate {
                bits::<8>(Opcode::RcWriteOnlyImm.code() as u64)
            } else {
                bits::<8>(Opcode::RcWriteOnly.code() as u64)
            }
        } else if has_immediate {
            bits::<8>(Opcode::RcWriteLastImm.code() as u64)
        } else {
            bits::<8>(Opcode::RcWriteLast.code() as u64)
        }
    } else if segment.first {
        bits::<8>(Opcode::RcWriteFirst.code() as u64)
    } else {
        bits::<8>(Opcode::RcWriteMiddle.code() as u64)
    }
}

/// Packets of a burst, at most; and full packets of 1 KiB to 8 KiB.
const MOST: u64 = BURST_PACKETS as u64;
const FULL_1K: u64 = (BURST_BYTES >> 10) as u64;
const FULL_2K: u64 = (BURST_BYTES >> 11) as u64;
const FULL_4K: u64 = (BURST_BYTES >> 12) as u64;
const FULL_8K: u64 = (BURST_BYTES >> 13) as u64;
const _: () = assert!(FULL_1K < MOST && (BURST_BYTES >> 9) as u64 == MOST);

/// Returns whether the bytes of full packets limit a burst, and not their number. Levels: 1.
#[hdl_fn]
pub fn is_limited_by_bytes(mtu_log2: Bits<4>) -> Bit {
    mtu_log2 > 9
}

/// Returns the maximum number of packets of a burst (reference: `Messages::burst_limit`): 16 KiB of full packets, but at most 32 packets; 32 if all of its messages
/// are short. Levels: 2.
#[hdl_fn]
pub fn burst_limit(mtu_log2: Bits<4>, only_short: Bit) -> Bits<6> {
    if only_short {
        bits::<6>(MOST)
    } else if mtu_log2 == 13 {
        bits::<6>(FULL_8K)
    } else if mtu_log2 == 12 {
        bits::<6>(FULL_4K)
    } else if mtu_log2 == 11 {
        bits::<6>(FULL_2K)
    } else if mtu_log2 == 10 {
        bits::<6>(FULL_1K)
    } else {
        bits::<6>(MOST)
    }
}

/// Returns `number` limited to 63, which is more than any burst has. Levels: 4.
#[hdl_fn]
pub fn at_most_63(number: Bits<24>) -> Bits<6> {
    if number.get_bits::<18>(6).any() {
        bits::<6>(63)
    } else {
        number.get_bits::<6>(0)
    }
}

/// Returns the smaller number. Levels: 3.
#[hdl_fn]
pub fn smaller(a: Bits<6>, b: Bits<6>) -> Bits<6> {
    if a < b {
        a
    } else {
        b
    }
}
