//! Generated workloads. Hosts are those of a topology, in its order; the same seed gives the same flows.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_net::{HostId, Node, Topology};
use thiserror::Error;

use super::{Flow, Start, TriggerId, TriggerKind, Workload};

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

fn check(
    pattern: &'static str,
    topology: &Topology,
    asked: usize,
    bytes: u64,
) -> Result<(), GenerateError> {
    let (hosts, least) = (topology.hosts().len(), 2);
    if !(least..=hosts).contains(&asked) {
        return Err(GenerateError::Hosts {
            pattern,
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

/// A flow that starts at 0.
fn flow(id: usize, src: usize, dst: usize, bytes: u64) -> Flow {
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
        triggers: Vec::new(),
    }
}

/// Hosts by the switch of their first port, `active` of each (all with `None`).
fn by_leaf(topology: &Topology, active: Option<usize>) -> Vec<Vec<usize>> {
    let mut leaves: Vec<(Node, Vec<usize>)> = Vec::new();
    for host in 0..topology.hosts().len() {
        let Some(uplink) = topology.uplink(HostId(host as u32), 0) else {
            continue;
        };
        let leaf = topology.ends(uplink).1;
        match leaves.iter_mut().find(|(known, _)| *known == leaf) {
            Some((_, hosts)) => hosts.push(host),
            None => leaves.push((leaf, vec![host])),
        }
    }
    let active = active.unwrap_or(usize::MAX);
    leaves
        .into_iter()
        .map(|(_, hosts)| hosts.into_iter().take(active).collect())
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
    let leaves = by_leaf(topology, active);
    // Every taking host with the number of its switch.
    let senders: Vec<(usize, usize)> = leaves
        .iter()
        .enumerate()
        .flat_map(|(leaf, hosts)| hosts.iter().map(move |&host| (leaf, host)))
        .collect();
    check("a permutation", topology, senders.len(), bytes)?;
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

/// `senders` hosts send to the host behind them at once.
///
/// # Errors
/// [`GenerateError`].
pub fn incast(
    topology: &Topology,
    senders: usize,
    bytes: u64,
    seed: u64,
) -> Result<Workload, GenerateError> {
    check("an incast", topology, senders.saturating_add(1), bytes)?;
    let mut hosts: Vec<usize> = (0..topology.hosts().len()).collect();
    hosts.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let target = hosts[senders];
    let sources = hosts.into_iter().take(senders);
    Ok(all_at_once(sources.map(|host| (host, target)), bytes))
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
    check("an all-to-all", topology, ranks, bytes)?;
    let pairs = (0..ranks).flat_map(|src| (1..ranks).map(move |step| (src, (src + step) % ranks)));
    Ok(all_at_once(pairs, bytes))
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
    check("a ring", topology, ranks, bytes)?;
    let mut hosts: Vec<usize> = (0..topology.hosts().len()).collect();
    hosts.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    hosts.truncate(ranks);
    let part = bytes.div_ceil(ranks as u64);
    let steps = 2 * (ranks - 1);
    let mut workload = Workload::default();
    for _ in 0..ranks * (steps - 1) {
        workload.add_trigger(TriggerKind::OneShot);
    }
    // Trigger of the arrival of step `step` at rank `rank`.
    let arrival = |step: usize, rank: usize| TriggerId((step * ranks + rank) as u32);
    for step in 0..steps {
        for rank in 0..ranks {
            let next = (rank + 1) % ranks;
            workload.add_flow(Flow {
                start: match step {
                    0 => Start::At(0),
                    _ => Start::Trigger(arrival(step - 1, rank)),
                },
                on_received: (step + 1 < steps).then(|| arrival(step, next)),
                ..flow(step * ranks + rank, hosts[rank], hosts[next], part)
            });
        }
    }
    Ok(workload)
}
