//! Bundles of the receive front end, and of what enters the core besides packets.

use hdl_macros::bundle;
use rust_hdl::prelude::*;
use stellar_wire::hw::control::ControlPeer;
use stellar_wire::hw::Qpn;

use crate::beat::BeatInfo;

/// The driving end of frames in beats between the blocks of the front end. They cannot be stalled.
#[bundle]
pub struct BeatFlowSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    /// Bytes beyond `beat.bytes` are undefined.
    pub data: Signal<Out, Bits<W>>,
    pub beat: Signal<Out, BeatInfo>,
}

/// The driving end of requests to move the context of a queue pair to state Error, in order with packets.
#[bundle]
pub struct QpErrorSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of writes to the table of peers: from which peer a queue pair accepts control packets. They are always accepted.
#[bundle]
pub struct PeerFlowSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub record: Signal<Out, ControlPeer>,
}
