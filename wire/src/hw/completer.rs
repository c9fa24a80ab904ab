//! The completer side of AMD's PCIe blocks as hardware records: requests of the host to the card's BARs, and their completions (PG213, PG343, PG346:
//! completer request and completer completion descriptor formats).

use hdl_macros::FromBits;
use rust_hdl::prelude::*;

pub use super::rq::{REQUEST_MEMORY_READ, REQUEST_MEMORY_WRITE};

/// Lowest `CqDescriptor::request_type` of messages, which have no completion.
pub const REQUEST_MESSAGE: u64 = 12;

/// Double words of [`CqDescriptor`].
pub const CQ_DWORDS: usize = 4;
/// Double words of [`CcDescriptor`].
pub const CC_DWORDS: usize = 3;

/// CQ descriptor, 128 bits, first in the AXI stream. The same layout as [`crate::pcie::descriptor::CompleterRequest`].
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct CqDescriptor {
    /// Address type: 00 untranslated, 10 translated.
    pub at: Bits<2>,
    /// Address bits 63:2.
    pub address_dw: Bits<62>,
    /// Length in double words.
    pub dword_count: Bits<11>,
    pub request_type: Bits<4>,
    pub reserved: Bit,
    pub requester: Bits<16>,
    /// Tag bits 7:0.
    pub tag: Bits<8>,
    /// Function whose BAR was hit.
    pub target_function: Bits<8>,
    /// Number of the BAR.
    pub bar_id: Bits<3>,
    /// log2 of the BAR's size in bytes.
    pub bar_aperture: Bits<6>,
    pub traffic_class: Bits<3>,
    /// ID-based ordering, relaxed ordering, no snoop from bit 2 down.
    pub attributes: Bits<3>,
    pub reserved_end: Bit,
}

/// CC descriptor, 96 bits, first in the AXI stream. The same layout as [`crate::pcie::descriptor::CompleterCompletion`].
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CcDescriptor {
    /// Low 7 bits of the address of the first byte.
    pub lower_address: Bits<7>,
    pub reserved_address: Bit,
    /// Copied from the request.
    pub at: Bits<2>,
    pub reserved_at: Bits<6>,
    /// Bytes the request still waits for, these included.
    pub byte_count: Bits<13>,
    pub locked: Bit,
    pub reserved_locked: Bits<2>,
    /// Double words of payload.
    pub dword_count: Bits<11>,
    /// Code of a [`crate::pcie::CompletionStatus`].
    pub status: Bits<3>,
    pub poisoned: Bit,
    pub reserved_poisoned: Bit,
    pub requester: Bits<16>,
    pub tag: Bits<8>,
    /// Target function of the request; the block adds bus and device.
    pub completer: Bits<16>,
    pub completer_id_enable: Bit,
    pub traffic_class: Bits<3>,
    pub attributes: Bits<3>,
    pub force_ecrc: Bit,
}

/// A request of the host as the card works on it: one aligned 64-bit word of a memory write, or a whole request that needs a completion.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CompleterWork {
    /// The request needs a completion, and `word` is not used. Otherwise only `word` is used.
    pub completes: Bit,
    pub descriptor: CqDescriptor,
    pub first_be: Bits<4>,
    pub last_be: Bits<4>,
    pub word: BarAccess,
}

/// Access to an aligned 64-bit word of a BAR.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BarAccess {
    /// A write; otherwise a read.
    pub write: Bit,
    /// Number of the BAR.
    pub bar: Bits<3>,
    /// Bytes from the start of the BAR, a multiple of 8.
    pub address: Bits<28>,
    pub data: Bits<64>,
    /// Bit i: byte i of `data` is written. All in a read.
    pub enable: Bits<8>,
}

/// A completion with its payload.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CompleterAnswer {
    pub descriptor: CcDescriptor,
    /// Double words with those of the descriptor. Behind it are those of `dword_count`, or the description of a request that failed.
    pub dwords: Bits<6>,
    pub payload: Bits<1024>,
    /// It leaves behind the interrupt messages that are on their way.
    pub after_messages: Bit,
}
