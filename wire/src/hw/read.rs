//! Records of the DMA read engine: its commands, its requests to PCIe, and the completions.

use super::core::DmaSegments;
use super::payload::read_user;
use rust_hdl::prelude::*;

/// `CompletionHeader::status` of a successful completion; every other value ends the request without data (PCIe base
/// specification, section 2.2.9). The same code as [`crate::pcie::CompletionStatus::Successful`].
pub const STATUS_SUCCESSFUL: u64 = 0;
/// The same of Unsupported Request. The same code as [`crate::pcie::CompletionStatus::UnsupportedRequest`].
pub const STATUS_UNSUPPORTED: u64 = 1;

/// One read of up to 8,192 bytes from one to three runs of addresses.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReadCommand {
    /// Bytes, 1 to 8,192. 0 returns no bytes; more than 8,192 returns an error. Neither sends a request.
    pub length: Bits<14>,
    /// Addresses of the bytes. A first length beyond `length` is cut to it.
    pub segments: DmaSegments,
    /// Comes back with the payload, unchanged.
    pub user: Bits<{ read_user::BITS }>,
}

/// Header of one memory read request TLP (PCIe base specification, section 2.2.7).
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReadTlpHeader {
    /// Address bits 63:2.
    pub address_dw: Bits<62>,
    /// Address type: 00 untranslated, 10 translated.
    pub at: Bits<2>,
    /// Double words to read, 1 to 1,024.
    pub length_dw: Bits<11>,
    pub first_be: Bits<4>,
    /// Zero when `length_dw` is 1.
    pub last_be: Bits<4>,
    /// Tag of the request, which no other outstanding request has.
    pub tag: Bits<8>,
}

/// Header of one completion (PCIe base specification, section 2.2.9), beside a stream of its payload: byte lane 0 of the first beat is
/// byte lane 0 of the completion's first double word.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CompletionHeader {
    pub tag: Bits<8>,
    /// Bytes the request still waits for, these included, 1 to 4,096.
    pub byte_count: Bits<13>,
    /// Low 7 bits of the address of the first byte enabled.
    pub lower_address: Bits<7>,
    /// Double words of payload, 0 to 1,024.
    pub length_dw: Bits<11>,
    /// 000 SC, 001 UR, 010 RRS, 100 CA.
    pub status: Bits<3>,
    /// EP: the payload is known to be wrong.
    pub poisoned: Bit,
}

/// The fields that accompany the data of one beat of a read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReadBeat {
    /// Valid bytes, from byte lane 0 on: all of them unless this is the last beat.
    pub bytes: Bits<8>,
    pub last: Bit,
    /// The read failed: this is its only beat, and it has no bytes.
    pub error: Bit,
    /// The value of the command, the same on every beat.
    pub user: Bits<{ read_user::BITS }>,
}

/// A read that failed, for the event queue.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FailedRead {
    /// Code of the event ([`crate::host::EventKind`]): what was read.
    pub kind: Bits<8>,
    /// Queue pair, or endpoint of a flush read.
    pub source: Bits<24>,
    /// Bus address.
    pub address: Bits<64>,
}

/// Bit offsets in the requester completion descriptor of AMD's PCIe blocks, first in the AXI stream (PG213, PG346: requester completion
/// descriptor format). The same layout as [`crate::pcie::descriptor::RequesterCompletion`].
pub mod rc_descriptor {
    /// Bits of the descriptor: three double words.
    pub const BITS: usize = 96;
    /// 12 bits; the low 7 are those of the completion header.
    pub const LOWER_ADDRESS: usize = 0;
    /// 4 bits: 0 normal, 1 poisoned, others as the block judged the completion.
    pub const ERROR_CODE: usize = 12;
    /// 13 bits.
    pub const BYTE_COUNT: usize = 16;
    /// The block regards the request as ended.
    pub const REQUEST_COMPLETED: usize = 30;
    /// 11 bits.
    pub const DWORD_COUNT: usize = 32;
    /// 3 bits.
    pub const STATUS: usize = 43;
    pub const POISONED: usize = 46;
    /// 8 bits.
    pub const TAG: usize = 64;
    /// Highest `ERROR_CODE` of a completion whose descriptor is valid.
    pub const ERROR_CODE_POISONED: u64 = 1;
}
