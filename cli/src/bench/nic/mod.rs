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
use crate::sim_mode::SimModeOption;
use crate::{progress, world};

#[derive(clap::Args)]
pub struct Arguments {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Runs an eighth of the packets and messages, for a quick look
    #[arg(long)]
    quick: bool,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    pcie: PcieOptions,
    #[command(flatten)]
    board: BoardOption,
    #[command(flatten)]
    sim_mode: SimModeOption,
}

/// The size of the benchmark, and its seed.
#[derive(Clone, Copy)]
struct Effort {
    /// Packets of a goodput row.
    packets: u32,
    /// Messages of a message rate row.
    messages: u32,
    seed: u64,
    /// PCIe of both hosts.
    pcie: PcieSettings,
}

impl Effort {
    fn of(arguments: &Arguments) -> anyhow::Result<Self> {
        let share = if arguments.quick { 8 } else { 1 };
        Ok(Self {
            packets: 8192 / share,
            messages: 8192 / share,
            seed: arguments.seed,
            pcie: arguments.pcie.settings()?,
        })
    }
}

/// Queue pairs of the rows.
const QPS: [u32; 2] = [1, 16];

/// Measures and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.sim_mode.choose();
    arguments.board.choose()?;
    let effort = Effort::of(arguments)?;
    progress::building("the card", RtlNic::prepare)?;
    let mut speed = speed::Speed::default();
    let mut rows = goodput::goodput(effort, &mut speed)?;
    rows.extend(goodput::message_rate(effort)?);
    rows.extend(latency::rows(effort)?);
    rows.extend(loss::rows(effort)?);
    rows.extend(speed.rows());
    super::print("nic", &rows, arguments.json)
}

/// The fabric without loss, `qps` queue pairs over all paths, and send queues with space for every message at once.
fn plan(effort: Effort, qps: u32, mtu_log2: u8) -> anyhow::Result<Plan> {
    let topology = host_ports().topology(LEAF_SPINE_FILE, LEAF_SPINE)?;
    let mut plan = Plan::new(topology, effort.seed)?;
    plan.transport = TransportPlan::Mrc(world::sprayed(sim_world::MAX_PATHS));
    plan.qps = qps;
    plan.mtu_log2 = mtu_log2;
    plan.sq_log2 = 13;
    plan.pcie = effort.pcie;
    Ok(plan)
}
