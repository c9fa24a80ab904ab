//! `./stellar demo`: a write between two Verilated cards under the driver, or captures through the receive lane.

pub mod cards;
mod pcie;
mod rx;

use std::path::PathBuf;

use anyhow::Context;
use clap::Subcommand;
use sim_nic::{FabricPair, RtlNic};
use sim_world::check_bytes;

use crate::board::BoardOption;
use crate::progress;
use crate::simulation::SimulationOptions;
use crate::world;
use cards::{Exchange, TransferOptions};

/// Description of the run, printed above the table.
const WHAT: &str = "programs on the driver: one RDMA WRITE from GPU memory to GPU memory";

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    other: Option<Demo>,
    /// Bytes to write, as one message
    #[arg(long, default_value_t = 8 << 20)]
    bytes: u64,
    #[command(flatten)]
    transfer: TransferOptions,
    /// Directory for report and captures
    #[arg(long, value_name = "DIR", default_value = "out/demo")]
    out: PathBuf,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    board: BoardOption,
    #[command(flatten)]
    simulation: SimulationOptions,
}

#[derive(Subcommand)]
enum Demo {
    /// Replay captures through the receive lane and check every byte of memory
    Rx(rx::Arguments),
}

/// Runs the chosen demonstration.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.other {
        Some(Demo::Rx(rx)) => rx::run(rx),
        None => between_cards(arguments),
    }
}

/// Runs one WRITE from GPU memory to GPU memory over the leaf-spine fabric.
fn between_cards(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.simulation.choose()?;
    arguments.board.choose()?;
    let bytes = check_bytes(arguments.bytes)?;
    let (mut plan, mrc) = cards::plan(&arguments.transfer)?;
    plan.capture = world::captured(arguments.bytes);
    plan.check()?;
    std::fs::create_dir_all(&arguments.out)
        .with_context(|| format!("cannot create {}", arguments.out.display()))?;
    progress::building("the card", RtlNic::prepare)?;
    let pair = FabricPair::new(&plan)?;
    let report = Exchange::bring_up(&pair, &plan, &mrc, bytes)?.run()?;
    let (out, json) = (&arguments.out, arguments.json);
    pair.captures(|captures| world::finish(WHAT, &report, captures, out, json))?;
    if !json {
        pcie::show(&pair);
    }
    Ok(())
}
