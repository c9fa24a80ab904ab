//! Requester request descriptor of AMD's PCIe blocks, as a hardware record.

use rust_hdl::prelude::*;

/// `request_type` of a memory write.
pub const REQUEST_MEMORY_WRITE: u64 = 1;

/// RQ descriptor of memory, I/O and atomic requests, 128 bits, first in the AXI stream (PG213, PG346: requester request
/// descriptor format). The same layout as [`crate::pcie::descriptor::RequesterRequest`].
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RqDescriptor {
    /// Address type: 00 untranslated, 10 translated.
    pub at: Bits<2>,
    /// Address bits 63:2.
    pub address_dw: Bits<62>,
    /// Length in double words.
    pub dword_count: Bits<11>,
    pub request_type: Bits<4>,
    pub poisoned: Bit,
    pub requester: Bits<16>,
    pub tag: Bits<8>,
    /// Zero for memory requests, which are routed by address.
    pub completer: Bits<16>,
    /// Use `requester` instead of the function's own ID.
    pub requester_id_enable: Bit,
    pub traffic_class: Bits<3>,
    /// ID-based ordering, relaxed ordering, no snoop from bit 2 down.
    pub attributes: Bits<3>,
    pub force_ecrc: Bit,
}
