//! A run as data: everything that decides it, for the command line, for Python and for files.

use std::path::Path;

use serde::Deserialize;
use sim_net::topology::{EventSpec, LinkSettings, OverrideSpec, TopologySpec};
use sim_net::{Balancer, Time, Topology};
use stellar_transport::spray::Policy;
use stellar_wire::mtu;

use crate::files::{read_connection_matrix, read_conweave_flows, read_goal, read_text, FileError};
use crate::topology::{built_in_spec, fat_tree};
use crate::workload::{
    all_to_all, incast, permutation, ring_all_reduce, tree_all_reduce, Workload,
};
use crate::{
    Addressing, ClusterError, ClusterPolicy, Congestion, QueuePairs, Sampling, Settings, Transport,
};

/// Picoseconds of a microsecond.
const US: Time = 1_000_000;
/// Longest simulated time in microseconds: 1,000 s.
const LONGEST_US: u64 = 1_000_000_000;

/// Everything that decides a run. As JSON, keys that are left out have their defaults, and unknown keys are errors.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Fabric.
    #[serde(default)]
    pub topology: TopologySource,
    /// How switches choose among equal paths, like `let-flow,gap_us=50`; `None`: as the topology says.
    #[serde(default)]
    pub balancer: Option<String>,
    /// Flows.
    pub workload: WorkloadSource,
    /// Transport, policy, paths, seed and the rest.
    #[serde(default)]
    pub options: Options,
}

/// A text and the name by which errors call it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedText {
    /// Name of the file.
    pub file: String,
    /// Its text.
    pub text: String,
}

impl NamedText {
    /// Reads a file.
    ///
    /// # Errors
    /// [`FileError`] with the name of the file.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Ok(Self {
            file: path.display().to_string(),
            text: read_text(path)?,
        })
    }
}

/// Where a topology comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopologySource {
    /// Leaves and spines with the links of [`leaf_spine`](crate::leaf_spine).
    LeafSpine(Box<BuiltIn>),
    /// A topology file of `sim-net`.
    Toml(NamedText),
    /// A fat tree of htsim.
    FatTree(NamedText),
}

/// The built-in fabric, and what differs from it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BuiltIn {
    /// Planes, 1 or 2. With two, every host has a port in each.
    pub planes: usize,
    /// Leaves of a plane.
    pub leaves: usize,
    /// Hosts of a leaf.
    pub hosts: usize,
    /// Spines of a plane.
    pub spines: usize,
    /// What differs at links between hosts and leaves.
    pub host_link: LinkSettings,
    /// What differs at links between leaves and spines.
    pub spine_link: LinkSettings,
    /// What differs at particular links.
    pub overrides: Vec<OverrideSpec>,
    /// Links that go down and come back.
    pub events: Vec<EventSpec>,
    /// Time until all switches react to a change of a link, in nanoseconds; `None`: only the switches at the link do.
    pub reroute_ns: Option<f64>,
}

impl Default for BuiltIn {
    /// Two leaves of 60 hosts and 60 spines on one plane.
    fn default() -> Self {
        Self {
            planes: 1,
            leaves: 2,
            hosts: 60,
            spines: 60,
            host_link: LinkSettings::default(),
            spine_link: LinkSettings::default(),
            overrides: Vec::new(),
            events: Vec::new(),
            reroute_ns: None,
        }
    }
}

impl Default for TopologySource {
    fn default() -> Self {
        Self::LeafSpine(Box::default())
    }
}

/// Where flows come from. Hosts that are left out are all.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum WorkloadSource {
    /// [`permutation`]: so many bytes to a host of another leaf, from `ranks` hosts of each leaf.
    Permutation {
        /// Bytes of a flow.
        bytes: u64,
        /// Hosts of each leaf that take part.
        #[serde(default)]
        ranks: Option<usize>,
    },
    /// [`incast`]: `ranks` hosts send to one.
    Incast {
        /// Bytes of a flow.
        bytes: u64,
        /// Senders.
        #[serde(default)]
        ranks: Option<usize>,
    },
    /// [`all_to_all`] among the first `ranks` hosts.
    AllToAll {
        /// Bytes of a flow.
        bytes: u64,
        /// Hosts that take part.
        #[serde(default)]
        ranks: Option<usize>,
    },
    /// [`ring_all_reduce`] among `ranks` hosts.
    Ring {
        /// Bytes of a rank's buffer.
        bytes: u64,
        /// Hosts that take part.
        #[serde(default)]
        ranks: Option<usize>,
    },
    /// [`tree_all_reduce`] among `ranks` hosts.
    Tree {
        /// Bytes of a rank's buffer.
        bytes: u64,
        /// Hosts that take part.
        #[serde(default)]
        ranks: Option<usize>,
    },
    /// A connection matrix of htsim.
    Matrix(NamedText),
    /// A flow file of ConWeave's simulator.
    Flows(NamedText),
    /// A schedule in GOAL.
    Goal(NamedText),
}

/// What cards, queue pairs and the run have, in the units of the command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Seed of everything random.
    pub seed: u64,
    /// Transport.
    pub transport: Transport,
    /// Congestion control.
    pub congestion: Congestion,
    /// Name of the path policy; `None`: `obs`, or `single` with one path.
    pub policy: Option<String>,
    /// Paths of a queue pair.
    pub paths: u8,
    /// Path MTU in bytes.
    pub mtu: u32,
    /// Packets that one SACK covers.
    pub sack_every: u8,
    /// Retransmission timeout in microseconds.
    pub rto_us: u32,
    /// Most packets of a queue pair in flight.
    pub window: u16,
    /// Early loss detection at this distance in packets; 0 is off.
    pub early_loss: u16,
    /// Which queue pairs carry the flows.
    pub queue_pairs: QueuePairs,
    /// Headers of the packets.
    pub addressing: Addressing,
    /// Microseconds of a sample of throughput with the policy `placed`; 0: there is no telemetry.
    pub telemetry_us: u32,
    /// Whether cards count the packets of every path.
    pub path_loads: bool,
    /// Microseconds between samples of the uplinks' queues; 0: no samples.
    pub sample_us: u64,
    /// First and last sample in microseconds; `None`: all.
    pub sample_window: Option<(u64, u64)>,
    /// End of the run in simulated microseconds.
    pub limit_us: u64,
}

impl Default for Options {
    fn default() -> Self {
        let settings = Settings::default();
        Self {
            seed: settings.seed,
            transport: settings.transport,
            congestion: settings.congestion,
            policy: None,
            paths: settings.paths,
            mtu: 1 << settings.mtu_log2,
            sack_every: settings.sack_every,
            rto_us: settings.rto_us,
            window: settings.window,
            early_loss: settings.early_loss,
            queue_pairs: settings.queue_pairs,
            addressing: settings.addressing,
            telemetry_us: settings.telemetry_us,
            path_loads: settings.path_loads,
            sample_us: 5,
            sample_window: None,
            limit_us: settings.limit / US,
        }
    }
}

/// What a [`Cluster`](crate::Cluster) is made of.
#[derive(Debug)]
pub struct Parts {
    /// Fabric.
    pub topology: Topology,
    /// Flows.
    pub workload: Workload,
    /// The rest.
    pub settings: Settings,
}

impl RunSpec {
    /// Reads files and names, and generates the flows.
    ///
    /// # Errors
    /// [`ClusterError`], for the first thing that does not fit.
    pub fn parts(&self) -> Result<Parts, ClusterError> {
        let topology = self.topology.read()?;
        let topology = match &self.balancer {
            Some(text) => {
                let balancer = text.parse::<Balancer>().map_err(ClusterError::Balancer)?;
                topology.with_balancer(balancer)?
            }
            None => topology,
        };
        Ok(Parts {
            workload: self.workload.flows(&topology, self.options.seed)?,
            settings: self.options.settings()?,
            topology,
        })
    }
}

impl TopologySource {
    /// Reads a file: a fat tree of htsim if its name ends in `.topo`, a topology file of `sim-net` otherwise. What a fat tree's file does not say is as in
    /// [`leaf_spine`](crate::leaf_spine).
    ///
    /// # Errors
    /// [`FileError`] if it cannot be read.
    pub fn of_file(path: &Path) -> Result<Self, FileError> {
        let text = NamedText::read(path)?;
        let is_fat_tree = path
            .extension()
            .is_some_and(|extension| extension == "topo");
        Ok(if is_fat_tree {
            Self::FatTree(text)
        } else {
            Self::Toml(text)
        })
    }

    fn read(&self) -> Result<Topology, ClusterError> {
        match self {
            Self::LeafSpine(built_in) => Ok(built_in.topology()?),
            Self::Toml(NamedText { file, text }) => Ok(Topology::from_toml(file, text)?),
            Self::FatTree(NamedText { file, text }) => fat_tree(file, text),
        }
    }
}

impl BuiltIn {
    fn topology(&self) -> Result<Topology, sim_net::TopologyError> {
        let mut spec: TopologySpec =
            built_in_spec(self.planes, self.leaves, self.hosts, self.spines);
        if let Some(generator) = &mut spec.leaf_spine {
            generator.host_link = self.host_link.clone();
            generator.spine_link = self.spine_link.clone();
        }
        spec.fabric.reroute_ns = self.reroute_ns;
        spec.overrides.clone_from(&self.overrides);
        spec.events.clone_from(&self.events);
        Topology::from_spec("built-in leaf-spine fabric", spec)
    }
}

impl WorkloadSource {
    fn flows(&self, topology: &Topology, seed: u64) -> Result<Workload, ClusterError> {
        let hosts = topology.hosts().len();
        Ok(match self {
            &Self::Permutation { bytes, ranks } => permutation(topology, ranks, bytes, seed)?,
            &Self::Incast { bytes, ranks } => {
                let senders = ranks.unwrap_or(hosts.saturating_sub(1));
                incast(topology, senders, bytes, seed)?
            }
            &Self::AllToAll { bytes, ranks } => {
                all_to_all(topology, ranks.unwrap_or(hosts), bytes)?
            }
            &Self::Ring { bytes, ranks } => {
                ring_all_reduce(topology, ranks.unwrap_or(hosts), bytes, seed)?
            }
            &Self::Tree { bytes, ranks } => {
                tree_all_reduce(topology, ranks.unwrap_or(hosts), bytes, seed)?
            }
            Self::Matrix(NamedText { file, text }) => read_connection_matrix(file, text, hosts)?,
            Self::Flows(NamedText { file, text }) => read_conweave_flows(file, text, hosts)?,
            Self::Goal(NamedText { file, text }) => read_goal(file, text, hosts)?,
        })
    }
}

impl Options {
    fn settings(&self) -> Result<Settings, ClusterError> {
        let policy = match (&self.policy, self.paths) {
            (None, 1) => Policy::SinglePath.into(),
            (None, _) => Policy::Obs.into(),
            (Some(name), _) => ClusterPolicy::from_name(name)
                .ok_or_else(|| ClusterError::UnknownPolicy { name: name.clone() })?,
        };
        if self.transport == Transport::Rc && self.policy.is_some() && !policy.is_for_rc() {
            return Err(ClusterError::PolicyOfRc {
                policy: policy.name(),
            });
        }
        let (from, to) = self.sample_window.unwrap_or((0, self.limit_us));
        let times = [self.sample_us, from, to, self.limit_us];
        if let Some(&us) = times.iter().find(|&&us| us > LONGEST_US) {
            return Err(ClusterError::TooLong { us });
        }
        let sampling = (self.sample_us > 0).then_some(Sampling {
            period: self.sample_us * US,
            from: from * US,
            to: to * US,
        });
        Ok(Settings {
            seed: self.seed,
            transport: self.transport,
            congestion: self.congestion,
            policy,
            paths: self.paths,
            mtu_log2: mtu::log2(self.mtu)?,
            sack_every: self.sack_every,
            rto_us: self.rto_us,
            window: self.window,
            early_loss: self.early_loss,
            queue_pairs: self.queue_pairs,
            addressing: self.addressing,
            telemetry_us: self.telemetry_us,
            path_loads: self.path_loads,
            sampling,
            limit: self.limit_us * US,
            ..Settings::default()
        })
    }
}
