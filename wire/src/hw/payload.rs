//! Records that accompany a payload from memory to its frame (`docs/tx_lane.md`).

use rust_hdl::prelude::*;

/// Source of the payload of the next frame that has a payload.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PayloadSource {
    /// High: the payload is `inline_data`, with byte 0 in bits 7:0. Low: it is the next read of the DMA engine, and `inline_data` has, from
    /// [`READ_ADDRESS`] on, the bus address of its first byte.
    pub inline: Bit,
    pub inline_data: Bits<512>,
}

/// Lowest bit of the address in [`PayloadSource::inline_data`], 64 bits.
pub const READ_ADDRESS: usize = 0;

/// Lowest bits of the fields of [`super::read::ReadCommand::user`], which identifies the requester of a read.
pub mod read_user {
    /// Payload: send queue index of the message, 16 bits.
    pub const SLOT: usize = 0;
    /// Queue pair, [`QPN_BITS`](crate::hw::QPN_BITS) bits.
    pub const QP: usize = 16;
    /// Epoch of the read: see [`crate::hw::fence`].
    pub const EPOCH: usize = QP + crate::rows::QPN_BITS;
    /// Send queue entries: number of lines, 4 bits.
    pub const LINES: usize = 0;
    /// Bits of all fields.
    pub const BITS: usize = EPOCH + 1;
}
