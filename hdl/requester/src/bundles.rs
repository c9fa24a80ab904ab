//! Port groups that several blocks of the requester have in common.

use hdl_macros::bundle;
use rust_hdl::prelude::*;
use stellar_wire::hw::{Qpn, SqIndex};

use crate::records::ConfigureKind;

/// The driving end of configurations: each initialises a queue pair in one functional unit. The settings of that unit are stable meanwhile, too.
#[bundle(keep)]
pub struct ConfigureSrc {
    pub valid: Signal<Out, Bit>,
    pub record: Signal<Out, ConfigureKind>,
    pub qp: Signal<Out, Qpn>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of new producer indices: doorbells without their entry.
#[bundle(keep)]
pub struct ProducerSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub producer: Signal<Out, SqIndex>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of queue pairs whose timers have expired. An offer is withdrawn if the timer is armed again.
#[bundle]
pub struct DueSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of queue pairs to schedule, with their doorbell pages.
#[bundle]
pub struct ScheduleSrc {
    pub valid: Signal<Out, Bit>,
    pub page: Signal<Out, Bits<16>>,
    pub qp: Signal<Out, Qpn>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of new states of timers.
#[bundle]
pub struct DeadlineSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub armed: Signal<Out, Bit>,
    /// Ticks of 8 ns.
    pub record: Signal<Out, Bits<32>>,
}

/// A flow's end of the client of a functional unit: `start` must be low while the client is busy.
#[bundle]
pub struct CallSrc<R: Synth> {
    pub start: Signal<Out, Bit>,
    /// Valid with `start`.
    pub request: Signal<Out, R>,
    pub busy: Signal<In, Bit>,
}
