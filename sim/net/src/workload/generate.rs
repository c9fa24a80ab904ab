//! Generated workloads. The same seed gives the same flows.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::reduce::{ring, tree};
use super::{Flow, GenerateError, Start, Workload};
use crate::{HostId, Node, Topology};

/// A pattern of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every host sends to one of another switch, and receives from one.
    Permutation,
    /// All hosts send to the last one.
    Incast,
    /// Every host sends to every other one.
    AllToAll,
    /// AllReduce in a ring.
    Ring,
    /// AllReduce in a binary tree.
    Tree,
}

impl Pattern {
    /// Every pattern.
    pub const ALL: [Self; 5] = [
        Self::Permutation,
        Self::Incast,
        Self::AllToAll,
        Self::Ring,
        Self::Tree,
    ];

    /// Name on command lines and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Permutation => "permutation",
            Self::Incast => "incast",
            Self::AllToAll => "all-to-all",
            Self::Ring => "ring",
            Self::Tree => "tree",
        }
    }

    /// With its article, for messages.
    const fn described(self) -> &'static str {
        match self {
            Self::Permutation => "a permutation",
            Self::Incast => "an incast",
            Self::AllToAll => "an all-to-all",
            Self::Ring => "a ring",
            Self::Tree => "a tree",
        }
    }

    /// The pattern among these hosts of a topology, in this order. `bytes` are those of a flow, and of a rank's buffer in an AllReduce. `seed` draws the
    /// permutation.
    ///
    /// # Errors
    /// [`GenerateError`].
    pub fn among(
        self,
        topology: &Topology,
        hosts: &[HostId],
        bytes: u64,
        seed: u64,
    ) -> Result<Workload, GenerateError> {
        self.check(topology, hosts.len(), bytes)?;
        let indices: Vec<usize> = hosts.iter().map(|host| host.0 as usize).collect();
        match self {
            Self::Permutation => permute(by_leaf(topology, &indices), bytes, seed),
            Self::Incast => Ok(all_to_last(&indices, bytes)),
            Self::AllToAll => Ok(each_to_each(&indices, bytes)),
            Self::Ring => Ok(ring(&indices, bytes)),
            Self::Tree => Ok(tree(&indices, bytes)),
        }
    }

    /// Checks numbers of hosts and bytes.
    fn check(self, topology: &Topology, asked: usize, bytes: u64) -> Result<(), GenerateError> {
        let (hosts, least) = (topology.hosts().len(), 2);
        if !(least..=hosts).contains(&asked) {
            return Err(GenerateError::Hosts {
                pattern: self.described(),
                asked,
                least,
                hosts,
            });
        }
        if !(1..=Flow::MAX_BYTES).contains(&bytes) {
            return Err(GenerateError::Bytes(bytes));
        }
        Ok(())
    }

    /// The pattern among `ranks` hosts in a random order.
    fn among_some(
        self,
        topology: &Topology,
        ranks: usize,
        bytes: u64,
        seed: u64,
    ) -> Result<Workload, GenerateError> {
        self.check(topology, ranks, bytes)?;
        let mut hosts: Vec<HostId> = (0..topology.hosts().len() as u32).map(HostId).collect();
        hosts.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        self.among(topology, &hosts[..ranks], bytes, seed)
    }
}

/// A flow that starts at 0.
pub(super) fn flow(id: usize, src: usize, dst: usize, bytes: u64) -> Flow {
    Flow {
        id: id as u64 + 1,
        src: HostId(src as u32),
        dst: HostId(dst as u32),
        bytes,
        start: Start::At(0),
        on_sent: None,
        on_received: None,
    }
}

fn all_at_once(pairs: impl Iterator<Item = (usize, usize)>, bytes: u64) -> Workload {
    let flows = pairs.enumerate();
    Workload {
        flows: flows
            .map(|(id, (src, dst))| flow(id, src, dst, bytes))
            .collect(),
        ..Workload::default()
    }
}

/// Hosts by the switch of their first port.
fn by_leaf(topology: &Topology, hosts: &[usize]) -> Vec<Vec<usize>> {
    let mut leaves: Vec<(Node, Vec<usize>)> = Vec::new();
    for &host in hosts {
        let Some(uplink) = topology.uplink(HostId(host as u32), 0) else {
            continue;
        };
        let leaf = topology.ends(uplink).1;
        match leaves.iter_mut().find(|(known, _)| *known == leaf) {
            Some((_, hosts)) => hosts.push(host),
            None => leaves.push((leaf, vec![host])),
        }
    }
    leaves.into_iter().map(|(_, hosts)| hosts).collect()
}

/// All hosts by the switch of their first port.
pub fn hosts_by_leaf(topology: &Topology) -> Vec<Vec<HostId>> {
    let all: Vec<usize> = (0..topology.hosts().len()).collect();
    let leaves = by_leaf(topology, &all).into_iter();
    leaves
        .map(|hosts| hosts.into_iter().map(|host| HostId(host as u32)).collect())
        .collect()
}

/// Every host sends one flow to a host of another switch and receives one, in a random order. `active` hosts of every switch take part, all with
/// `None`: with as many uplinks as hosts at a switch, the load of the uplinks is `active` divided by the hosts.
///
/// # Errors
/// [`GenerateError`].
pub fn permutation(
    topology: &Topology,
    active: Option<usize>,
    bytes: u64,
    seed: u64,
) -> Result<Workload, GenerateError> {
    let all: Vec<usize> = (0..topology.hosts().len()).collect();
    let mut leaves = by_leaf(topology, &all);
    for hosts in &mut leaves {
        hosts.truncate(active.unwrap_or(usize::MAX));
    }
    let asked = leaves.iter().map(Vec::len).sum();
    Pattern::Permutation.check(topology, asked, bytes)?;
    permute(leaves, bytes, seed)
}

/// A permutation among hosts, which are given by switch.
fn permute(leaves: Vec<Vec<usize>>, bytes: u64, seed: u64) -> Result<Workload, GenerateError> {
    // Every taking host with the number of its switch.
    let senders: Vec<(usize, usize)> = leaves
        .iter()
        .enumerate()
        .flat_map(|(leaf, hosts)| hosts.iter().map(move |&host| (leaf, host)))
        .collect();
    let most = leaves.iter().map(Vec::len).max().unwrap_or(0);
    if 2 * most > senders.len() {
        return Err(GenerateError::OneLeaf);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut receivers = senders.clone();
    receivers.shuffle(&mut rng);
    // Pairs within a switch are exchanged with others until none is left. No switch has more than half of the hosts, so there is always one.
    for index in 0..senders.len() {
        while senders[index].0 == receivers[index].0 {
            let other = rng.random_range(0..senders.len());
            if senders[index].0 != receivers[other].0 && senders[other].0 != receivers[index].0 {
                receivers.swap(index, other);
            }
        }
    }
    let pairs = senders.iter().zip(&receivers);
    Ok(all_at_once(pairs.map(|(src, dst)| (src.1, dst.1)), bytes))
}

fn all_to_last(hosts: &[usize], bytes: u64) -> Workload {
    let (&target, sources) = hosts.split_last().expect("two hosts or more");
    all_at_once(sources.iter().map(|&host| (host, target)), bytes)
}

fn each_to_each(hosts: &[usize], bytes: u64) -> Workload {
    let ranks = hosts.len();
    let pairs = (0..ranks)
        .flat_map(|src| (1..ranks).map(move |step| (hosts[src], hosts[(src + step) % ranks])));
    all_at_once(pairs, bytes)
}

/// `senders` hosts send to the host behind them at once, all in a random order.
///
/// # Errors
/// [`GenerateError`].
pub fn incast(
    topology: &Topology,
    senders: usize,
    bytes: u64,
    seed: u64,
) -> Result<Workload, GenerateError> {
    Pattern::Incast.among_some(topology, senders.saturating_add(1), bytes, seed)
}

/// Each of the first `ranks` hosts sends `bytes` to each of the others, all at once. Host i begins with host i + 1.
///
/// # Errors
/// [`GenerateError`].
pub fn all_to_all(
    topology: &Topology,
    ranks: usize,
    bytes: u64,
) -> Result<Workload, GenerateError> {
    Pattern::AllToAll.check(topology, ranks, bytes)?;
    let hosts: Vec<HostId> = (0..ranks as u32).map(HostId).collect();
    Pattern::AllToAll.among(topology, &hosts, bytes, 0)
}

/// A ring AllReduce of `bytes` per rank over `ranks` hosts in a random order: 2 (ranks - 1) steps, in each of which every rank sends a part of
/// `bytes / ranks` (rounded up) to the next one as soon as it has received the part of the step before.
///
/// # Errors
/// [`GenerateError`].
pub fn ring_all_reduce(
    topology: &Topology,
    ranks: usize,
    bytes: u64,
    seed: u64,
) -> Result<Workload, GenerateError> {
    Pattern::Ring.among_some(topology, ranks, bytes, seed)
}

/// A tree AllReduce of `bytes` per rank over `ranks` hosts in a random order. Rank r has the parent (r - 1) / 2. Every rank but the first sends its
/// buffer to its parent as soon as those of its children have arrived. Then the first rank has the sum, and every rank sends it on to its children as soon
/// as it has it.
///
/// # Errors
/// [`GenerateError`].
pub fn tree_all_reduce(
    topology: &Topology,
    ranks: usize,
    bytes: u64,
    seed: u64,
) -> Result<Workload, GenerateError> {
    Pattern::Tree.among_some(topology, ranks, bytes, seed)
}
