//! Builds a world of many hosts: NICs, connections, memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sim_net::workload::{hosts_by_leaf, Workload};
use sim_net::{Fabric, HostId, Time, Topology};
use stellar_transport::rx::{Owner, PageSize};

use super::{GroupNic, GroupPlan, HostNic};
use crate::config::MAX_QPS;
use crate::pair::{card_config, idle_round_trip, max_wimm, End, Transport, FIRST_QP};
use crate::{HostMemory, Plan, RegionId, RegionSpec, World, WorldError, Write};

/// Largest send queue: 2^12 entries.
const MOST_ENTRIES_LOG2: u8 = 12;

/// Hosts of a topology for so many NICs: those of its leaves in turn, so that neighbours in the list are on different leaves.
///
/// # Errors
/// [`WorldError::NicCount`].
pub fn place(topology: &Topology, kinds: &[HostNic]) -> Result<Vec<(HostId, HostNic)>, WorldError> {
    let hosts = topology.hosts().len();
    if !(2..=hosts).contains(&kinds.len()) {
        let nics = kinds.len();
        return Err(WorldError::NicCount { nics, hosts });
    }
    let leaves = hosts_by_leaf(topology);
    let longest = leaves.iter().map(Vec::len).max().unwrap_or(0);
    let in_turn = (0..longest).flat_map(|at| leaves.iter().filter_map(move |leaf| leaf.get(at)));
    Ok(in_turn.copied().zip(kinds.iter().copied()).collect())
}

/// A world whose flows have not started, and what each flow writes.
pub(super) struct Connected<N> {
    pub world: World<N>,
    /// By tenant and flow.
    pub writes: Vec<Vec<Write>>,
}

/// Flows of all rounds of each tenant.
pub(super) fn workloads(plan: &GroupPlan) -> Result<Vec<Workload>, WorldError> {
    let one = |(at, tenant): (u64, &super::Tenant)| {
        let seed = plan.base.seed.wrapping_add(at);
        let (topology, pattern) = (&plan.base.topology, tenant.pattern);
        Ok(pattern.among(topology, &tenant.hosts, tenant.bytes, seed)?)
    };
    (0..).zip(&plan.tenants).map(one).collect()
}

/// Queue pairs by tenant, lower and higher host.
type Connections = BTreeMap<(usize, HostId, HostId), Connection>;

struct Connection {
    qp: u32,
    /// WRITEs of each end.
    writes: [u64; 2],
}

/// Builds the world of a plan.
pub(super) fn connect<N: GroupNic>(
    plan: &GroupPlan,
    workloads: &[Workload],
) -> Result<Connected<N>, WorldError> {
    let base = &plan.base;
    let fabric = Fabric::new(Arc::clone(&base.topology), base.seed);
    let mut world = World::new(fabric, base.seed);
    for (host, &(id, kind)) in plan.nics.iter().enumerate() {
        let memory = HostMemory::new(base.seed.wrapping_mul(2).wrapping_add(host as u64));
        let nic = N::make(kind, host, card_config(base, id), memory, &base.pcie)?;
        world.add_host(id, nic)?;
    }
    if base.capture {
        world.capture()?;
    }
    if let Some(clock) = &base.clock {
        world.show_time(Arc::clone(clock));
    }
    let connections = connections(plan, workloads)?;
    let transport = Transport::new(base, longest_round_trip::<N>(plan, &connections)?)?;
    for (&(tenant, low, high), connection) in &connections {
        connect_pair(
            &mut world,
            plan,
            tenant,
            [low, high],
            connection,
            connections.len() as u32,
            &transport,
        )?;
    }
    let mut writes = Vec::new();
    for (tenant, workload) in workloads.iter().enumerate() {
        writes.push(tenant_writes(
            &mut world,
            plan,
            tenant,
            workload,
            &connections,
        )?);
    }
    Ok(Connected { world, writes })
}

fn connections(plan: &GroupPlan, workloads: &[Workload]) -> Result<Connections, WorldError> {
    let mut connections = Connections::new();
    for (tenant, workload) in workloads.iter().enumerate() {
        for flow in &workload.flows {
            let key = (tenant, flow.src.min(flow.dst), flow.src.max(flow.dst));
            let qp = FIRST_QP + connections.len() as u32;
            let writes = [0; 2];
            let connection = connections.entry(key).or_insert(Connection { qp, writes });
            let end = usize::from(flow.src > flow.dst);
            connection.writes[end] += u64::from(plan.tenants[tenant].rounds);
        }
    }
    let count = connections.len() as u32;
    if count > MAX_QPS {
        return Err(WorldError::Qps(count));
    }
    Ok(connections)
}

/// Protection domain of a tenant.
const fn domain(tenant: usize) -> u32 {
    1 + tenant as u32
}

/// Base round trip of the longest connection, in picoseconds. Congestion control of all connections has it, so that equal rates take equal windows.
fn longest_round_trip<N: GroupNic>(
    plan: &GroupPlan,
    connections: &Connections,
) -> Result<Time, WorldError> {
    let kind = |host| plan.nics.iter().find(|nic| nic.0 == host).map(|nic| nic.1);
    let pairs: BTreeSet<[HostId; 2]> = connections
        .iter()
        .flat_map(|(&(_, low, high), connection)| {
            let both = [[low, high], [high, low]]
                .into_iter()
                .zip(connection.writes);
            both.filter(|&(_, writes)| writes > 0).map(|(pair, _)| pair)
        })
        .collect();
    let mut longest = 0;
    for [sender, receiver] in pairs {
        let base = between(&plan.base, [sender, receiver]);
        let kinds = [sender, receiver].map(|host| kind(host).unwrap_or(HostNic::Reference));
        longest = longest.max(idle_round_trip(&base)? + nics_delay::<N>(&base, kinds));
    }
    Ok(longest)
}

/// The plan of one direction of a connection.
fn between(base: &Plan, [sender, receiver]: [HostId; 2]) -> Plan {
    Plan {
        sender,
        receiver,
        ..base.clone()
    }
}

fn connect_pair<N: GroupNic>(
    world: &mut World<N>,
    plan: &GroupPlan,
    tenant: usize,
    hosts: [HostId; 2],
    connection: &Connection,
    queue_pairs: u32,
    transport: &Transport,
) -> Result<(), WorldError> {
    let kinds = hosts.map(|host| plan.nics[world.by_id[&host]].1);
    let most = N::max_wimm(kinds[0]).min(N::max_wimm(kinds[1]));
    for (end, other) in [(0, 1), (1, 0)] {
        let base = Plan {
            sq_log2: log2_entries(connection.writes[end]),
            ..between(&plan.base, [hosts[end], hosts[other]])
        };
        let srv6 = base.addressing.source_route(&base.topology, hosts[other])?;
        let host = world.host_mut(world.by_id[&hosts[end]]);
        let number = connection.qp;
        let sq = host.add_ring(number, number, &base)?;
        let end = End {
            number,
            peer: hosts[other],
            pd: domain(tenant),
            sq,
            srv6,
            max_wimm: max_wimm(most, queue_pairs),
        };
        host.nic.create_qp(end.config(&base, transport), 0)?;
    }
    Ok(())
}

/// Delay of the NICs of a sender and a receiver.
fn nics_delay<N: GroupNic>(plan: &Plan, [sender, receiver]: [HostNic; 2]) -> Time {
    let payload = 1 << plan.mtu_log2;
    let lanes = N::lanes_delay(sender, payload) + N::lanes_delay(receiver, payload);
    lanes + N::receiver_delay(receiver, plan.pcie.reads)
}

/// log2 of the entries of a send queue for so many WRITEs.
fn log2_entries(writes: u64) -> u8 {
    let log2 = writes.max(2).next_power_of_two().ilog2() as u8;
    log2.min(MOST_ENTRIES_LOG2)
}

/// Registers the memory of a tenant, a source and a destination for every flow of every round, and lists the WRITEs of all rounds.
fn tenant_writes<N: GroupNic>(
    world: &mut World<N>,
    plan: &GroupPlan,
    tenant: usize,
    workload: &Workload,
    connections: &Connections,
) -> Result<Vec<Write>, WorldError> {
    let rounds = u64::from(plan.tenants[tenant].rounds);
    // Bytes that each host sends and receives.
    let mut totals: BTreeMap<(HostId, bool), u64> = BTreeMap::new();
    let mut places = Vec::new();
    for flow in workload.flows.iter() {
        let mut take = |host, receives| {
            let total = totals.entry((host, receives)).or_default();
            let offset = *total;
            *total += flow.bytes * rounds;
            offset
        };
        places.push([take(flow.src, false), take(flow.dst, true)]);
    }
    let mut regions: BTreeMap<(HostId, bool), RegionId> = BTreeMap::new();
    for (&(host, receives), &length) in &totals {
        let spec = RegionSpec {
            owner: Owner::Gpu,
            length,
            page_size: PageSize::Size64K,
            skew: 0,
        };
        let region = world.register_in(world.by_id[&host], domain(tenant), spec)?;
        regions.insert((host, receives), region);
    }
    let mut writes = Vec::new();
    for round in 0..rounds {
        for (flow, places) in workload.flows.iter().zip(&places) {
            let key = (tenant, flow.src.min(flow.dst), flow.src.max(flow.dst));
            let at = places.map(|place| place + round * flow.bytes);
            writes.push(Write {
                from: world.by_id[&flow.src],
                to: world.by_id[&flow.dst],
                qp: connections[&key].qp,
                local: (regions[&(flow.src, false)], at[0]),
                remote: (regions[&(flow.dst, true)], at[1]),
                length: flow.bytes as u32,
                // The run sets it to the number of the WRITE.
                immediate: None,
            });
        }
    }
    Ok(writes)
}
