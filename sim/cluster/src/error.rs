//! Why a cluster cannot be built or run.

use sim_net::workload::{GenerateError, WorkloadError};
use sim_net::{FabricError, TopologyError};
use stellar_transport::congestion::ParamError;
use stellar_transport::endpoint::{ConfigError, PostError};
use stellar_transport::spray::ProfileError;
use stellar_wire::mtu::BadMtu;
use thiserror::Error;

use crate::files::FileError;
use crate::ClusterPolicy;

/// Why a cluster cannot be built or run.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// An input file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The topology.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A generated workload.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// A host with other than one or two ports.
    #[error("host {host:?} has {ports} ports; a card has one or two, so use a topology of one or two planes")]
    Ports {
        /// The host.
        host: String,
        /// Its ports.
        ports: usize,
    },
    /// The flows.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A host has more queue pairs than there are numbers.
    #[error("host {0} has more than 16777214 queue pairs; let flows share them (--queue-pairs per-pair)")]
    QueuePairs(u32),
    /// A sampling period of zero, or an end before the start.
    #[error("samples every {period} ps from {from} to {to} ps; give a period above 0, and an end that is not before the start")]
    Sampling {
        /// Period in picoseconds.
        period: u64,
        /// First time.
        from: u64,
        /// Last time.
        to: u64,
    },
    /// A path policy that does not exist.
    #[error("unknown policy {name:?}: use one of {}", ClusterPolicy::ALL.map(ClusterPolicy::name).join(", "))]
    UnknownPolicy {
        /// The name.
        name: String,
    },
    /// A path policy that RC does not have.
    #[error("policy {policy:?} with RC: RC has one path, unless a policy changes it with packets in order; use hopper or hp3, or leave the policy out")]
    PolicyOfRc {
        /// The policy.
        policy: &'static str,
    },
    /// Congestion control to compare with, over RC.
    #[error("this congestion control with RC: RC has a fixed window here; use MRC with one path (--paths 1), or nscc")]
    CongestionOfRc,
    /// Congestion control to compare with, and a path policy that has a window of its own.
    #[error("this congestion control with the policy {policy:?}: the policy has congestion windows of its own; use another one, or nscc")]
    CongestionOfPolicy {
        /// The policy.
        policy: &'static str,
    },
    /// Source routes in a topology that has none.
    #[error("no source routes (SRv6) in this topology: {0}")]
    SourceRoute(String),
    /// A balancer that does not exist, or a parameter of it.
    #[error("balancer: {0}")]
    Balancer(String),
    /// A time that no run has.
    #[error("{us} us is longer than any run: give at most 1000000000 us")]
    TooLong {
        /// The time in microseconds.
        us: u64,
    },
    /// The path MTU.
    #[error(transparent)]
    Mtu(#[from] BadMtu),
    /// The congestion control does not fit the path.
    #[error("congestion control: {0}")]
    Nscc(#[from] ParamError),
    /// The paths.
    #[error("paths: {0}")]
    Profile(#[from] ProfileError),
    /// A card or queue pair.
    #[error("card: {0}")]
    Config(#[from] ConfigError),
    /// A work request.
    #[error("work request: {0}")]
    Post(#[from] PostError),
    /// The fabric.
    #[error("fabric: {0}")]
    Fabric(#[from] FabricError),
}
