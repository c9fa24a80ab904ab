//! Port groups that several blocks of the requester have in common.

use hdl_macros::bundle;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::NsccConfig;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::SendQueueConfig;
use stellar_wire::hw::requester::RequesterConfig;
use stellar_wire::hw::spray::{PathUse, SprayConfig};
use stellar_wire::hw::tenant::{TenantCharge, TenantEntry};
use stellar_wire::hw::{Psn, Qpn, SqIndex};
use stellar_wire::rows::TENANT_BITS;

use crate::records::ConfigureKind;

/// The driving end of configurations: each initialises a queue pair in one functional unit. The settings of that unit are stable meanwhile, too.
#[bundle(keep)]
pub struct ConfigureSrc {
    pub valid: Signal<Out, Bit>,
    pub record: Signal<Out, ConfigureKind>,
    pub qp: Signal<Out, Qpn>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of the settings that a configuration writes. Only the settings of the configuration's kind are valid with it.
#[bundle]
pub struct EngineSettingsSrc {
    pub requester: Signal<Out, RequesterConfig>,
    pub queue: Signal<Out, SendQueueConfig>,
    pub spray: Signal<Out, SprayConfig>,
    pub nscc: Signal<Out, NsccConfig>,
    pub path_use: Signal<Out, PathUse>,
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

/// The driving end of what a sequencer tells of the heads that it serves.
#[bundle]
pub struct ServingSrc {
    /// Bit p: an operation in progress serves the head of port p.
    pub heads: Signal<Out, Bits<2>>,
    /// A burst is sent in the background, of this queue pair at this port.
    pub burst_active: Signal<Out, Bit>,
    pub burst_qp: Signal<Out, Qpn>,
    pub burst_port: Signal<Out, Bit>,
}

/// The driving end of a stream of new states of timers.
#[bundle]
pub struct DeadlineSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub armed: Signal<Out, Bit>,
    /// Deadline in ticks of 8 ns.
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

/// A flow's end of the client of a functional unit, with the response. It stays until the next request.
#[bundle]
pub struct UnitSrc<R: Synth, S: Synth> {
    pub start: Signal<Out, Bit>,
    /// Valid with `start`.
    pub request: Signal<Out, R>,
    pub busy: Signal<In, Bit>,
    /// Response to the last request. Valid while `busy` is low.
    pub response: Signal<In, S>,
}

/// The driving end of what is known of the burst that is sent in the background.
#[bundle]
pub struct BackgroundBurstSrc {
    pub active: Signal<Out, Bit>,
    /// The next burst of the other port may be prepared.
    pub ends_soon: Signal<Out, Bit>,
    // Valid with `active`.
    pub qp: Signal<Out, Qpn>,
    pub port: Signal<Out, Bit>,
    pub first_psn: Signal<Out, Psn>,
}

/// The driving end of the space in a transmit window.
#[bundle]
pub struct WindowSpaceSrc {
    /// One cycle: `packets` and `blocks` are valid.
    pub known: Signal<Out, Bit>,
    /// Packets that the PSN window allows, 63 if more.
    pub packets: Signal<Out, Bits<6>>,
    /// Packets that the pool of blocks allows, 63 if more.
    pub blocks: Signal<Out, Bits<6>>,
}

/// The driving end of what a requester engine tells a fence: uses of memory that begin in its current epoch, locations that it drops, and control packets that it takes.
#[bundle]
pub struct EpochUseSrc {
    /// Epoch of what begins in this cycle.
    pub epoch: Signal<In, Bit>,
    /// One cycle: a packet without payload in memory is queued.
    pub packet: Signal<Out, Bit>,
    /// One cycle: a read of send queue entries begins.
    pub fetch: Signal<Out, Bit>,
    /// The location of a payload is dropped: its packet is not sent.
    pub dropped: Signal<Out, EpochEnd>,
    /// A control packet is taken: its operation comes before those that start later.
    pub control: Signal<Out, EpochEnd>,
}

/// The driving end of a stream of shares of tenants.
#[bundle(keep)]
pub struct ShareSrc {
    pub valid: Signal<Out, Bit>,
    pub tenant: Signal<Out, Bits<TENANT_BITS>>,
    pub record: Signal<Out, TenantEntry>,
    pub ready: Signal<In, Bit>,
}

/// A schedule's end of the limits of tenants: what a tenant has sent. The answer comes with `ready`.
#[bundle(keep)]
pub struct ChargeSrc {
    pub valid: Signal<Out, Bit>,
    pub record: Signal<Out, TenantCharge>,
    pub ready: Signal<In, Bit>,
    /// Valid with `ready`: the tenant has tokens, so it may send more.
    pub may_send: Signal<In, Bit>,
}
