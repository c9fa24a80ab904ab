//! Messages of Address Translation Services in AMD's streams, as hardware records (PG213, PG346: descriptor formats of ATS messages; PCIe base
//! specification, section 10.3).

use hdl_macros::FromBits;
use rust_hdl::prelude::*;

/// `request_type` of ATS messages in both descriptors.
pub const REQUEST_ATS_MESSAGE: u64 = 14;
/// `code` of Invalidate Request and Invalidate Completion.
pub const CODE_INVALIDATE_REQUEST: u64 = 1;
pub const CODE_INVALIDATE_COMPLETION: u64 = 2;
/// `routing` of a message that is routed by ID.
pub const ROUTED_BY_ID: u64 = 2;
/// Values of ITag.
pub const ITAGS: usize = 32;

/// CQ descriptor of a message, 128 bits. The same layout as [`crate::pcie::descriptor::InvalidateRequest`].
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct CqMessage {
    /// Bytes 8 to 15 of the TLP's header, byte 8 lowest.
    pub header: Bits<64>,
    /// Double words of the body.
    pub dword_count: Bits<11>,
    pub request_type: Bits<4>,
    pub reserved: Bit,
    pub requester: Bits<16>,
    /// ITag of an Invalidate Request.
    pub itag: Bits<5>,
    pub reserved_tag: Bits<3>,
    pub code: Bits<8>,
    pub routing: Bits<3>,
    pub reserved_routing: Bits<6>,
    pub traffic_class: Bits<3>,
    pub attributes: Bits<3>,
    pub reserved_end: Bit,
}

/// RQ descriptor of an Invalidate Completion, 128 bits. The same layout as [`crate::pcie::descriptor::InvalidateCompletion`].
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RqInvalidateCompletion {
    /// Bus number of the translation agent, byte 8 of the TLP's header; device and function, byte 9.
    pub target_bus: Bits<8>,
    pub target_function: Bits<8>,
    pub reserved_target: Bits<8>,
    /// Completion Count; 0 stands for 8.
    pub count: Bits<3>,
    pub reserved_count: Bits<5>,
    /// ITag vector, its most significant byte first.
    pub itags_24: Bits<8>,
    pub itags_16: Bits<8>,
    pub itags_8: Bits<8>,
    pub itags_0: Bits<8>,
    pub dword_count: Bits<11>,
    pub request_type: Bits<4>,
    pub poisoned: Bit,
    pub requester: Bits<16>,
    pub tag: Bits<8>,
    pub code: Bits<8>,
    pub routing: Bits<3>,
    pub reserved: Bits<5>,
    /// Use `requester` instead of the function's own ID.
    pub requester_id_enable: Bit,
    pub traffic_class: Bits<3>,
    pub attributes: Bits<3>,
    pub force_ecrc: Bit,
}

/// Invalidations that are complete.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Invalidated {
    /// ID of the translation agent: bus 15:8, device and function 7:0.
    pub target: Bits<16>,
    /// Bit n: the request with ITag n.
    pub itags: Bits<32>,
}
