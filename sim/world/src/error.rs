//! Errors of a world.

use sim_fork_join::ThreadsError;
use sim_net::workload::GenerateError;
use sim_net::{FabricError, TopologyError};
use stellar_transport::congestion::ParamError;
use stellar_transport::endpoint::{ConfigError, DoorbellError, TableWriteError};
use stellar_transport::spray::ProfileError;
use stellar_wire::host::Wqe;
use thiserror::Error;

use crate::config::{MAX_BYTES, MAX_PATHS, MAX_QPS};

/// Invalid input, or a run with a wrong outcome.
#[derive(Debug, Error)]
pub enum WorldError {
    /// The environment names no number of threads.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// No scenario of this name.
    #[error("there is no scenario {name:?}; closest: {closest} (`--list` names all)")]
    UnknownScenario {
        /// The given name.
        name: String,
        /// Similar names.
        closest: String,
    },
    /// No link of this name.
    #[error("there is no link {name:?} in {topology}; closest: {closest}")]
    UnknownLink {
        /// The given name.
        name: String,
        /// The topology's file.
        topology: String,
        /// Similar names.
        closest: String,
    },
    /// The topology has fewer than two hosts.
    #[error("the topology has {0} host(s); a transfer needs two")]
    TooFewHosts(usize),
    /// Too few or too many NICs for the topology.
    #[error("{nics} NIC(s); the topology has {hosts} hosts, so name 2 to {hosts}")]
    NicCount {
        /// NICs.
        nics: usize,
        /// Hosts of the topology.
        hosts: usize,
    },
    /// A tenant uses a host that has no NIC.
    #[error("no host {name:?} has a NIC; closest: {closest}")]
    NoNic {
        /// The given name.
        name: String,
        /// Similar names.
        closest: String,
    },
    /// A tenant lists a host twice.
    #[error("tenant {tenant:?} has host {host:?} twice; name it once")]
    HostTwice {
        /// The tenant.
        tenant: String,
        /// The host.
        host: String,
    },
    /// There is nothing to run.
    #[error("there is no tenant; give at least one")]
    NoTenant,
    /// Invalid number of rounds.
    #[error("tenant {tenant:?} has {rounds} rounds; use 1 to 1000")]
    Rounds {
        /// The tenant.
        tenant: String,
        /// Its rounds.
        rounds: u32,
    },
    /// A pattern that does not fit its hosts.
    #[error(transparent)]
    Pattern(#[from] GenerateError),
    /// A scenario that fails one of two ports.
    #[error("the scenario {0} needs NICs with two ports")]
    OnePort(&'static str),
    /// A host does not have the ports of its card.
    #[error("host {host:?} has {ports} port(s), and the card has {card}: give the topology as many planes")]
    Planes {
        /// The host.
        host: String,
        /// Number of its ports.
        ports: usize,
        /// Number of the card's ports.
        card: usize,
    },
    /// A host with another number of ports than a NIC can have.
    #[error("host {host:?} has {ports} port(s); a NIC has one or two, one per plane: give the topology one plane or two")]
    Ports {
        /// The host.
        host: String,
        /// Number of its ports.
        ports: usize,
    },
    /// Invalid number of paths.
    #[error("{0} paths; use an even number from 2 to {MAX_PATHS}, or 1 with the policy `single`")]
    Paths(u32),
    /// One path with a policy for several.
    #[error("policy `{0}` on 1 path; use the policy `single`, or 2 paths or more")]
    SinglePath(&'static str),
    /// Explicit entropy values, and another number of paths.
    #[error("{values} entropy value(s) for {paths} path(s); give each path one")]
    EntropyValues {
        /// Values.
        values: usize,
        /// Paths.
        paths: u8,
    },
    /// Entropy values for queue pairs that have none.
    #[error("entropy values with RC, whose one path has the source port of its queue pair; use a path policy, `hopper` or `hp3`, or leave the values out")]
    NoEntropy,
    /// A path policy that RC does not have.
    #[error("policy `{0}` with RC: RC has one path, unless a policy changes it with packets in order; use `hopper` or `hp3`, or no policy")]
    PolicyOfRc(&'static str),
    /// The topology does not permit source routes.
    #[error("no source routes (SRv6) in this topology: {0}")]
    SourceRoute(String),
    /// Invalid number of queue pairs.
    #[error("{0} queue pairs; use 1 to {MAX_QPS}")]
    Qps(u32),
    /// Invalid length of a message.
    #[error("a message of {0} bytes; use 1 to {MAX_BYTES} (1 GiB)")]
    Bytes(u64),
    /// The value is not a probability.
    #[error("loss of {0}; it is a probability, 0 to 1 (1 % is 0.01)")]
    Loss(f64),
    /// The NIC cannot be made.
    #[error("there is no NIC: {0}")]
    Nic(String),
    /// A NIC's tables are full.
    #[error("{table} table of the NIC is full: {wanted} entries wanted, {free} free; use fewer or larger pages, or fewer regions")]
    TableFull {
        /// The table.
        table: &'static str,
        /// Entries needed.
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
    /// More inline data than a send queue entry holds.
    #[error("{0} bytes inline; a send queue entry holds at most {most}", most = Wqe::INLINE)]
    InlineBytes(u32),
    /// A queue pair that was not made.
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
        /// The time limit, in microseconds.
        time_us: u64,
    },
    /// The outcome is wrong.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// Error of the topology.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// Error of the fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Invalid configuration of a queue pair or card.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Error of a table write.
    #[error(transparent)]
    Table(#[from] TableWriteError),
    /// Error of a doorbell.
    #[error(transparent)]
    Doorbell(#[from] DoorbellError),
    /// Invalid entropy values.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// No congestion control registers for this path.
    #[error("congestion control cannot be set up for this path: {0}")]
    Congestion(#[from] ParamError),
    /// A file that cannot be written.
    #[error("cannot write {path}: {reason}")]
    Output {
        /// The file.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A plot that cannot be drawn.
    #[error("cannot draw the plot {plot:?}: {reason}")]
    Plot {
        /// Its title.
        plot: &'static str,
        /// The reason.
        reason: String,
    },
}

/// A wrong outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckError {
    /// A wrong byte in the receiver's memory.
    #[error("byte {offset} of work request {wr_id} is {found:#04x} at the receiver, {expected:#04x} at the sender")]
    Content {
        /// Work request.
        wr_id: u64,
        /// Offset in its message.
        offset: u64,
        /// The byte at the receiver.
        found: u8,
        /// The byte at the sender.
        expected: u8,
    },
    /// A completed message that was not written completely.
    #[error("work request {wr_id} completed with {written} of its {length} bytes written")]
    Missing {
        /// Work request.
        wr_id: u64,
        /// Bytes written.
        written: u64,
        /// Length of the message in bytes.
        length: u64,
    },
    /// A write to an address that belongs to no message.
    #[error("{host}: {written} bytes were written, {expected} of them belong to a message")]
    Stray {
        /// The host.
        host: String,
        /// Bytes written.
        written: u64,
        /// Bytes of messages among them.
        expected: u64,
    },
    /// A TLP to an address without memory.
    #[error("{host}: {count} accesses to unmapped memory, the first at {address:#x}")]
    Unmapped {
        /// The host.
        host: String,
        /// Number of such TLPs.
        count: usize,
        /// Address of the first.
        address: u64,
    },
    /// Completions out of order, twice, or for work that was not posted.
    #[error("queue pair {qp}: completion of work request {found} where {expected} was due")]
    Order {
        /// Queue pair.
        qp: u32,
        /// The completions.
        found: u64,
        /// The expected completions.
        expected: String,
    },
    /// A completion of a received immediate out of order, twice, or of one that was not sent.
    #[error("queue pair {qp}: immediate {found:#x} was received where {expected} was due")]
    Immediate {
        /// Queue pair.
        qp: u32,
        /// The immediate of the completion.
        found: u32,
        /// The expected one.
        expected: String,
    },
    /// A completion with a wrong status.
    #[error("work request {wr_id} completed as {found}, expected {expected}")]
    Status {
        /// Work request.
        wr_id: u64,
        /// Its status.
        found: String,
        /// The expected status.
        expected: String,
    },
    /// A condition of the scenario that does not hold.
    #[error("{0}")]
    Condition(String),
}
