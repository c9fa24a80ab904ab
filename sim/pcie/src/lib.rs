//! PCIe fabric model: switches, GPUs, root complex and memory around a NIC's PCIe endpoints.
//!
//! NIC endpoints and GPUs are below switches with Access Control Services (ACS). Switches are below a root complex with IOMMU, IOTLB and host memory.
//! Links have a configured bandwidth and latency, finite queues and per-class credits, so a full link stalls its senders. Writes on one path stay in
//! order and those on different paths do not, by microseconds if so configured. TLPs are counted by their route; refused and lost TLPs are counted and
//! reported by reason. Faults are injected by rules.
//!
//! ```
//! use sim_pcie::*;
//!
//! let nic: Bdf = "17:00.0".parse().unwrap();
//! let mut fabric = FabricBuilder::new()
//!     .switch(SwitchConfig::new("16:00.0".parse().unwrap()))
//!     .nic(NicConfig::new(nic))
//!     .host_memory(0, 1 << 30)
//!     .build()
//!     .unwrap();
//! fabric.iommu_mut().attach_bypass(nic);
//!
//! let write = MemWrite::of_bytes(nic, 0x1003, AddressType::Untranslated, b"stellar").unwrap();
//! fabric.submit(0, PortId(0), Tlp::Write(write)).unwrap();
//! fabric.run_until_idle();
//! assert_eq!(fabric.host().read(0x1003, 7).unwrap(), b"stellar");
//! assert_eq!(fabric.counters().writes(Route::Host).bytes, 7);
//! ```
//!
//! docs/pcie.md says what is modelled, lists the settings, and has the litmus tests.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod access;
pub mod ats;
mod bdf;
mod builder;
mod byte_enables;
mod calendar;
mod carried;
mod class_queues;
mod codec;
pub mod completer;
mod config;
mod counters;
mod credits;
mod delay;
mod engine;
mod fabric;
mod fabric_error;
mod faults;
pub mod iommu;
mod link;
mod memories;
mod memory;
pub mod platform;
mod port;
mod port_api;
mod responder;
mod routing;
mod tlp;
mod tlp_check;
mod topology;
mod translation_cache;
mod validate;

pub use bdf::{Bdf, BdfError};
pub use builder::FabricBuilder;
pub use byte_enables::enabled_ranges;
pub use codec::CodecError;
pub use config::{
    AcsConfig, CompleterConfig, ConfigError, ConfigFileError, CreditConfig, DelayConfig,
    FabricConfig, FaultKind, FaultRule, Generation, GpuConfig, IommuConfig, IommuMode, LinkConfig,
    NicConfig, PeerWrites, RequestKind, RootComplexConfig, SwitchConfig, Window,
};
pub use counters::{
    Counters, Flow, LinkCounters, Location, PlacedWrite, Refusal, Report, Route, Target, Traffic,
};
pub use fabric::{Fabric, LinkOf, LinkTraffic, PortId, Received};
pub use fabric_error::FabricError;
pub use memories::{Memories, OwnMemories};
pub use memory::{Memory, MemoryError};
pub use stellar_wire::pcie::{AddressType, CompletionStatus};
pub use tlp::{Completion, FlowClass, MemRead, MemWrite, Tlp};
pub use tlp_check::Malformed;

/// Simulated time and durations, in picoseconds.
pub type Picoseconds = u64;
