//! Records between the core, the DMA write engine and the PCIe requester interface.

use super::core::{BufferSpan, DmaSegments};
use rust_hdl::prelude::*;

/// Command of `verdict` to the DMA write engine: one per token that is a frame or a fence, in order.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PlaceCommand {
    /// Fence: report when everything before it has left; the other fields are ignored.
    pub fence: Bit,
    /// Place the payload; otherwise only free the buffer.
    pub place: Bit,
    pub span: BufferSpan,
    /// Byte offset of the payload in the frame as buffered.
    pub offset: Bits<8>,
    /// Payload bytes, 0 to 8,192.
    pub length: Bits<14>,
    pub segments: DmaSegments,
    /// What reports the packet must not do so before a read behind the payload has come back, because PCIe orders the payload with nothing that the card
    /// sends later: see [`WriteTlpHeader::flush`].
    pub flush: Bit,
    /// Device that owns the GPU's pages of the payload, as in [`super::tables::EmttEntry`].
    pub device: Bits<10>,
}

/// Header of one posted memory write TLP (PCIe Base, memory request header), beside a stream of its payload:
/// byte 0 of the first beat is byte lane 0 of the first double word.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WriteTlpHeader {
    /// Address bits 63:2.
    pub address_dw: Bits<62>,
    /// Address type: 00 untranslated, 10 translated.
    pub at: Bits<2>,
    /// Length in double words, 1 to 1,024.
    pub length_dw: Bits<11>,
    pub first_be: Bits<4>,
    /// Zero when `length_dw` is 1.
    pub last_be: Bits<4>,
    /// Last TLP of a place command. This and the fields below are for the card itself, and are not part of the TLP.
    pub ends: Bit,
    /// A flush read has to follow before anything reports the bytes. PCIe orders writes of one function to one target; a completion of the other endpoint,
    /// or one in host memory for bytes in a GPU, is not ordered with them (PCIe base specification, section 2.4).
    pub flush: Bit,
    /// With a translated address: the device that owns the memory.
    pub device: Bits<10>,
    /// The TLP is an entry of a ring or an interrupt, and belongs to no place command.
    pub of_host_queue: Bit,
    /// The TLP is the interrupt message of this vector.
    pub message: Bit,
    pub vector: Bits<6>,
}

/// Payloads that have reached their memory, in the order of their place commands.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FlushedBatch {
    /// Number of place commands with [`PlaceCommand::flush`], at least 1.
    pub commands: Bits<10>,
    /// A flush read failed or was not answered in time, so nobody knows whether the payloads are in memory.
    pub failed: Bit,
}
