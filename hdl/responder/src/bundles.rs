//! Port groups of the responder.

use hdl_macros::bundle;
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

/// The driving end of a stream of queue pairs whose pending packets are visited.
#[bundle(keep)]
pub struct VisitSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    /// The port by which an acknowledgement leaves.
    pub port: Signal<Out, Bit>,
    /// What is pending is from before a reset, and is forgotten.
    pub forgets: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
}

/// What the responder counts: one cycle per event.
#[bundle]
pub struct ResponderPulsesSrc {
    /// A WRITE with immediate beyond MAX_WIMM.
    pub wimm_exceeded: Signal<Out, Bit>,
    /// An outcome of a queue pair that is in error: it is not acknowledged.
    pub ignored: Signal<Out, Bit>,
    pub answered_ack: Signal<Out, Bit>,
    pub answered_nak: Signal<Out, Bit>,
    pub answered_sack: Signal<Out, Bit>,
    pub answered_nack: Signal<Out, Bit>,
}
