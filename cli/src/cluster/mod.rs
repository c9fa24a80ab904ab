//! `./stellar cluster`: many endpoints on one fabric, with the transport's software reference and records in place of frames.

mod show;

use std::path::PathBuf;

use clap::ValueEnum;
use sim_cluster::files::FileError;
use sim_cluster::workload::Workload;
use sim_cluster::{
    cpu_seconds, Addressing, Carrier, Cluster, ClusterPolicy, Congestion, NamedText, Options,
    Parts, QueuePairs, Record, Report, RunSpec, Settings, TopologySource, Transport,
    WorkloadSource,
};
use sim_net::{Balancer, Frame, Topology};

use crate::path_mtu::PathMtu;
use crate::policy_name;
use crate::progress;

#[derive(clap::Args)]
pub struct Arguments {
    /// Topology: a fat tree of htsim (.topo), or a file as docs/fabric.md describes [default: 2 leaves with 60 hosts each and 60 spines, 200 Gb/s]
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Connection matrix of htsim (.cm), with triggers
    #[arg(long, value_name = "FILE", conflicts_with_all = ["flows", "pattern", "bytes", "ranks"])]
    matrix: Option<PathBuf>,
    /// Flow file of ConWeave's simulator
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pattern", "bytes", "ranks"])]
    flows: Option<PathBuf>,
    /// Schedule in GOAL, as ATLAHS and LogGOPSim read it: sends, receives and computations of each rank
    #[arg(long, value_name = "FILE", conflicts_with_all = ["matrix", "flows", "pattern", "bytes", "ranks"])]
    goal: Option<PathBuf>,
    /// Flows to generate
    #[arg(long, default_value = "permutation")]
    pattern: Pattern,
    /// Bytes of a generated flow; of a rank's buffer in ring and tree
    #[arg(long, default_value_t = 2_000_000)]
    bytes: u64,
    /// Hosts that take part: of each leaf in a permutation, senders of an incast, ranks of the others [default: all]
    #[arg(long, value_name = "N")]
    ranks: Option<usize>,
    /// How switches choose among equal paths: ecmp, spray, adaptive, let-flow, conga, conweave or drill, with parameters like let-flow,gap_us=50
    /// (docs/fabric.md) [default: as the topology says, or ecmp]
    #[arg(long, value_name = "NAME[,KEY=VALUE...]")]
    #[arg(value_parser = parse_balancer)]
    balancer: Option<String>,
    /// Policy that spreads packets over paths [default: obs, or single with one path]
    #[arg(long, value_parser = policy_name::of_clusters())]
    policy: Option<ClusterPolicy>,
    /// Paths of a queue pair
    #[arg(long, default_value_t = 128)]
    paths: u8,
    /// Transport
    #[arg(long, default_value = "mrc")]
    mode: Mode,
    /// Congestion control
    #[arg(long, value_name = "NAME", default_value = "nscc")]
    congestion: CongestionName,
    /// Path MTU in bytes: 256, 512, 1024, 2048, 4096 or 8192
    #[arg(long, value_name = "BYTES", default_value = "4096", value_parser = PathMtu::parse)]
    mtu: PathMtu,
    /// Packets that one SACK covers
    #[arg(long, value_name = "PACKETS", default_value_t = 4)]
    sack_every: u8,
    /// Retransmission timeout in microseconds
    #[arg(long, value_name = "US", default_value_t = 250, value_parser = clap::value_parser!(u32).range(1..=8388))]
    rto_us: u32,
    /// Most packets of a queue pair in flight, up to 4096
    #[arg(long, value_name = "PACKETS", default_value_t = 1024)]
    window: u16,
    /// Early loss detection at this distance in packets, 128 or more; 0: off
    #[arg(long, value_name = "PACKETS", default_value_t = 0)]
    early_loss: u16,
    /// Queue pairs
    #[arg(long, value_name = "HOW", default_value = "per-flow")]
    queue_pairs: QueuePairsName,
    /// Headers of the packets
    #[arg(long, default_value = "ipv4")]
    addressing: AddressingName,
    /// Microseconds of a sample of throughput with --policy placed; 0: no telemetry
    #[arg(long, value_name = "US", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    telemetry_us: u32,
    /// Form of the packets
    #[arg(long, default_value = "records")]
    packets: Packets,
    /// Microseconds between samples of the uplinks' queues
    #[arg(long, value_name = "US", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    sample_us: u64,
    /// First and last sample in microseconds, like 100..800 [default: all]
    #[arg(long, value_name = "FROM..TO", value_parser = parse_window)]
    sample_window: Option<(u64, u64)>,
    /// End of the run in simulated microseconds, if flows are not done before
    #[arg(long, value_name = "US", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    limit_us: u64,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object, with every flow and uplink, instead of a table
    #[arg(long)]
    json: bool,
}

/// Generated flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Pattern {
    /// Each host sends to one of another leaf
    Permutation,
    /// Many hosts send to one
    Incast,
    /// Each host sends to each other
    AllToAll,
    /// AllReduce in a ring, step by step
    Ring,
    /// AllReduce in a binary tree, up and down
    Tree,
}

/// Transport.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Multipath, selective retransmission
    Mrc,
    /// Standard RoCEv2 on one path, go-back-N; with --policy hopper or hp3 one path at a time
    Rc,
}

/// Congestion control.
#[derive(Clone, Copy, ValueEnum)]
enum CongestionName {
    /// A window that follows marks and round trips, as the card has it
    Nscc,
    /// A rate that follows marks, and one bandwidth-delay product in flight; a baseline with the constants of ConWeave's simulator, not in the card
    Dcqcn,
    /// The same with the constants of DCQCN's paper
    #[value(name = "dcqcn-2015")]
    DcqcnPaper,
}

/// Queue pairs.
#[derive(Clone, Copy, ValueEnum)]
enum QueuePairsName {
    /// Every flow has one of its own
    PerFlow,
    /// All flows between two hosts share one
    PerPair,
}

/// Headers of the packets.
#[derive(Clone, Copy, ValueEnum)]
enum AddressingName {
    /// IPv4; switches choose among equal paths
    Ipv4,
    /// Source routes (IPv6 within IPv6): the entropy value chooses the spine
    Srv6,
}

/// Form of the packets.
#[derive(Clone, Copy, ValueEnum)]
enum Packets {
    /// Records without bytes
    Records,
    /// Whole frames: the same run, and many times slower
    Bytes,
}

fn parse_window(text: &str) -> Result<(u64, u64), String> {
    let bounds = text.split_once("..");
    let bounds = bounds.and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    bounds
        .filter(|(from, to): &(u64, u64)| from <= to && *to <= 1_000_000_000)
        .ok_or_else(|| {
            "give two whole numbers of microseconds like 100..800, up to 1000000000".into()
        })
}

/// Runs the flows, and prints the results.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Parts {
        topology,
        workload,
        settings,
    } = spec(arguments)?.parts()?;
    let report = match arguments.packets {
        Packets::Records => watched::<Record>(topology, workload, settings)?,
        Packets::Bytes => watched::<Frame>(topology, workload, settings)?,
    };
    if arguments.json {
        println!("{}", serde_json::to_string(&report)?);
        return Ok(());
    }
    show::table(&report);
    Ok(())
}

/// Runs a cluster with a bar of progress.
pub fn watched<C: Carrier>(
    topology: Topology,
    workload: Workload,
    settings: Settings,
) -> anyhow::Result<Report> {
    let bar = progress::Flows::new(workload.flows.len());
    let mut cluster = Cluster::<C>::new(topology, workload, settings)?;
    let before = cpu_seconds();
    cluster.run(|progress| bar.look(progress.flows, progress.now))?;
    let spent = cpu_seconds().zip(before);
    bar.finish();
    Ok(cluster.report(spent.map(|(after, before)| after - before)))
}

/// A balancer is checked with the other options; the run gets its text.
fn parse_balancer(text: &str) -> Result<String, String> {
    text.parse::<Balancer>()?;
    Ok(text.into())
}

/// The run that the arguments describe.
fn spec(arguments: &Arguments) -> anyhow::Result<RunSpec> {
    Ok(RunSpec {
        topology: match &arguments.topology {
            Some(path) => TopologySource::of_file(path)?,
            None => TopologySource::default(),
        },
        balancer: arguments.balancer.clone(),
        workload: workload(arguments)?,
        options: Options {
            seed: arguments.seed,
            transport: match arguments.mode {
                Mode::Mrc => Transport::Mrc,
                Mode::Rc => Transport::Rc,
            },
            congestion: match arguments.congestion {
                CongestionName::Nscc => Congestion::Nscc,
                CongestionName::Dcqcn => Congestion::Dcqcn,
                CongestionName::DcqcnPaper => Congestion::DcqcnPaper,
            },
            policy: arguments.policy.map(|policy| policy.name().into()),
            paths: arguments.paths,
            mtu: arguments.mtu.bytes(),
            sack_every: arguments.sack_every,
            rto_us: arguments.rto_us,
            window: arguments.window,
            early_loss: arguments.early_loss,
            queue_pairs: match arguments.queue_pairs {
                QueuePairsName::PerFlow => QueuePairs::PerFlow,
                QueuePairsName::PerPair => QueuePairs::PerPair,
            },
            addressing: match arguments.addressing {
                AddressingName::Ipv4 => Addressing::Ipv4,
                AddressingName::Srv6 => Addressing::Srv6,
            },
            telemetry_us: arguments.telemetry_us,
            path_loads: arguments.json,
            sample_us: arguments.sample_us,
            sample_window: arguments.sample_window,
            limit_us: arguments.limit_us,
        },
    })
}

fn workload(arguments: &Arguments) -> Result<WorkloadSource, FileError> {
    if let Some(path) = &arguments.matrix {
        return Ok(WorkloadSource::Matrix(NamedText::read(path)?));
    }
    if let Some(path) = &arguments.flows {
        return Ok(WorkloadSource::Flows(NamedText::read(path)?));
    }
    if let Some(path) = &arguments.goal {
        return Ok(WorkloadSource::Goal(NamedText::read(path)?));
    }
    let (bytes, ranks) = (arguments.bytes, arguments.ranks);
    Ok(match arguments.pattern {
        Pattern::Permutation => WorkloadSource::Permutation { bytes, ranks },
        Pattern::Incast => WorkloadSource::Incast { bytes, ranks },
        Pattern::AllToAll => WorkloadSource::AllToAll { bytes, ranks },
        Pattern::Ring => WorkloadSource::Ring { bytes, ranks },
        Pattern::Tree => WorkloadSource::Tree { bytes, ranks },
    })
}
