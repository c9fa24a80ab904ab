//! Workloads that cannot be made or run.

use thiserror::Error;

/// A workload that cannot be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GenerateError {
    /// Too few or too many hosts for the pattern.
    #[error("{pattern} of {asked} hosts; the topology has {hosts}, so give {least} to {hosts}")]
    Hosts {
        /// Name of the pattern.
        pattern: &'static str,
        /// How many were asked for.
        asked: usize,
        /// Least.
        least: usize,
        /// Hosts of the topology.
        hosts: usize,
    },
    /// No bytes, or more than a flow can have.
    #[error("{0} bytes in a flow; give 1 to 68719476736 (64 GiB)")]
    Bytes(u64),
    /// One switch has more than half of the hosts.
    #[error("a permutation sends to hosts of other switches, and one switch has more than half of the hosts; use another pattern or topology")]
    OneLeaf,
}

/// A workload that a topology cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WorkloadError {
    /// A flow names a host that is not there.
    #[error("flow {flow} names host {host}; the topology has {hosts}, numbered from 0")]
    NoHost {
        /// The flow.
        flow: u64,
        /// The host.
        host: u32,
        /// Hosts of the topology.
        hosts: usize,
    },
    /// A flow from a host to itself.
    #[error("flow {0} goes from a host to itself; name two hosts")]
    ToItself(u64),
    /// A flow of no bytes or too many.
    #[error("flow {flow} has {bytes} bytes; give 1 to 68719476736 (64 GiB)")]
    Bytes {
        /// The flow.
        flow: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// There is nothing to run.
    #[error("there is no flow; give at least one")]
    NoFlows,
}
