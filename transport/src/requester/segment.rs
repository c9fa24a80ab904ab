//! Segmentation at the path MTU, and where a packet's payload is (hardware block `segment`).

use stellar_wire::host::{Wqe, WqeOpcode};
use stellar_wire::{Opcode, Position};

use super::Message;
use crate::rx::{
    check_bounds, find_region, look_up_pages, write_opcode, DropReason, Pieces, Psn, QpMode, Tables,
};

/// One packet of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub opcode: Opcode,
    /// Bytes of the message before it.
    pub offset: u32,
    /// Payload bytes, 0 to the path MTU.
    pub length: u16,
    /// The last packet of its message.
    pub last: bool,
}

/// Payload bytes of the packet `psn` of a message, which has it.
#[inline]
pub fn segment_length(message: &Message, psn: Psn, mtu: u32) -> u16 {
    let offset = psn.distance_from(message.first) * mtu;
    (message.wqe.length - offset).min(mtu) as u16
}

/// The packet `psn` of a message, which has it.
#[inline]
pub fn segment(message: &Message, psn: Psn, mtu: u32, mode: QpMode) -> Segment {
    let index = psn.distance_from(message.first);
    assert!(index < message.packets, "packet {index} of {message:?}");
    let offset = index * mtu;
    let last = index + 1 == message.packets;
    let position = match (index == 0, last) {
        (true, true) => Position::Only,
        (true, false) => Position::First,
        (false, false) => Position::Middle,
        (false, true) => Position::Last,
    };
    let immediate = message.wqe.opcode == WqeOpcode::WriteImm;
    Segment {
        opcode: write_opcode(mode, position, immediate),
        offset,
        length: segment_length(message, psn, mtu),
        last,
    }
}

/// Where the bytes of a packet are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// The bytes are in the work request.
    Inline([u8; Wqe::INLINE]),
    /// The bytes are in memory: pieces in address order. There are none for an empty payload, or if access is not checked.
    Memory(Pieces),
}

/// Finds a packet's payload, checking the local buffer on the way: the key, the queue pair's protection domain `pd`,
/// the bounds of the *whole* message, and the pages of this packet. Reading one's own buffer takes no access right
/// (InfiniBand architecture volume 1, section 10.6.3.1: local read is always allowed).
///
/// # Errors
/// `BadKey`, `WrongPd`, `OutOfBounds`, `InvalidPage`, `PageAbsent`.
#[inline]
pub fn locate_payload(
    tables: &Tables,
    pd: u32,
    wqe: &Wqe,
    segment: &Segment,
) -> Result<Payload, DropReason> {
    if wqe.inline {
        return Ok(Payload::Inline(wqe.inline_data));
    }
    if wqe.length == 0 || !tables.checks_access() {
        return Ok(Payload::Memory(Pieces::new()));
    }
    let region = find_region(tables, pd, wqe.lkey)?;
    check_bounds(&region, wqe.local_va, wqe.length.into())?;
    let va = wqe.local_va.wrapping_add(segment.offset.into());
    look_up_pages(tables, &region, va, segment.length.into()).map(Payload::Memory)
}
