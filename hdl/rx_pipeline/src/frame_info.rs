//! Properties of a frame that are known after its last beat.

use rust_hdl::prelude::*;
use stellar_wire::mtu::LENGTH_BITS;

use crate::beat::OuterHeaders;

/// Valid once per frame, together with the window on its headers.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FrameInfo {
    pub outer: OuterHeaders,
    /// Bytes from the start of the IP header; undefined if `oversize`.
    pub bytes: Bits<LENGTH_BITS>,
    /// The frame has more IP bytes than the lane accepts ([`MAX_IP_BYTES`](crate::layout::MAX_IP_BYTES)).
    pub oversize: Bit,
    pub mac_error: Bit,
}
