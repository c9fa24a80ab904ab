//! Flow completion times of a permutation with every balancer of the switches: mean over seeds of the mean and of the longest, in microseconds, and what
//! was lost or sent again.
//!
//! `cargo run -p sim-cluster --example balancers -- [SEEDS] [BYTES] [BALANCER]`

use std::error::Error;

use sim_cluster::{leaf_spine, workload, Cluster, Record, Report, Settings, Transport};
use sim_net::{Balancer, Topology};
use stellar_transport::spray::Policy;

/// Hosts at each of two leaves, and spines.
const HOSTS: usize = 30;
const SPINES: usize = 60;

/// What the hosts send with.
const SENDERS: [(&str, Transport, Policy, u8); 5] = [
    ("RC", Transport::Rc, Policy::SinglePath, 1),
    ("RC, Hopper", Transport::Rc, Policy::Hopper, 128),
    ("RC, HP3", Transport::Rc, Policy::Hp3, 128),
    ("MRC, 1 path", Transport::Mrc, Policy::SinglePath, 1),
    ("MRC, 128 paths", Transport::Mrc, Policy::Obs, 128),
];

const BALANCERS: [&str; 8] = [
    "ecmp",
    "spray",
    "adaptive",
    "let-flow",
    "let-flow,gap_us=5",
    "conga,gap_us=5",
    "conweave",
    "drill",
];

fn run(topology: &Topology, settings: Settings, bytes: u64) -> Result<Report, Box<dyn Error>> {
    let flows = workload::permutation(topology, None, bytes, settings.seed)?;
    let mut cluster = Cluster::<Record>::new(topology.clone(), flows, settings)?;
    cluster.run(|_| {})?;
    Ok(cluster.report(None))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = [3, 2_000_000];
    for (number, text) in numbers.iter_mut().zip(std::env::args().skip(1)) {
        *number = text.parse()?;
    }
    let [seeds, bytes] = numbers;
    let only = std::env::args().nth(3);
    let topology = leaf_spine(2, HOSTS, SPINES)?;
    for (name, transport, policy, paths) in SENDERS {
        for balancer in BALANCERS {
            if only.as_ref().is_some_and(|only| only != balancer) {
                continue;
            }
            let topology = topology
                .clone()
                .with_balancer(balancer.parse::<Balancer>()?)?;
            let (mut mean, mut longest, mut again, mut lost, mut open) = (0.0, 0.0, 0, 0, 0);
            for seed in 1..=seeds {
                let settings = Settings {
                    seed,
                    transport,
                    policy: policy.into(),
                    paths,
                    ..Settings::default()
                };
                let report = run(&topology, settings, bytes)?;
                mean += report.flows.fct_us.mean / seeds as f64;
                longest += report.flows.fct_us.max / seeds as f64;
                again += report.packets.retransmitted;
                lost += report.packets.dropped.total();
                open += report.flows.total - report.flows.finished;
            }
            println!(
                "{name:15} {balancer:18} mean {mean:7.1} longest {longest:7.1} sent again {again} lost {lost} unfinished {open}"
            );
        }
    }
    Ok(())
}
