//! How payload finds its way from memory to its frame (`docs/tx_lane.md`).

use rust_hdl::prelude::*;

/// Where the payload of the next frame that has any comes from.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PayloadSource {
    /// It is `inline_data`, byte 0 in bits 7:0; otherwise the DMA's next read.
    pub inline: Bit,
    pub inline_data: Bits<128>,
}

/// Lowest bits of the fields of [`super::read::ReadCommand::user`]: who asked, and for what.
pub mod read_user {
    /// Payload: send queue index of the message, 16 bits.
    pub const SLOT: usize = 0;
    /// Queue pair, 10 bits.
    pub const QP: usize = 16;
    /// Payload: port that the packet leaves by.
    pub const PORT: usize = 26;
    /// The read is of send queue entries.
    pub const FETCH: usize = 27;
    /// Of a fetch: entries, 4 bits.
    pub const ENTRIES: usize = 0;
}
