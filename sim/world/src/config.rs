//! Configuration of a transfer between two hosts.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use sim_net::topology::{LinkSettings, OverrideSpec, TopologySpec};
use sim_net::{HostId, Topology};
use sim_pcie::platform::PcieSettings;
use stellar_transport::requester::Backoff;
use stellar_transport::responder::default_sack_every;
use stellar_transport::spray::Policy;
use stellar_transport::time::Ticks;

use crate::names::closest;
use crate::pair::FIRST_QP;
use crate::{Addressing, EntropyPlan, WorldError};

/// Maximum number of queue pairs between two NICs: the 1,024 of the table without the two of management.
pub const MAX_QPS: u32 = 1022;
/// Largest message in bytes: 1 GiB.
pub const MAX_BYTES: u64 = 1 << 30;
/// Maximum number of paths of a queue pair.
pub const MAX_PATHS: u8 = 128;

/// Registers of an MRC requester that an experiment changes.
#[derive(Clone, Copy, Debug)]
pub struct MrcPlan {
    /// Path policy.
    pub policy: Policy,
    /// Paths of each queue pair.
    pub paths: u8,
    /// Early loss detection threshold in packets, 0 = off.
    pub early_loss: u16,
    /// Largest number of packets in the window.
    pub mpr: u16,
    /// Retransmission timeout.
    pub rto: Ticks,
    /// Growth of the timeout with each retry.
    pub backoff: Backoff,
    /// Retries without progress.
    pub retry_budget: u8,
    /// One SACK covers this number of packets that do not request one, 1 to 63. With `None` it follows from the path MTU ([`default_sack_every`]).
    pub sack_every: Option<u8>,
}

impl Default for MrcPlan {
    /// Oblivious spraying over 128 paths, window of 4,096 packets, timeout 250 us that doubles, 7 retries, early loss detection at a distance of 128 packets,
    /// SACKs by path MTU.
    fn default() -> Self {
        Self {
            policy: Policy::Obs,
            paths: MAX_PATHS,
            early_loss: 128,
            mpr: stellar_wire::config::DEFAULT_MPR,
            rto: Ticks::from_us(250),
            backoff: Backoff::Exponential,
            retry_budget: 7,
            sack_every: None,
        }
    }
}

/// Transport of the queue pairs.
#[derive(Clone, Copy, Debug)]
pub enum TransportPlan {
    /// MRC.
    Mrc(MrcPlan),
    /// RC with go-back-N on one path.
    Rc,
    /// RC on one path at a time, which a policy changes with packets in order.
    RcPaths {
        /// Path policy, one that probes paths.
        policy: Policy,
        /// Paths of each queue pair.
        paths: u8,
    },
}

impl TransportPlan {
    /// RC, with a path policy if there is one.
    ///
    /// # Errors
    /// [`WorldError::PolicyOfRc`].
    pub const fn rc(policy: Option<Policy>, paths: u8) -> Result<Self, WorldError> {
        match policy {
            None => Ok(Self::Rc),
            Some(policy) if policy.traits().serves_rc() => Ok(Self::RcPaths { policy, paths }),
            Some(policy) => Err(WorldError::PolicyOfRc(policy.name())),
        }
    }

    /// Name in reports and on the command line.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Mrc(_) => "mrc",
            Self::Rc | Self::RcPaths { .. } => "rc",
        }
    }

    /// Number of packets of `mtu` bytes that one SACK covers, if they do not request one.
    pub fn sack_every(&self, mtu: u32) -> u8 {
        match self {
            Self::Mrc(plan) => plan.sack_every.unwrap_or_else(|| default_sack_every(mtu)),
            Self::Rc | Self::RcPaths { .. } => 1,
        }
    }

    /// Path policy and number of paths, if there is a choice of paths.
    pub const fn choice(&self) -> Option<(Policy, u8)> {
        match *self {
            Self::Mrc(MrcPlan { policy, paths, .. }) | Self::RcPaths { policy, paths } => {
                Some((policy, paths))
            }
            Self::Rc => None,
        }
    }

    /// Planes its queue pairs can use at a time.
    pub const fn planes(&self) -> u64 {
        match self {
            Self::Mrc(MrcPlan {
                policy: Policy::SinglePath,
                ..
            })
            | Self::Rc
            | Self::RcPaths { .. } => 1,
            Self::Mrc(_) => 2,
        }
    }
}

/// Two hosts of a topology, and the connection between them.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The fabric.
    pub topology: Arc<Topology>,
    /// Seed of everything random: the fabric's choices, path sequences, page placement, memory contents.
    pub seed: u64,
    /// The host that posts the WRITEs.
    pub sender: HostId,
    /// The host that receives them.
    pub receiver: HostId,
    /// Transport of every queue pair.
    pub transport: TransportPlan,
    /// Route of packets.
    pub addressing: Addressing,
    /// Entropy values of the paths. RC without a path policy has none.
    pub entropy: EntropyPlan,
    /// Queue pairs.
    pub qps: u32,
    /// Number of the first one, at both ends.
    pub first_qp: u32,
    /// log2 of the path MTU in bytes, 8 to 13.
    pub mtu_log2: u8,
    /// First PSN of every queue pair, 24 bits.
    pub first_psn: u32,
    /// log2 of the entries of every send queue.
    pub sq_log2: u8,
    /// WRITEs of up to so many bytes have them as inline data, 0 to 64. With more than 32, entries have 128 bytes.
    pub inline_bytes: u32,
    /// PCIe of both NICs.
    pub pcie: PcieSettings,
    /// Keep every frame for captures.
    pub capture: bool,
    /// Shows the world's time in picoseconds to other threads while it runs.
    pub clock: Option<Arc<AtomicU64>>,
}

impl Plan {
    /// The first and the last host of `topology` with one MRC queue pair of 4 KiB MTU.
    ///
    /// # Errors
    /// [`WorldError::TooFewHosts`], [`WorldError::Ports`].
    pub fn new(topology: Topology, seed: u64) -> Result<Self, WorldError> {
        let hosts = topology.hosts();
        if hosts.len() < 2 {
            return Err(WorldError::TooFewHosts(hosts.len()));
        }
        let (sender, receiver) = (0, hosts.len() - 1);
        for host in [&hosts[sender], &hosts[receiver]] {
            if !(1..=2).contains(&host.ports.len()) {
                return Err(WorldError::Ports {
                    host: host.name.clone(),
                    ports: host.ports.len(),
                });
            }
        }
        Ok(Self {
            topology: Arc::new(topology),
            seed,
            sender: HostId(sender as u32),
            receiver: HostId(receiver as u32),
            transport: TransportPlan::Mrc(MrcPlan::default()),
            addressing: Addressing::default(),
            entropy: EntropyPlan::default(),
            qps: 1,
            first_qp: FIRST_QP,
            mtu_log2: 12,
            first_psn: 0,
            sq_log2: 6,
            inline_bytes: 0,
            pcie: PcieSettings::default(),
            capture: false,
            clock: None,
        })
    }

    /// Numbers of the queue pairs.
    pub const fn numbers(&self) -> Range<u32> {
        self.first_qp..self.first_qp + self.qps
    }

    /// Planes of the fabric: ports of a NIC.
    pub fn planes(&self) -> usize {
        self.topology.hosts()[self.sender.0 as usize].ports.len()
    }

    /// Planes that a queue pair can use.
    pub fn usable_planes(&self) -> u64 {
        self.transport.planes().min(self.planes() as u64)
    }

    /// Name of a host.
    pub fn host_name(&self, host: HostId) -> String {
        self.topology.hosts()[host.0 as usize].name.clone()
    }

    /// Checks the values that a user gives, before anything is built.
    ///
    /// # Errors
    /// [`WorldError::Paths`], [`WorldError::SinglePath`], [`WorldError::Qps`], [`WorldError::SourceRoute`], [`WorldError::NoEntropy`], and those of
    /// [`EntropyPlan::profile`].
    pub fn check(&self) -> Result<(), WorldError> {
        if !(1..=MAX_QPS).contains(&self.qps) {
            return Err(WorldError::Qps(self.qps));
        }
        for host in [self.sender, self.receiver] {
            self.addressing.source_route(&self.topology, host)?;
        }
        if let Some((policy, paths)) = self.transport.choice() {
            if paths > MAX_PATHS || paths == 0 || (paths > 1 && paths % 2 != 0) {
                return Err(WorldError::Paths(paths.into()));
            }
            if paths == 1 && !policy.traits().one_path {
                return Err(WorldError::SinglePath(policy.name()));
            }
            self.entropy.profile(paths, self.addressing)?;
        } else if self.entropy != EntropyPlan::default() {
            return Err(WorldError::NoEntropy);
        }
        Ok(())
    }
}

/// Checks the length of a message from a user.
///
/// # Errors
/// [`WorldError::Bytes`].
pub const fn check_bytes(bytes: u64) -> Result<u32, WorldError> {
    if bytes == 0 || bytes > MAX_BYTES {
        Err(WorldError::Bytes(bytes))
    } else {
        Ok(bytes as u32)
    }
}

/// Ports of each host: of the full card, unless a board says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPorts {
    /// How many: planes of the fabric.
    pub count: usize,
    /// Rate of a port, and of every link that names no rate of its own, in Gb/s.
    pub rate_gbps: u32,
}

impl Default for HostPorts {
    /// Two of 200 Gb/s.
    fn default() -> Self {
        Self {
            count: 2,
            rate_gbps: 200,
        }
    }
}

impl HostPorts {
    /// A topology from its text, with these ports. A generated fabric gets as many planes, and its default rate; one that names its hosts has to have them.
    ///
    /// # Errors
    /// [`WorldError::Planes`] if a host has another number of ports, and those of the topology.
    pub fn topology(self, file: &str, text: &str) -> Result<Topology, WorldError> {
        let topology = Topology::from_spec(file, self.fitted(file, text)?)?;
        let mut hosts = topology.hosts().iter();
        match hosts.find(|host| host.ports.len() != self.count) {
            Some(host) => Err(WorldError::Planes {
                host: host.name.clone(),
                ports: host.ports.len(),
                card: self.count,
            }),
            None => Ok(topology),
        }
    }

    fn fitted(self, file: &str, text: &str) -> Result<TopologySpec, WorldError> {
        Topology::from_toml(file, text)?;
        let mut spec: TopologySpec =
            toml::from_str(text).expect("the same text was read as a topology before");
        // The full card is what the files are made for.
        if self != Self::default() {
            spec.defaults.rate_gbps = Some(self.rate_gbps.into());
            if let Some(cables) = &mut spec.back_to_back {
                cables.planes = self.count;
            }
            if let Some(clos) = &mut spec.leaf_spine {
                clos.planes = self.count;
            }
        }
        Ok(spec)
    }
}

/// A topology from the text of its file, with random loss on one link.
///
/// # Errors
/// [`WorldError::UnknownLink`], [`WorldError::Loss`], and those of the topology.
pub fn lossy_topology(
    file: &str,
    text: &str,
    loss: Option<(&str, f64)>,
) -> Result<Topology, WorldError> {
    HostPorts::default().lossy_topology(file, text, loss)
}

impl HostPorts {
    /// Does what [`Self::topology`] does, with random loss on one link.
    ///
    /// # Errors
    /// Those of [`lossy_topology`] and of [`Self::topology`].
    pub fn lossy_topology(
        self,
        file: &str,
        text: &str,
        loss: Option<(&str, f64)>,
    ) -> Result<Topology, WorldError> {
        let topology = self.topology(file, text)?;
        let Some((link, probability)) = loss else {
            return Ok(topology);
        };
        if !(0.0..=1.0).contains(&probability) {
            return Err(WorldError::Loss(probability));
        }
        if topology.link(link).is_none() {
            let names = topology.links().iter().map(|link| link.name.as_str());
            return Err(WorldError::UnknownLink {
                name: link.into(),
                topology: file.into(),
                closest: closest(link, names),
            });
        }
        let mut spec = self.fitted(file, text)?;
        spec.overrides.push(OverrideSpec {
            link: Some(link.into()),
            node: None,
            plane: None,
            set: LinkSettings {
                loss: Some(probability),
                ..LinkSettings::default()
            },
        });
        Ok(Topology::from_spec(file, spec)?)
    }
}
