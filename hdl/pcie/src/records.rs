//! What travels between the blocks of the DMA write engine.

use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::mtu::LENGTH_BITS;

/// Bits of a byte position in the packet buffer: 2^12 beats of at most 2^7 bytes. Narrower lanes leave the top bits zero.
pub const POSITION_BITS: usize = 19;

/// What ends with a record: how much of the buffer may be reused, or a fence.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CommandEnd {
    /// The command is a fence.
    pub fence: Bit,
    /// The command's buffer span is no longer needed after this record.
    pub free: Bit,
    pub free_beats: Bits<8>,
}

/// Consecutive payload bytes that go to consecutive addresses.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PlacePiece {
    /// There are bytes to write; otherwise only `end` counts.
    pub place: Bit,
    pub end: CommandEnd,
    pub address: Bits<64>,
    pub translated: Bit,
    /// Bytes, 0 to 8,192.
    pub length: Bits<LENGTH_BITS>,
    /// Of the first byte, in the ring of the packet buffer.
    pub position: Bits<19>,
}

/// One memory request, or only the end of a command.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RequestChunk {
    pub place: Bit,
    pub end: CommandEnd,
    pub header: WriteTlpHeader,
    /// Of byte lane 0 of the first double word, in the ring of the packet buffer: up to 3 bytes before the first payload byte.
    pub position: Bits<19>,
}

/// One beat of a memory write, or only the end of a command.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FetchedBeat {
    pub place: Bit,
    pub end: CommandEnd,
    pub header: WriteTlpHeader,
    pub first: Bit,
    pub last: Bit,
    /// Byte of the low buffer beat that goes to byte lane 0.
    pub byte: Bits<7>,
    /// Last byte lane that carries payload; all do unless this is the last beat.
    pub last_lane: Bits<7>,
}

/// What lies beside the data in the output FIFO.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TlpBeat {
    /// Not a beat: a fence that takes its turn.
    pub fence: Bit,
    pub header: WriteTlpHeader,
    pub first: Bit,
    pub last: Bit,
    /// Last beat of its command.
    pub ends: Bit,
}
