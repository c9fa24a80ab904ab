//! Which part of its message a packet carries (reference: `stellar_transport::requester::segment`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Message;
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::Opcode;

/// A packet of a message, and what comes after it.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Segment {
    pub psn: Bits<24>,
    pub first: Bit,
    pub last: Bit,
    /// Bytes of the message before it.
    pub offset: Bits<32>,
    /// Bytes of the message from there on.
    pub rest: Bits<32>,
    /// Packets of the message from this one on.
    pub left: Bits<24>,
}

/// Packet `psn` of a message, `rest` and `left` aside. Levels: two carry chains, a barrel shift of 3 in between.
#[hdl_fn]
pub fn segment_at(message: Message, psn: Bits<24>, mtu_log2: Bits<4>) -> Segment {
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

/// The same with `rest` and `left`. Levels: two carry chains.
#[hdl_fn]
pub fn measured(message: Message, segment: Segment) -> Segment {
    Segment {
        rest: message.length - segment.offset,
        left: (message.first + message.packets) - segment.psn,
        ..segment
    }
}

/// Path MTU in bytes. Levels: 1.
#[hdl_fn]
pub fn mtu_bytes(mtu_log2: Bits<4>) -> Bits<LENGTH_BITS> {
    bits::<LENGTH_BITS>(1) << bit_cast::<LENGTH_BITS, 4>(mtu_log2)
}

/// The packet after this one, if it is not the last. Levels: a carry chain behind 1.
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

/// Payload bytes of the packet. Levels: 2.
#[hdl_fn]
pub fn payload_length(segment: Segment, mtu_log2: Bits<4>) -> Bits<LENGTH_BITS> {
    if segment.last {
        segment.rest.get_bits::<LENGTH_BITS>(0)
    } else {
        mtu_bytes(mtu_log2)
    }
}

/// Payload bytes of `count` packets of the message, from this one on. Levels: 5.
#[hdl_fn]
pub fn bytes_of(segment: Segment, count: Bits<6>, mtu_log2: Bits<4>) -> Bits<24> {
    if segment.left == bit_cast::<24, 6>(count) {
        segment.rest.get_bits::<24>(0)
    } else {
        bit_cast::<24, 6>(count) << bit_cast::<24, 4>(mtu_log2)
    }
}

/// Bits in which the opcode of an MRC packet differs from that of the same packet over RC: those that name the transport.
const MRC: u64 = (Opcode::MrcWriteFirst.code() ^ Opcode::RcWriteFirst.code()) as u64;

/// Its opcode. Levels: 1.
#[hdl_fn]
pub fn write_opcode(segment: Segment, has_immediate: Bit, rc: Bit) -> Bits<8> {
    let over_rc = rc_write_opcode(segment, has_immediate);
    if rc {
        over_rc
    } else {
        over_rc ^ bits::<8>(MRC)
    }
}

/// Its opcode over RC. Levels: 1.
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

/// Packets of a burst at most: as many as make 16 KiB, and no more than 32. Levels: 1.
#[hdl_fn]
pub fn burst_limit(mtu_log2: Bits<4>) -> Bits<6> {
    if mtu_log2 == 13 {
        bits::<6>(2)
    } else if mtu_log2 == 12 {
        bits::<6>(4)
    } else if mtu_log2 == 11 {
        bits::<6>(8)
    } else if mtu_log2 == 10 {
        bits::<6>(16)
    } else {
        bits::<6>(32)
    }
}

/// A number, or 63 if it is larger: enough to be above every limit of a burst. Levels: 4.
#[hdl_fn]
pub fn at_most_63(number: Bits<24>) -> Bits<6> {
    if number.get_bits::<18>(6).any() {
        bits::<6>(63)
    } else {
        number.get_bits::<6>(0)
    }
}

/// The smaller one. Levels: 3.
#[hdl_fn]
pub fn smaller(a: Bits<6>, b: Bits<6>) -> Bits<6> {
    if a < b {
        a
    } else {
        b
    }
}
