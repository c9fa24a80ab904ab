//! `./stellar world`: two NICs on a fabric, or many, Verilated or the software reference of the transport.

mod entropy;
mod group;
mod show;

use std::path::{Path, PathBuf};

use anyhow::Context;
use sim_net::Topology;
use sim_nic::{CardReceives, CardSends, MixedNic, RtlNic};
use sim_world::scenario::{Scenario, Setup};
use sim_world::transfer::{run_watched, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{
    check_bytes, Addressing, EntropyPlan, MrcPlan, NicKind, Plan, ReferenceNic, TransportPlan,
    MAX_PATHS,
};
use stellar_transport::spray::Policy;

use crate::board::{host_ports, BoardOption};
use crate::path_mtu::PathMtu;
use crate::pcie_options::PcieOptions;
use crate::policy_name;
use crate::progress;
use crate::simulation::SimulationOptions;

pub use show::finish;

/// The lossy link of the built-in topology.
pub const LOSSY_LINK: &str = "p0.leaf0-spine5";
/// Default loss in the built-in topology.
pub const LOSS: f64 = 0.01;
/// Default factor by which a scenario's messages are shorter between Verilated NICs.
const RTL_SHRINK: u32 = 8;
/// Above this payload there are no captures, because they hold every frame four times.
const CAPTURED_BYTES: u64 = 64 << 20;

#[derive(clap::Args)]
pub struct Arguments {
    /// Topology file (docs/fabric.md); its first and last host exchange data [default: two planes of leaves and spines]
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Probability that the lossy link loses a frame [default: 0.01 on the built-in topology]
    #[arg(long, value_name = "P")]
    loss: Option<f64>,
    /// The lossy link
    #[arg(long, value_name = "NAME")]
    lossy_link: Option<String>,
    /// Policy that spreads packets over paths [default: obs, or single with one path]
    #[arg(long, value_parser = policy_name::of_cards())]
    policy: Option<Policy>,
    /// Paths of a queue pair [default: 128, or as many as --entropy lists]
    #[arg(long)]
    paths: Option<u8>,
    /// Entropy values of the paths: FIRST+STEP, or a list of which path n has the nth, like 0x4000,0x9123. Even paths belong to port 0
    /// (docs/policies.md) [default: 0xc000+1]
    #[arg(long, value_name = "VALUES", value_parser = entropy::parse)]
    entropy: Option<EntropyPlan>,
    /// Transport
    #[arg(long, default_value = "mrc")]
    mode: Mode,
    /// Route of packets
    #[arg(long, value_name = "HOW", default_value = "ipv4")]
    addressing: AddressingName,
    /// Kind of the NICs
    #[arg(long, default_value = "reference")]
    nic: NicOption,
    /// Bytes that each queue pair writes, as one message
    #[arg(long, default_value_t = 8 << 20)]
    bytes: u64,
    /// Path MTU in bytes: 256, 512, 1024, 2048, 4096 or 8192
    #[arg(long, value_name = "BYTES", default_value = "4096", value_parser = PathMtu::parse)]
    mtu: PathMtu,
    /// Queue pairs
    #[arg(long, default_value_t = 1)]
    qps: u32,
    /// Seed of everything random
    #[arg(long, default_value_t = 4)]
    seed: u64,
    /// Directory for report and captures
    #[arg(long, value_name = "DIR", default_value = "out/world")]
    out: PathBuf,
    /// Run one named scenario instead, which has its own topology and traffic (--list names them)
    #[arg(long, value_name = "NAME", conflicts_with_all = ["topology", "loss", "lossy_link", "policy", "paths", "entropy", "mode", "addressing", "bytes", "mtu", "qps"])]
    scenario: Option<String>,
    /// Divide the length of the scenario's messages, in scenarios that mean the same with shorter ones [default: 1, or 8 with a Verilated NIC]
    #[arg(long, value_name = "N", requires = "scenario", value_parser = clap::value_parser!(u32).range(1..=16))]
    shrink: Option<u32>,
    /// List the scenarios
    #[arg(long, conflicts_with_all = ["scenario", "sweep", "json"])]
    list: bool,
    /// Sweep the loss of the busiest link: MRC over 4 and 128 paths, and RC
    #[arg(long, conflicts_with_all = ["scenario", "loss", "lossy_link", "policy", "paths", "entropy", "mode", "addressing", "bytes", "mtu", "qps", "nic", "out"])]
    sweep: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    group: group::GroupOptions,
    #[command(flatten)]
    pcie: PcieOptions,
    #[command(flatten)]
    board: BoardOption,
    #[command(flatten)]
    simulation: SimulationOptions,
}

/// Route of packets.
#[derive(Clone, Copy, clap::ValueEnum)]
enum AddressingName {
    /// IPv4, paths by hash
    Ipv4,
    /// IPv6, paths by hash
    Ipv6,
    /// Source routes: the entropy value chooses the spine (SRv6 uSID)
    Srv6,
}

impl AddressingName {
    const fn addressing(self) -> Addressing {
        match self {
            Self::Ipv4 => Addressing::Ipv4,
            Self::Ipv6 => Addressing::Ipv6,
            Self::Srv6 => Addressing::Srv6,
        }
    }
}

/// Kind of the NICs.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum NicOption {
    /// Software reference of the transport
    Reference,
    /// The Verilated NIC
    Rtl,
    /// The Verilated NIC sends to the software reference
    RtlSender,
    /// The software reference sends to the Verilated NIC
    RtlReceiver,
}

/// Transport.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// Multipath, selective retransmission
    Mrc,
    /// Standard RoCEv2 on one path, go-back-N
    Rc,
}

/// Runs the chosen mode.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.nic == NicOption::Reference && !arguments.group.has_card() {
        let needs = "--nic rtl, rtl-sender or rtl-receiver, or a card of --nics";
        arguments.simulation.check_unused(needs)?;
    }
    arguments.simulation.choose()?;
    arguments.board.choose()?;
    if arguments.list || arguments.sweep || arguments.scenario.is_some() {
        let why =
            "with --list, --sweep and --scenario, which have hosts of their own: leave them out";
        arguments.pcie.check_unused(why)?;
    }
    if arguments.group.is_chosen() {
        return group::run(arguments);
    }
    if arguments.list {
        show::scenarios();
        return Ok(());
    }
    if arguments.sweep {
        let (file, text) = topology_text(arguments)?;
        let rows = sim_world::sweep::sweep(&file, &text, arguments.seed)?;
        return show::sweep(&rows, arguments.json);
    }
    if arguments.nic != NicOption::Reference {
        progress::building("the card", RtlNic::prepare)?;
    }
    match arguments.nic {
        NicOption::Reference => with::<ReferenceNic>(arguments, 1),
        NicOption::Rtl => with::<RtlNic>(arguments, RTL_SHRINK),
        NicOption::RtlSender => with::<MixedNic<CardSends>>(arguments, RTL_SHRINK),
        NicOption::RtlReceiver => with::<MixedNic<CardReceives>>(arguments, RTL_SHRINK),
    }
}

/// The chosen scenario or transfer, with this kind of NIC. Messages of scenarios are `shrink` times shorter by default.
fn with<N: NicKind>(arguments: &Arguments, shrink: u32) -> anyhow::Result<()> {
    if let Some(name) = &arguments.scenario {
        return play::<N>(arguments, name, shrink);
    }
    let bytes = check_bytes(arguments.bytes)?;
    exchange::<N>(&plan(arguments)?, bytes, &arguments.out, arguments.json)
}

/// Runs one scenario; writes report and captures.
fn play<N: NicKind>(arguments: &Arguments, name: &str, shrink: u32) -> anyhow::Result<()> {
    let scenario = Scenario::<N>::find(name)?;
    let progress = progress::Clock::show(scenario.name)?;
    let mut outcome = scenario.run(&Setup {
        seed: arguments.seed,
        shrink: arguments.shrink.unwrap_or(shrink),
        clock: Some(progress.time()),
        ports: host_ports(),
    })?;
    drop(progress);
    let report = outcome.report();
    let captures = outcome.world.captures();
    show::finish(
        scenario.what,
        &report,
        captures,
        &arguments.out,
        arguments.json,
    )
}

/// Runs one transfer; writes report and captures.
pub fn exchange<N: NicKind>(plan: &Plan, bytes: u32, out: &Path, json: bool) -> anyhow::Result<()> {
    let watched = progress::Transfer::new(u64::from(bytes) * u64::from(plan.qps));
    let run = run_watched::<N>(plan, Transfer::whole(bytes), |world| watched.see(world))?;
    watched.finish();
    let what = "every queue pair writes one message from GPU memory to GPU memory";
    show::finish(what, &run.report, run.world.captures(), out, json)
}

/// Multipath over this number of paths, sprayed obliviously if there are two or more.
pub fn sprayed(paths: u8) -> MrcPlan {
    let policy = if paths == 1 {
        Policy::SinglePath
    } else {
        Policy::Obs
    };
    MrcPlan {
        policy,
        paths,
        ..MrcPlan::default()
    }
}

/// Whether a run with this payload is captured.
pub const fn captured(bytes: u64) -> bool {
    bytes <= CAPTURED_BYTES
}

/// Name and text of the topology.
fn topology_text(arguments: &Arguments) -> anyhow::Result<(String, String)> {
    let Some(path) = &arguments.topology else {
        return Ok((LEAF_SPINE_FILE.into(), LEAF_SPINE.into()));
    };
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read topology {}", path.display()))?;
    Ok((path.display().to_string(), text))
}

/// The lossy link and its loss.
fn loss(arguments: &Arguments) -> anyhow::Result<Option<(&str, f64)>> {
    let built_in = arguments.topology.is_none();
    let link = arguments.lossy_link.as_deref();
    match (link.or(built_in.then_some(LOSSY_LINK)), arguments.loss) {
        (Some(link), Some(loss)) => Ok(Some((link, loss))),
        (Some(link), None) if built_in => Ok(Some((link, LOSS))),
        (Some(_), None) => {
            anyhow::bail!("--lossy-link without --loss: say how much, like --loss 0.01")
        }
        (None, Some(_)) => anyhow::bail!(
            "--loss without --lossy-link: say which link of the topology loses frames"
        ),
        (None, None) => Ok(None),
    }
}

fn plan(arguments: &Arguments) -> anyhow::Result<Plan> {
    let (file, text) = topology_text(arguments)?;
    let topology = host_ports().lossy_topology(&file, &text, loss(arguments)?)?;
    let mut plan = plan_on(arguments, topology, arguments.nic != NicOption::Reference)?;
    plan.qps = arguments.qps;
    plan.capture = captured(arguments.bytes * u64::from(arguments.qps));
    plan.check()?;
    Ok(plan)
}

/// The transport, the addressing and the PCIe of the arguments, on a topology. `has_card` says whether a NIC is a Verilated card.
fn plan_on(arguments: &Arguments, topology: Topology, has_card: bool) -> anyhow::Result<Plan> {
    let mut plan = Plan::new(topology, arguments.seed)?;
    plan.entropy = arguments.entropy.clone().unwrap_or_default();
    let paths = arguments.paths.unwrap_or(match &plan.entropy {
        EntropyPlan::Generated { .. } => MAX_PATHS,
        EntropyPlan::Explicit(values) => u8::try_from(values.len()).unwrap_or(u8::MAX),
    });
    let sprayed = sprayed(paths);
    plan.transport = match arguments.mode {
        Mode::Rc => TransportPlan::rc(arguments.policy, paths)?,
        Mode::Mrc => TransportPlan::Mrc(MrcPlan {
            policy: arguments.policy.unwrap_or(sprayed.policy),
            ..sprayed
        }),
    };
    plan.addressing = arguments.addressing.addressing();
    plan.mtu_log2 = arguments.mtu.log2;
    plan.pcie = if has_card {
        arguments.pcie.settings()?
    } else {
        arguments.pcie.reads()?.into()
    };
    Ok(plan)
}
