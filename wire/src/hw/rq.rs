//! Requester request descriptor of AMD's PCIe blocks, as a hardware record.

use hdl_macros::FromBits;
use rust_hdl::prelude::*;

/// `request_type` of a memory read.
pub const REQUEST_MEMORY_READ: u64 = 0;
/// `request_type` of a memory write.
pub const REQUEST_MEMORY_WRITE: u64 = 1;

/// RQ descriptor of memory, I/O and atomic requests, 128 bits, first in the AXI stream (PG213, PG346: requester request
/// descriptor format). The same layout as [`crate::pcie::descriptor::RequesterRequest`].
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
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

/// Bits of a slot, the unit in which requests follow each other in a beat: 32 bytes.
pub const SLOT_BITS: usize = 256;

/// Eight slots with descriptors alone, as reads are. A read is put at any of them by a choice of 128 bits for each, instead of shifts of all bits, which
/// take long to simulate.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct DescriptorSlots {
    pub slot_0: Bits<128>,
    pub above_0: Bits<128>,
    pub slot_1: Bits<128>,
    pub above_1: Bits<128>,
    pub slot_2: Bits<128>,
    pub above_2: Bits<128>,
    pub slot_3: Bits<128>,
    pub above_3: Bits<128>,
    pub slot_4: Bits<128>,
    pub above_4: Bits<128>,
    pub slot_5: Bits<128>,
    pub above_5: Bits<128>,
    pub slot_6: Bits<128>,
    pub above_6: Bits<128>,
    pub slot_7: Bits<128>,
    pub above_7: Bits<128>,
}

/// Slots of one write that follow each other.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SlotRun {
    /// Slots, 1 to 5.
    pub count: Bits<3>,
    /// The run has a slot more than a beat.
    pub overflows: Bit,
    /// The first slot begins with the descriptor.
    pub first: Bit,
    /// The write ends in the last slot, with this double word of it.
    pub last: Bit,
    pub end_dword: Bits<3>,
    /// Of the write.
    pub first_be: Bits<4>,
    pub last_be: Bits<4>,
    /// The write is an interrupt message.
    pub message: Bit,
}

/// A read, which takes one slot.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReadSlot {
    pub descriptor: RqDescriptor,
    pub first_be: Bits<4>,
    pub last_be: Bits<4>,
}
