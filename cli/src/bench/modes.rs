//! `./stellar bench modes`: one recorded run of two cards, played into a model in each mode. Times them, and compares every output of every cycle.

use std::time::Duration;

use anyhow::Context;
use sim_nic::{FabricPair, NicModel};
use sim_verilated::recording::{self, Recording, TIMED_CYCLES};
use sim_verilated::{Library, SimMode, Toolchain};
use sim_world::check_bytes;

use super::Row;
use crate::demo::cards::{self, Exchange, TransferOptions};
use crate::progress;
use crate::simulation::SimulationOptions;

#[derive(clap::Args)]
pub struct Arguments {
    /// Bytes of the recorded transfer
    #[arg(long, default_value_t = 8 << 20)]
    bytes: u64,
    #[command(flatten)]
    transfer: TransferOptions,
    /// How often the recording is played for the times; of each 1,000 cycles the least time counts
    #[arg(long, value_name = "TIMES", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Compile the models that no other command has for short runs: sooner there, and slower than they could be
    #[arg(long)]
    quick: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    recorded: SimulationOptions,
}

/// The cards of the recording.
const CARDS: [&str; 2] = ["sender", "receiver"];

/// Records a run, compares the modes on it, measures their speed, and prints the result.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.recorded.choose()?;
    let Run {
        recordings,
        posted,
        retransmissions,
    } = record(arguments)?;
    let modes = modes(arguments.quick)?;
    let mut libraries = vec![];
    for &mode in &modes {
        let what = format!("the card in mode {mode}");
        libraries.push(progress::building(&what, || build(mode, arguments.quick))?);
    }
    let sent_again = retransmissions as f64;
    let mut rows = vec![Row::new(
        "sender: retransmissions",
        sent_again,
        "packets",
        None,
    )];
    for (card, recording) in CARDS.iter().zip(&recordings) {
        let what = format!("{} cycles of the {card} in every mode", recording.cycles());
        progress::measuring(&what, || compare(recording, &libraries))
            .with_context(|| format!("{card}; models in the order of {modes:?}"))?;
        let name = format!("{card}: cycles in which all outputs agree");
        rows.push(Row::new(name, recording.cycles() as f64, "cycles", None));
    }
    for (mode, library) in modes.iter().zip(&libraries) {
        for (card, recording) in CARDS.iter().zip(&recordings) {
            let what = format!("the {card} in mode {mode}");
            let time =
                progress::measuring(&what, || time(recording, posted, library, arguments.repeat))?;
            rows.push(Row::new(format!("{card}, {mode}"), time, "us/cycle", None));
        }
    }
    super::print("modes", &rows, arguments.json)
}

/// The modes that these tools can build; with `quick`, mode plain and the one that commands use by default.
fn modes(quick: bool) -> anyhow::Result<Vec<SimMode>> {
    let on_change = Toolchain::find()?.runs_on_change();
    let wanted = |mode: &SimMode| match mode {
        SimMode::Plain => true,
        SimMode::Gated => !(quick && on_change),
        SimMode::OnChange => on_change,
    };
    Ok(SimMode::ALL.into_iter().filter(wanted).collect())
}

/// Compares speeds of models that are all built for speed. With `quick`, speed does not count: what other commands have built is used.
fn build(mode: SimMode, quick: bool) -> anyhow::Result<Library> {
    let mut spec = NicModel::spec(mode)?;
    spec.trace &= quick;
    spec.short_run = quick && mode != SimMode::OnChange;
    Ok(spec.build()?)
}

/// A transfer as in `demo`.
struct Run {
    /// The pins of each card from power-up on.
    recordings: Vec<Recording>,
    /// Cycle in which the work request is posted: bring-up is before it.
    posted: u64,
    retransmissions: u64,
}

fn record(arguments: &Arguments) -> anyhow::Result<Run> {
    let bytes = check_bytes(arguments.bytes)?;
    let (plan, mrc) = cards::plan(&arguments.transfer)?;
    progress::building("the card", NicModel::shared)?;
    let pair = FabricPair::new(&plan)?;
    pair.start_recording();
    let exchange = Exchange::bring_up(&pair, &plan, &mrc, bytes)?;
    let posted = pair.clocks();
    let report = exchange.run()?;
    Ok(Run {
        recordings: pair.take_recordings(),
        posted,
        retransmissions: report.requester.retransmissions,
    })
}

/// Plays the recording into all models side by side.
fn compare(recording: &Recording, libraries: &[Library]) -> anyhow::Result<()> {
    let power_up = |library| NicModel::new(library);
    let mut cards: Vec<_> = libraries.iter().map(power_up).collect::<Result<_, _>>()?;
    let mut models: Vec<_> = cards.iter_mut().map(NicModel::model_mut).collect();
    Ok(recording::compare(recording, &mut models)?)
}

/// Microseconds of a cycle from `posted` on: of each [`TIMED_CYCLES`] cycles the least time of all repetitions.
fn time(recording: &Recording, posted: u64, library: &Library, repeat: u32) -> anyhow::Result<f64> {
    let mut least: Vec<Duration> = vec![];
    for _ in 0..repeat {
        let mut card = NicModel::new(library)?;
        let times = recording::time(recording, card.model_mut(), posted)?;
        least.resize(times.len(), Duration::MAX);
        for (least, time) in least.iter_mut().zip(times) {
            *least = time.min(*least);
        }
    }
    let cycles = least.len() as u64 * TIMED_CYCLES;
    Ok(least.iter().sum::<Duration>().as_secs_f64() * 1e6 / cycles as f64)
}
