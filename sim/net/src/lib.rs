//! Ethernet fabric model: the links and switches between NICs.
//!
//! Hosts have one port per plane. Planes are separate fabrics of links and store-and-forward switches. Frames are real bytes, so a fabric can connect
//! two NICs at RTL as well as a thousand modelled ones. A fabric may also carry records of frames ([`Parcel`]). Time is in
//! picoseconds. The model and its limits are described in `docs/fabric.md`.
//!
//! ```
//! use sim_net::{Fabric, Frame, HostId, Topology, Time};
//!
//! let topology = Topology::from_toml("two hosts", r#"
//!     [defaults]
//!     rate_gbps = 200
//!     delay_ns = 100
//!     [back_to_back]
//!     planes = 1
//! "#)?;
//! let mut fabric = Fabric::new(topology, 1);
//! fabric.send(HostId(0), 0, 0, Frame::new(vec![0; 126]))?;
//! let delivery = fabric.next_delivery(Time::MAX).expect("no loss was asked for");
//! // 8 bytes of preamble, the frame and 4 of FCS at 40 ps each, and the cable.
//! assert_eq!(delivery.time, (8 + 126 + 4) * 40 + 100_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod ahead;
mod balance;
pub mod calendar;
mod channel;
mod ecn;
mod engine;
mod error;
mod event;
mod fabric;
mod fault;
mod flight;
mod forwarding;
mod frame;
mod frame_parcel;
mod hash;
mod headers;
mod ids;
mod line;
mod observe;
mod occurrence;
mod parcel;
mod pfc;
mod routes;
mod source_route;
mod stats;
mod switch;
pub mod topology;
mod trim;
pub mod workload;

pub use ahead::{Coming, AHEAD};
pub use balance::Balancer;
pub use ecn::EcnThresholds;
pub use error::FabricError;
pub use fabric::Fabric;
pub use fault::{Fate, Filter, Tap, TapSide};
pub use frame::{Frame, FCS, GAP, MIN_FRAME, PREAMBLE};
pub use hash::{FlowHash, FlowKey};
pub use ids::{ChannelId, DropReason, HostId, LinkId, Node, SwitchId};
pub use occurrence::{Delivery, Occurrence};
pub use parcel::{Class, Classifier, Destination, Label, Parcel, Rewrite};
pub use pfc::PfcThresholds;
pub use stats::{ChannelStats, Drops, QueueStats, Sample, Totals};
pub use topology::{Topology, TopologyError};
pub use trim::Trimming;

/// Simulated time and durations, in picoseconds.
pub type Time = u64;
