//! What can go wrong in a world.

use sim_net::{FabricError, TopologyError};
use stellar_transport::congestion::ParamError;
use stellar_transport::endpoint::{ConfigError, DoorbellError, TableWriteError};
use stellar_transport::spray::ProfileError;
use thiserror::Error;

use crate::config::{MAX_BYTES, MAX_PATHS, MAX_QPS};

/// Bad input, or a run that did not do what it must.
#[derive(Debug, Error)]
pub enum WorldError {
    /// No scenario of this name.
    #[error("there is no scenario {name:?}; closest: {closest} (`--list` names all)")]
    UnknownScenario {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        closest: String,
    },
    /// No link of this name.
    #[error("there is no link {name:?} in {topology}; closest: {closest}")]
    UnknownLink {
        /// What was asked for.
        name: String,
        /// The topology's file.
        topology: String,
        /// What may have been meant.
        closest: String,
    },
    /// Not enough hosts.
    #[error("the topology has {0} host(s); a transfer needs two")]
    TooFewHosts(usize),
    /// A host without two ports.
    #[error("host {host:?} has {ports} port(s); a NIC here has two, one per plane: give the topology two planes")]
    Ports {
        /// The host.
        host: String,
        /// Ports it has.
        ports: usize,
    },
    /// Number of paths.
    #[error("{0} paths; use an even number from 2 to {MAX_PATHS}, or 1 with the policy `single`")]
    Paths(u32),
    /// One path, but a policy for several.
    #[error("policy `{0}` on 1 path; use the policy `single`, or 2 paths or more")]
    SinglePath(&'static str),
    /// No source routes in this topology.
    #[error("no source routes (SRv6) in this topology: {0}")]
    SourceRoute(String),
    /// Number of queue pairs.
    #[error("{0} queue pairs; use 1 to {MAX_QPS}")]
    Qps(u32),
    /// Length of a message.
    #[error("a message of {0} bytes; use 1 to {MAX_BYTES} (1 GiB)")]
    Bytes(u64),
    /// Not a probability.
    #[error("loss of {0}; it is a probability, 0 to 1 (1 % is 0.01)")]
    Loss(f64),
    /// There is no NIC to put into the world.
    #[error("there is no NIC: {0}")]
    Nic(String),
    /// A NIC's tables are full.
    #[error("{table} table of the NIC is full: {wanted} entries wanted, {free} free; use fewer or larger pages, or fewer regions")]
    TableFull {
        /// Which table.
        table: &'static str,
        /// Entries wanted.
        wanted: u64,
        /// Entries free.
        free: u64,
    },
    /// More work requests than the send queue has entries.
    #[error("send queue of queue pair {qp} is full ({entries} entries): wait for completions or make it larger")]
    SendQueueFull {
        /// The queue pair.
        qp: u32,
        /// Entries of its ring.
        entries: u32,
    },
    /// A queue pair nobody made.
    #[error("host {host:?} has no queue pair {qp}: connect it first")]
    UnknownQp {
        /// The host.
        host: String,
        /// The queue pair.
        qp: u32,
    },
    /// The two hosts cannot exchange packets.
    #[error("no packet came from {from} to {to} and back in plane {plane}: check the topology's loss and events")]
    Unreachable {
        /// One host.
        from: String,
        /// The other.
        to: String,
        /// The plane.
        plane: usize,
    },
    /// Completions are missing.
    #[error("{missing} work request(s) not completed by {time_us} us")]
    Stalled {
        /// Work requests without completion.
        missing: u64,
        /// When it was given up, in microseconds.
        time_us: u64,
    },
    /// The outcome is not what it must be.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// Topology.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// Fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Queue pair or card.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Table write.
    #[error(transparent)]
    Table(#[from] TableWriteError),
    /// Doorbell.
    #[error(transparent)]
    Doorbell(#[from] DoorbellError),
    /// Entropy values.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// Congestion control registers for this path.
    #[error("congestion control cannot be set up for this path: {0}")]
    Congestion(#[from] ParamError),
    /// A file.
    #[error("cannot write {path}: {reason}")]
    Output {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// Plots.
    #[error("cannot draw the plot {plot:?}: {reason}")]
    Plot {
        /// Its title.
        plot: &'static str,
        /// Why.
        reason: String,
    },
}

/// A run's outcome that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckError {
    /// A byte of the receiver's memory.
    #[error("byte {offset} of work request {wr_id} is {found:#04x} at the receiver, {expected:#04x} at the sender")]
    Content {
        /// Work request.
        wr_id: u64,
        /// Offset in its message.
        offset: u64,
        /// At the receiver.
        found: u8,
        /// At the sender.
        expected: u8,
    },
    /// A completed message of which not everything was written.
    #[error("work request {wr_id} completed with {written} of its {length} bytes written")]
    Missing {
        /// Work request.
        wr_id: u64,
        /// Bytes written.
        written: u64,
        /// Bytes it has.
        length: u64,
    },
    /// Something was written where no message goes.
    #[error("{host}: {written} bytes were written, {expected} of them belong to a message")]
    Stray {
        /// The host.
        host: String,
        /// Bytes written.
        written: u64,
        /// Bytes of messages among them.
        expected: u64,
    },
    /// A TLP met no memory.
    #[error("{host}: {count} accesses to unmapped memory, the first at {address:#x}")]
    Unmapped {
        /// The host.
        host: String,
        /// How many.
        count: usize,
        /// Address of the first.
        address: u64,
    },
    /// Completions out of order, twice, or of what was never posted.
    #[error("queue pair {qp}: completion of work request {found} where {expected} was due")]
    Order {
        /// Queue pair.
        qp: u32,
        /// What came.
        found: u64,
        /// What should have.
        expected: String,
    },
    /// A completion with another status.
    #[error("work request {wr_id} completed as {found}, expected {expected}")]
    Status {
        /// Work request.
        wr_id: u64,
        /// Its status.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// A condition of the scenario.
    #[error("{0}")]
    Condition(String),
}
