//! Thousands of endpoints on one fabric.
//!
//! Every host of a [`Cluster`] has the card of the transport's reference (`stellar_transport::endpoint`), whose decisions the hardware is compared
//! with. Packets are records of frames instead of bytes, on the fabric of `sim-net`: with either, every frame has the same length and leaves at the
//! same time. What the flows are is a [`Workload`](workload::Workload): generated, or read from files of other simulators. `docs/cluster.md` describes
//! formats, results and limits.
//!
//! ```
//! use sim_cluster::{leaf_spine, workload, Cluster, Record, Settings};
//!
//! let topology = leaf_spine(2, 4, 4)?;
//! let flows = workload::permutation(&topology, None, 100_000, 1)?;
//! let mut cluster = Cluster::<Record>::new(topology, flows, Settings::default())?;
//! cluster.run(|_| {})?;
//! let report = cluster.report(None);
//! assert_eq!((report.flows.finished, report.packets.retransmitted), (8, 0));
//! # Ok::<(), sim_cluster::ClusterError>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod ahead;
mod baselines;
mod carrier;
mod cluster;
mod congestion;
mod connect;
mod error;
pub mod files;
mod hash;
mod host;
mod paths;
mod policy;
mod process;
mod record;
mod report;
mod round_trip;
mod run_spec;
mod settings;
mod topology;

pub use baselines::{Baseline, BaselineParams};
pub use carrier::Carrier;
pub use cluster::{Cluster, Progress};
pub use congestion::{Congestion, Dcqcn, DcqcnParams};
pub use error::ClusterError;
use hash::RunHash;
pub use policy::ClusterPolicy;
pub use process::{cpu_seconds, resident_bytes};
pub use record::Record;
pub use report::{
    Depth, FlowResult, FlowTotals, PacketTotals, QueueSample, Report, Spread, TimeSpread,
    UplinkResult, UplinkTotals,
};
pub use run_spec::{BuiltIn, NamedText, Options, Parts, RunSpec, TopologySource, WorkloadSource};
pub use settings::{Addressing, QueuePairs, Sampling, Settings, Transport};
pub use sim_net::workload;
pub use topology::leaf_spine;
