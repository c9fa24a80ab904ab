//! `./stellar fuzz`: mutated frames through the lane. The lane must not hang, and must place only bytes that the reference places.

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use sim_cosim::fuzz::{Fuzzer, SESSION_FRAMES};
use sim_cosim::LaneModel;

use crate::verilog::Width;

#[derive(clap::Args)]
pub struct Arguments {
    /// Mutated frames to feed
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    frames: u64,
    /// Seed: the same seed gives the same frames
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Lane width in bits
    #[arg(long, default_value = "1024")]
    width: Width,
}

/// Runs sessions until enough frames were sent.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let width = arguments.width.lane();
    let library = LaneModel::build(width, false)?;
    let bar = ProgressBar::new(arguments.frames).with_style(ProgressStyle::with_template(
        "{bar:40} {pos}/{len} frames, {eta} left",
    )?);
    let mut fuzzer = Fuzzer::new(library, width, arguments.seed);
    while fuzzer.frames() < arguments.frames {
        let count = SESSION_FRAMES.min((arguments.frames - fuzzer.frames()) as usize);
        let session = fuzzer.sessions();
        fuzzer.session(count).with_context(|| {
            format!(
                "session {session} of seed {} (about {count} frames)",
                arguments.seed
            )
        })?;
        bar.set_position(fuzzer.frames());
    }
    bar.finish_and_clear();
    println!(
        "{} frames, {} accepted, {} bytes placed, {} clocks: the lane agreed with the reference on every one",
        fuzzer.frames(),
        fuzzer.accepted(),
        fuzzer.bytes_placed(),
        fuzzer.clocks()
    );
    Ok(())
}
