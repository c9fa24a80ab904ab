//! One permutation on the built-in fabric: flow completion times, data packets per second of CPU time, hash.
//!
//! `cargo run -p sim-cluster --example permutation -- [LEAVES] [HOSTS_PER_LEAF] [SPINES] [BYTES] [SEED] [records|bytes] [ACTIVE_PER_LEAF]`

use std::error::Error;

use sim_cluster::{cpu_seconds, leaf_spine, workload, Carrier, Cluster, Record, Report, Settings};
use sim_net::Frame;

fn run<C: Carrier>(numbers: &[u64], active: Option<usize>) -> Result<Report, Box<dyn Error>> {
    let [leaves, hosts, spines, bytes, seed] = *numbers else {
        return Err("give five numbers".into());
    };
    let topology = leaf_spine(leaves as usize, hosts as usize, spines as usize)?;
    let flows = workload::permutation(&topology, active, bytes, seed)?;
    let settings = Settings {
        seed,
        ..Settings::default()
    };
    let mut cluster = Cluster::<C>::new(topology, flows, settings)?;
    let before = cpu_seconds();
    cluster.run(|_| {})?;
    let spent = cpu_seconds()
        .zip(before)
        .map(|(after, before)| after - before);
    Ok(cluster.report(spent))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut numbers = vec![2, 60, 60, 20_000_000, 1];
    for (number, text) in numbers.iter_mut().zip(&arguments) {
        *number = text.parse()?;
    }
    let active = arguments.get(6).map(|text| text.parse()).transpose()?;
    let report = match arguments.get(5).map(String::as_str) {
        Some("bytes") => run::<Frame>(&numbers, active)?,
        _ => run::<Record>(&numbers, active)?,
    };
    println!(
        "{} hosts, {}: {:?}\n{:?}\nuplinks {:?}\n{} us simulated, {:.2} s, {:.0} data packets/s, hash {}",
        report.hosts,
        report.carrier,
        report.flows,
        report.packets,
        report.uplinks,
        report.simulated_us,
        report.cpu_seconds.unwrap_or(f64::NAN),
        report.packets_per_second.unwrap_or(f64::NAN),
        report.hash,
    );
    Ok(())
}
