//! Flow completion times of a permutation on a fabric with slow spines, with every path policy: mean over seeds of the mean and of the longest, in
//! microseconds, and what was sent again.
//!
//! `cargo run -p sim-cluster --example policies -- [SLOW_SPINES] [SEEDS] [BYTES] [SACK_EVERY] [HOSTS] [SPINES]`
//!
//! Four leaves, half of whose hosts send; a slow spine has a quarter of the rate of the others.

use std::error::Error;

use sim_cluster::{workload, Cluster, ClusterPolicy, Record, Report, Settings};
use sim_net::Topology;
use stellar_transport::spray::Policy;

fn topology(slow: u64, hosts: u64, spines: u64) -> Result<Topology, Box<dyn Error>> {
    let mut text = format!(
        "
        [fabric]
        switch_latency_ns = 500
        ecn_at_last_hop = true
        [defaults]
        rate_gbps = 200
        delay_ns = 500
        queue_bytes = 4_150_000
        ecn = {{ min_bytes = 41_500, max_bytes = 157_700, max_probability = 1.0 }}
        [leaf_spine]
        planes = 1
        leaves = 4
        spines = {spines}
        hosts_per_leaf = {hosts}
        "
    );
    for spine in 0..slow {
        text += &format!(
            "
        [[overrides]]
        node = 'p0.spine{spine}'
        set = {{ rate_gbps = 50 }}
        "
        );
    }
    Ok(Topology::from_toml("slow spines", &text)?)
}

fn run(topology: &Topology, settings: Settings, bytes: u64) -> Result<Report, Box<dyn Error>> {
    let senders = topology.hosts().len() / 4 / 2;
    let flows = workload::permutation(topology, Some(senders), bytes, settings.seed)?;
    let mut cluster = Cluster::<Record>::new(topology.clone(), flows, settings)?;
    cluster.run(|_| {})?;
    Ok(cluster.report(None))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = [1, 1, 20_000_000, 4, 60, 60];
    for (number, text) in numbers.iter_mut().zip(std::env::args().skip(1)) {
        *number = text.parse()?;
    }
    let [slow, seeds, bytes, sack_every, hosts, spines] = numbers;
    let topology = topology(slow, hosts, spines)?;
    println!("{slow} slow spines, a SACK for {sack_every} packets, {seeds} seeds");
    for policy in ClusterPolicy::ALL {
        let (mut mean, mut longest, mut again, mut data) = (0.0, 0.0, 0, 0);
        for seed in 1..=seeds {
            let settings = Settings {
                seed,
                policy,
                paths: if policy == Policy::SinglePath.into() {
                    1
                } else {
                    128
                },
                sack_every: sack_every as u8,
                ..Settings::default()
            };
            let report = run(&topology, settings, bytes)?;
            mean += report.flows.fct_us.mean;
            longest += report.flows.fct_us.max;
            again += report.packets.retransmitted;
            data += report.packets.data;
        }
        let n = seeds as f64;
        println!(
            "{:<12} mean {:7.1} longest {:7.1} again {:.3} %",
            policy.name(),
            mean / n,
            longest / n,
            100.0 * again as f64 / data as f64,
        );
    }
    Ok(())
}
