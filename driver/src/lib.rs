//! Userspace driver of the card: bring-up and verbs.
//!
//! ```text
//! Probe ─► Device ─► Context ─► ProtectionDomain ─► MemoryRegion
//!                       │              └──────────► QueuePair ─► post_send
//!                       └─────► CompletionQueue ◄───────┘
//! ```
//!
//! [`PciFunction`] is the driver's only access to the card, which consists of two PCI functions ([`Function`]). [`VfioUser`] reaches a card that `stellar serve` simulates in another process. [`Vfio`]
//! reaches a card that is bound to Linux's `vfio-pci`. `sim-nic` has a function for a Verilated card in this process. [`Probe::new`] checks a
//! function and changes nothing. [`Probe::bring_up`] resets it, writes its tables and makes it a [`Device`]. All other types have the names and the
//! order of verbs.
//!
//! **Memory** outlives the card's access to it. Objects hold the objects from which they were made, so they can be dropped in any order. A posted
//! work request holds its region until it has completed, and a region that is posted cannot be deregistered. If the card does not respond during a
//! teardown, the memory is never freed. The `unsafe` functions of the crate are those that take memory by address:
//! [`ProtectionDomain::register_translated`], whose final addresses no IOMMU checks, and [`ProtectionDomain::register_mapped`] and
//! [`ProtectionDomain::create_mediated_qp`], for guests.
//!
//! **Time** of a simulated card passes only while the driver waits for it ([`PciFunction::relax`]). So a polling loop must call `relax`, or wait with
//! [`CompletionQueue::wait`] and [`Context::wait_event`].
//!
//! `docs/driver.md` walks through bring-up. `cargo run --example bring_up` does it.

#![deny(unsafe_code)]
#![warn(missing_docs)]

mod addresses;
mod admin;
mod card;
mod connect;
mod context;
mod counters;
mod cq;
mod device;
mod error;
mod event;
mod event_queue;
mod events;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
#[cfg(doctest)]
mod forbidden;
mod functions;
mod limits;
mod mapped;
mod numbers;
mod on_demand;
mod open;
pub mod paths;
mod pd;
mod probe;
mod profiles;
mod qp;
mod region;
mod ring;
#[cfg(test)]
mod sanitizer;
mod tenants;
mod vectors;
mod vfio;
mod vfio_user;

pub use addresses::{mapped_length, BusAddresses};
pub use connect::{exchange, ConnectError, Connection, RemoteRegion};
pub use context::{Context, DoorbellPage};
pub use counters::{CardCount, Counter, PortCount};
pub use cq::{Completion, CompletionQueue};
pub use device::{Access, DeviceError, DmaBuffer, DmaMemory, Interrupt, PciFunction, Width};
pub use error::Error;
pub use events::AsyncEvent;
pub use functions::PcieErrors;
pub use limits::Limits;
pub use on_demand::OnDemandShape;
pub use open::{Device, DeviceConfig, PortAddress};
pub use pd::ProtectionDomain;
pub use probe::{Probe, ProbeError};
pub use profiles::ProfileUseError;
pub use qp::{
    random_psn, Backoff, ForeignRings, IllegalTransition, InitAttributes, MediatedQueuePair,
    Modify, PathAttributes, Policy, PostError, QpState, QueuePair, QueuePairConfig, RcPaths,
    RcRtrAttributes, RcRtsAttributes, RtrAttributes, RtsAttributes, SkipScope, Source, Transport,
    WorkRequest, WrOpcode, DEFAULT_WRITE_IMM,
};
pub use region::{AccessFlags, DeregisterError, Hold, MemoryRegion, Pages};
pub use stellar_wire::config::{
    GeneratedEntropy, PathUseError, ProfileError, RateLimit, TenantShare, TenantShareError,
};
pub use stellar_wire::host::config_space::aer::{HeaderLog, Uncorrectable};
pub use stellar_wire::host::config_space::Function;
pub use stellar_wire::host::{
    CardCounter, CqeOpcode, PortCounter, QpCounter, QpCounters, WcStatus,
};
pub use stellar_wire::receive::DropReason;
pub use stellar_wire::rows::PageSize;
pub use vfio::{Vfio, VfioError};
pub use vfio_user::{VfioUser, VfioUserError};
