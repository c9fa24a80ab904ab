//! `./stellar wave`: a short run with waves. The last line of the output is the wave file, for the script to open.

mod nic;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use sim_cosim::{LaneModel, SessionConfig};

use crate::scenarios;
use crate::verilog::Width;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    other: Option<Wave>,
    /// Wave file to write (FST)
    #[arg(long, value_name = "FILE", default_value = "out/wave/rx_lane.fst")]
    out: PathBuf,
    /// Lane width in bits
    #[arg(long, default_value = "1024")]
    width: Width,
    /// Seed of the generated traffic
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Subcommand)]
enum Wave {
    /// Waves of a card while the driver writes from GPU to GPU, as in `demo`
    Nic(nic::Arguments),
}

/// Writes the waves and prints their path.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let file = match &arguments.other {
        Some(Wave::Nic(card)) => nic::run(card)?,
        None => receive_lane(arguments)?,
    };
    println!("{}", file.display());
    Ok(())
}

/// Runs one message per queue pair.
fn receive_lane(arguments: &Arguments) -> anyhow::Result<&Path> {
    make_folder(&arguments.out)?;
    let width = arguments.width.lane();
    let library = LaneModel::build(width, true)?;
    let mut scenario =
        scenarios::multipath(&library, &SessionConfig::new(width), 1, arguments.seed)?;
    scenario
        .session
        .world
        .lane
        .model_mut()
        .open_trace(&arguments.out)?;
    scenario.run()?;
    scenario.session.world.lane.model_mut().close_trace();
    Ok(&arguments.out)
}

/// Makes the folder that `file` goes to.
fn make_folder(file: &Path) -> anyhow::Result<()> {
    let Some(folder) = file.parent() else {
        return Ok(());
    };
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}
