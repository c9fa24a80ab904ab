//! Topologies and runs that the tests share.

use sim_cluster::workload::Workload;
use sim_cluster::{Carrier, Cluster, Record, Report, Settings};
use sim_net::{Frame, Topology};

/// A topology from a valid text.
pub fn topology(text: &str) -> Topology {
    Topology::from_toml("test", text).unwrap_or_else(|error| panic!("{error}"))
}

/// Two leaves of `hosts` hosts in each of `planes` planes with 4 spines, 200G, and `more` tables.
pub fn clos(planes: usize, hosts: usize, more: &str) -> Topology {
    topology(&format!(
        "
        [defaults]
        rate_gbps = 200
        delay_ns = 500
        queue_bytes = 400_000
        [leaf_spine]
        planes = {planes}
        leaves = 2
        spines = 4
        hosts_per_leaf = {hosts}
        {more}
        "
    ))
}

/// Runs `flows` with packets of form `C`.
pub fn run<C: Carrier>(topology: &Topology, flows: &Workload, settings: &Settings) -> Report {
    let mut cluster = Cluster::<C>::new(topology.clone(), flows.clone(), settings.clone())
        .unwrap_or_else(|error| panic!("{error}"));
    cluster
        .run(|_| {})
        .unwrap_or_else(|error| panic!("{error}"));
    cluster.report(None)
}

/// Runs `flows` with records and with bytes. Both must give the same, in every number.
pub fn run_both(topology: &Topology, flows: &Workload, settings: &Settings) -> Report {
    let records = run::<Record>(topology, flows, settings);
    let bytes = run::<Frame>(topology, flows, settings);
    assert_eq!(records.hash, bytes.hash);
    assert_eq!(records.flow_results, bytes.flow_results);
    assert_eq!(records.packets, bytes.packets);
    assert_eq!(records.uplink_bytes, bytes.uplink_bytes);
    assert_eq!(records.path_packets, bytes.path_packets);
    assert_eq!(records.uplinks, bytes.uplinks);
    assert_eq!(records.occurrences, bytes.occurrences);
    records
}
