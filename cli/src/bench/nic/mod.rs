//! `./stellar bench nic`: two Verilated cards on the leaf-spine fabric.

mod goodput;
mod latency;
mod loss;
mod speed;

use sim_nic::RtlNic;
use sim_world::transfer::{LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{PcieSettings, Plan, TransportPlan};

use super::Row;
use crate::board::{host_ports, BoardOption};
use crate::pcie_options::PcieOptions;
use crate::simulation::SimulationOptions;
use crate::{progress, world};

#[derive(clap::Args)]
pub struct Arguments {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Runs an eighth of the packets and messages, for a quick look
    #[arg(long)]
    quick: bool,
    /// Packets of a goodput row, and messages of a message rate row: the longer, the less the start and the end of a run count
    #[arg(long, default_value_t = 8192, conflicts_with = "quick",
        value_parser = clap::value_parser!(u32).range(1024..=32768))]
    packets: u32,
    /// Measures only what has this text in its name: `--only WRITE_IMM`
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    pcie: PcieOptions,
    #[command(flatten)]
    board: BoardOption,
    #[command(flatten)]
    simulation: SimulationOptions,
}

/// What the benchmark measures, its size, and its seed.
#[derive(Clone, Copy)]
struct Effort<'a> {
    /// What names of measurements have to contain.
    only: &'a str,
    /// Packets of a goodput row, and messages of a message rate row.
    packets: u32,
    seed: u64,
    /// PCIe of both hosts.
    pcie: PcieSettings,
}

impl<'a> Effort<'a> {
    fn of(arguments: &'a Arguments) -> anyhow::Result<Self> {
        let packets = if arguments.quick {
            1024
        } else {
            arguments.packets
        };
        Ok(Self {
            only: arguments.only.as_deref().unwrap_or_default(),
            packets,
            seed: arguments.seed,
            pcie: arguments.pcie.settings()?,
        })
    }

    fn wants(&self, name: &str) -> bool {
        name.contains(self.only)
    }
}

/// Queue pairs of the rows.
const QPS: [u32; 2] = [1, 16];

/// Measures and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.simulation.choose()?;
    arguments.board.choose()?;
    let effort = Effort::of(arguments)?;
    progress::building("the card", RtlNic::prepare)?;
    let mut speed = speed::Speed::default();
    let mut rows = goodput::goodput(effort, &mut speed)?;
    rows.extend(goodput::message_rate(effort)?);
    rows.extend(latency::rows(effort)?);
    rows.extend(loss::rows(effort)?);
    rows.extend(speed.rows());
    anyhow::ensure!(
        !rows.is_empty(),
        "--only {}: nothing that is measured has this in its name; run without it to see the names",
        effort.only
    );
    super::print("nic", &rows, arguments.json)
}

/// The fabric without loss, `qps` queue pairs over all paths, and send queues with space for every message at once.
fn plan(effort: Effort, qps: u32, mtu_log2: u8) -> anyhow::Result<Plan> {
    let topology = host_ports().topology(LEAF_SPINE_FILE, LEAF_SPINE)?;
    let mut plan = Plan::new(topology, effort.seed)?;
    plan.transport = TransportPlan::Mrc(world::sprayed(sim_world::MAX_PATHS));
    plan.qps = qps;
    plan.mtu_log2 = mtu_log2;
    plan.sq_log2 = (effort.packets / qps).next_power_of_two().ilog2().max(13) as u8;
    plan.pcie = effort.pcie;
    Ok(plan)
}
