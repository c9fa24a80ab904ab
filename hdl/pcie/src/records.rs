//! Records between the blocks of the DMA write engine.

use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::mtu::LENGTH_BITS;

/// Bits of a byte position in the packet buffer: 2^12 beats of at most 2^7 bytes. Narrower lanes leave the top bits zero.
pub const POSITION_BITS: usize = 19;

/// The end of a command: the buffer space that it frees, or a fence.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CommandEnd {
    /// The command is a fence.
    pub fence: Bit,
    /// The buffer span of the command is no longer needed after this record.
    pub free: Bit,
    pub free_beats: Bits<8>,
}

/// Consecutive payload bytes that go to consecutive addresses.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PlaceSegment {
    /// There are bytes to write. Otherwise only `end` is used.
    pub place: Bit,
    pub end: CommandEnd,
    pub address: Bits<64>,
    pub translated: Bit,
    /// Bytes, 0 to 8,192.
    pub length: Bits<LENGTH_BITS>,
    /// Position of the first byte in the ring of the packet buffer.
    pub position: Bits<19>,
    /// These two are as in the place command.
    pub flush: Bit,
    pub device: Bits<10>,
}

/// One memory request, or only the end of a command.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RequestChunk {
    pub place: Bit,
    pub end: CommandEnd,
    pub header: WriteTlpHeader,
    /// Position of byte lane 0 of the first double word in the ring of the packet buffer: up to 3 bytes before the first payload byte.
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
    /// Byte of the low buffer beat that moves to byte lane 0.
    pub byte: Bits<7>,
    /// Last byte lane with payload: less than all only in the last beat.
    pub last_lane: Bits<7>,
}

/// Side information of a beat in the output FIFO.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TlpBeat {
    /// The entry is a fence, not a beat.
    pub fence: Bit,
    pub header: WriteTlpHeader,
    pub first: Bit,
    pub last: Bit,
    /// Last beat of the command.
    pub ends: Bit,
}
