//! NICs with the memory of their hosts on a fabric: time in picoseconds, transfers, faults, captures, reports.
//!
//! A [`World`] moves frames between a [`sim_net::Fabric`] and types with the trait [`Nic`]. [`ReferenceNic`] is the software reference of the
//! transport. [`pair::connect`] builds a world of two from a [`Plan`], [`group::run`] one of many hosts; [`scenario`] has the named scenarios; [`verify()`] compares every byte.
//! `docs/world.md` describes model and limits.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod addressing;
mod capture;
mod config;
mod drive;
mod entropy;
mod error;
pub mod group;
mod host;
mod memory;
mod names;
mod nic;
pub mod packet;
pub mod pair;
mod pcapng;
mod record;
mod region;
pub mod report;
mod samples;
pub mod scenario;
pub mod sweep;
pub mod transfer;
mod tshark;
mod verify;
mod world;

pub use addressing::Addressing;
pub use capture::Recorder;
pub use config::{
    check_bytes, lossy_topology, HostPorts, MrcPlan, Plan, TransportPlan, MAX_BYTES, MAX_PATHS,
    MAX_QPS,
};
pub use entropy::EntropyPlan;
pub use sim_pcie::platform::{PcieReads, PcieSettings};

pub use error::{CheckError, WorldError};
pub use host::{Completed, Host, RingSpace, RING_PAGE};
pub use memory::{Backing, BadAccess, HostMemory, MappingChange};
pub use names::closest;
pub use nic::{CongestionState, Nic, NicKind, Outgoing, ReferenceNic};
pub use pcapng::{Direction, PortCapture};
pub use record::{ArrivalOrder, Record, Sample};
pub use region::{Region, RegionId, RegionSpec};
pub use tshark::tshark;
pub use verify::{verify, Verified};
pub use world::{Action, Posted, World, Write};
