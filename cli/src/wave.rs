//! `./stellar wave`: a short run with waves. The last line of the output is the wave file, for the script to open.

use std::path::PathBuf;

use anyhow::Context;
use sim_cosim::{LaneModel, SessionConfig};

use crate::scenarios;
use crate::verilog::Width;

#[derive(clap::Args)]
pub struct Arguments {
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

/// Runs one message per queue pair and prints the path of the waves.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(folder) = arguments.out.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
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
    println!("{}", arguments.out.display());
    Ok(())
}
