//! What is known about a frame when its last beat has passed.

use rust_hdl::prelude::*;
use stellar_wire::mtu::LENGTH_BITS;

use crate::beat::OuterHeaders;

/// Said once per frame, beside its first bytes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FrameInfo {
    pub outer: OuterHeaders,
    /// Bytes from the start of the IP header; means nothing if `oversize`.
    pub bytes: Bits<LENGTH_BITS>,
    /// More IP bytes than the lane takes ([`MAX_IP_BYTES`](crate::layout::MAX_IP_BYTES)).
    pub oversize: Bit,
    pub mac_error: Bit,
}
