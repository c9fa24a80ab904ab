//! Which part of its message a packet carries (reference: `stellar_transport::requester::segment`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Message;
use stellar_wire::Opcode;

/// Where a packet lies in its message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Place {
    pub first: Bit,
    pub last: Bit,
    /// Bytes of the message before it.
    pub offset: Bits<32>,
}

/// The place of packet `psn`. Levels: two carry chains, a barrel shift of 3 in between.
#[hdl_fn]
pub fn place_of(message: Message, psn: Bits<24>, mtu_log2: Bits<4>) -> Place {
    let index = psn - message.first;
    Place {
        first: !index.any(),
        last: index + 1 == message.packets,
        offset: bit_cast::<32, 24>(index) << bit_cast::<32, 4>(mtu_log2),
    }
}

/// Payload bytes of the packet. Levels: a carry chain, 1.
#[hdl_fn]
pub fn payload_length(message: Message, place: Place, mtu_log2: Bits<4>) -> Bits<13> {
    let rest = message.length - place.offset;
    if place.last {
        rest.get_bits::<13>(0)
    } else {
        bits::<13>(1) << bit_cast::<13, 4>(mtu_log2)
    }
}

/// Its opcode. Levels: 1.
#[hdl_fn]
pub fn write_opcode(place: Place, has_immediate: Bit) -> Bits<8> {
    if place.last {
        if place.first {
            if has_immediate {
                bits::<8>(Opcode::MrcWriteOnlyImm.code() as u64)
            } else {
                bits::<8>(Opcode::MrcWriteOnly.code() as u64)
            }
        } else if has_immediate {
            bits::<8>(Opcode::MrcWriteLastImm.code() as u64)
        } else {
            bits::<8>(Opcode::MrcWriteLast.code() as u64)
        }
    } else if place.first {
        bits::<8>(Opcode::MrcWriteFirst.code() as u64)
    } else {
        bits::<8>(Opcode::MrcWriteMiddle.code() as u64)
    }
}
