//! `./stellar bench cluster`: speed and memory of the simulation of many endpoints.

use sim_cluster::workload::{all_to_all, permutation};
use sim_cluster::{
    cpu_seconds, leaf_spine, resident_bytes, Cluster, QueuePairs, Record, Report, Settings,
};

use super::{print, Row};
use crate::progress;

/// A permutation: leaves, hosts of each, spines, bytes of a flow, and the packets per second of CPU time that are asked for.
struct Size {
    leaves: usize,
    hosts_per_leaf: usize,
    spines: usize,
    bytes: u64,
    goal: f64,
}

/// The sizes of the comparison with uet-htsim, and one beyond.
const SIZES: [Size; 4] = [
    Size {
        leaves: 2,
        hosts_per_leaf: 60,
        spines: 60,
        bytes: 20_000_000,
        goal: 1.0e6,
    },
    Size {
        leaves: 8,
        hosts_per_leaf: 60,
        spines: 60,
        bytes: 4_000_000,
        goal: 0.8e6,
    },
    Size {
        leaves: 32,
        hosts_per_leaf: 32,
        spines: 32,
        bytes: 4_000_000,
        goal: 0.6e6,
    },
    Size {
        leaves: 64,
        hosts_per_leaf: 64,
        spines: 64,
        bytes: 1_000_000,
        goal: 0.4e6,
    },
];
/// `--quick` takes flows this many times shorter.
const SHORTER: u64 = 10;
/// Memory of a busy queue pair, in bytes, that is asked for.
const MEMORY: f64 = 2048.0;
/// Time that is asked for to build the largest cluster, in seconds.
const BUILD_SECONDS: f64 = 1.0;

#[derive(clap::Args)]
pub struct Arguments {
    /// Shorter flows, and no full mesh
    #[arg(long)]
    quick: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Measures, and prints the rows.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for size in &SIZES {
        let (report, memory) = measure(size, arguments.quick)?;
        let hosts = report.hosts;
        let speed = report.packets_per_second.unwrap_or(f64::NAN);
        let name = format!("packets/s permutation {hosts}");
        rows.push(Row::new(name, speed, "1/s", Some(size.goal)));
        if let Some(memory) = memory {
            let name = format!("memory per endpoint, permutation {hosts}");
            rows.push(Row::new(name, memory, "B", None));
        }
    }
    rows.push(build(128, 128, 128)?);
    if !arguments.quick {
        rows.extend(mesh(1024)?);
    }
    print("cluster", &rows, arguments.json)
}

/// Runs a permutation. Returns its results, and by how much the memory of the process grew in the run, for each host: two queue pairs, packets on the
/// way, events.
fn measure(size: &Size, quick: bool) -> anyhow::Result<(Report, Option<f64>)> {
    let hosts = size.leaves * size.hosts_per_leaf;
    let bytes = if quick {
        size.bytes / SHORTER
    } else {
        size.bytes
    };
    progress::measuring(&format!("a permutation of {hosts}"), || {
        let topology = leaf_spine(size.leaves, size.hosts_per_leaf, size.spines)?;
        let flows = permutation(&topology, None, bytes, 1)?;
        let cluster = Cluster::new(topology, flows, Settings::default())?;
        let (report, grown) = run_measured(cluster)?;
        Ok((report, grown.map(|grown| grown / hosts as f64)))
    })
}

/// Runs a cluster to its end. Returns its results with the CPU time of the run, and by how many bytes the memory of the process grew in it.
fn run_measured(mut cluster: Cluster<Record>) -> anyhow::Result<(Report, Option<f64>)> {
    let (before, memory) = (cpu_seconds(), resident_bytes());
    cluster.run(|_| {})?;
    let spent = cpu_seconds()
        .zip(before)
        .map(|(after, before)| after - before);
    let grown = resident_bytes().zip(memory);
    let grown = grown.map(|(after, before)| after.saturating_sub(before) as f64);
    Ok((cluster.report(spent), grown))
}

/// Builds a cluster without running it.
fn build(leaves: usize, hosts_per_leaf: usize, spines: usize) -> anyhow::Result<Row> {
    let hosts = leaves * hosts_per_leaf;
    progress::measuring(&format!("the building of {hosts} endpoints"), || {
        let before = cpu_seconds();
        let topology = leaf_spine(leaves, hosts_per_leaf, spines)?;
        let flows = permutation(&topology, None, 1, 1)?;
        let cluster = Cluster::<Record>::new(topology, flows, Settings::default())?;
        let spent = cpu_seconds().zip(before);
        drop(cluster);
        let seconds = spent.map_or(f64::NAN, |(after, before)| after - before);
        let name = format!("CPU time to build {hosts} endpoints");
        Ok(Row::new(name, seconds, "s", Some(BUILD_SECONDS)))
    })
}

/// One small write from each of `ranks` endpoints to each other, over one queue pair for each two of them.
fn mesh(ranks: usize) -> anyhow::Result<Vec<Row>> {
    progress::measuring(&format!("a full mesh of {ranks}"), || {
        let topology = leaf_spine(32, ranks / 32, 32)?;
        let flows = all_to_all(&topology, ranks, 4096)?;
        let settings = Settings {
            queue_pairs: QueuePairs::PerPair,
            ..Settings::default()
        };
        let (report, grown) = run_measured(Cluster::new(topology, flows, settings)?)?;
        anyhow::ensure!(
            report.flows.finished == report.flows.total,
            "{} of {} flows of the full mesh finished",
            report.flows.finished,
            report.flows.total
        );
        let ends = (ranks * (ranks - 1)) as f64;
        let speed = report.packets_per_second.unwrap_or(f64::NAN);
        let mut rows = vec![Row::new(
            format!("packets/s full mesh {ranks}"),
            speed,
            "1/s",
            None,
        )];
        if let Some(grown) = grown {
            let memory = grown / ends;
            let name = format!("memory per queue pair, full mesh {ranks}");
            rows.push(Row::new(name, memory, "B", Some(MEMORY)));
        }
        Ok(rows)
    })
}
