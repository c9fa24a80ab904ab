//! `./stellar figures pcie`: figures 7, 8, 13 and 14 of STELLAR.
//!
//! Figures 7, 13 and 14 are measured on Verilated cards. The messages of figure 8 have up to 1 GB, which is too much for them, so it is measured on the model
//! of a NIC in `sim_pcie::ats`; in the long run the cards show their own eMTT with shorter messages.

mod cards;
mod guests;
mod machine;
mod root_complex;
mod routes;
mod transfer;
mod translation;
mod virtual_device;
mod writer;

use std::path::{Path, PathBuf};

use anyhow::Context;
use sim_nic::NicModel;

use super::rows::{self, Row};
use crate::progress;
use crate::simulation::SimulationOptions;

#[derive(clap::Args)]
pub struct Arguments {
    /// Measure this figure only; may be given several times
    #[arg(long, value_enum, value_name = "FIGURE")]
    only: Vec<Figure>,
    /// Measure few sizes, and short transfers: less than a minute, once the model of the card is built
    #[arg(long)]
    quick: bool,
    /// Seed of everything random: places of pages, choice of paths
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Directory of the plots
    #[arg(long, value_name = "DIR", default_value = "out/figures/pcie")]
    out: PathBuf,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    simulation: SimulationOptions,
}

/// A figure of STELLAR.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Figure {
    /// Routes by address type
    #[value(name = "7")]
    Routes,
    /// Goodput against message size, with ATS and with an eMTT
    #[value(name = "8")]
    Translation,
    /// Latency and goodput of a virtual device against the bare card
    #[value(name = "13")]
    VirtualDevice,
    /// Goodput into a GPU, directly and through the root complex
    #[value(name = "14")]
    RootComplex,
}

const ALL: [Figure; 4] = [
    Figure::Routes,
    Figure::Translation,
    Figure::VirtualDevice,
    Figure::RootComplex,
];

/// Extent of a measurement, and its seed.
#[derive(Clone, Copy)]
struct Effort {
    quick: bool,
    seed: u64,
}

/// Measures, prints and plots.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let out = &arguments.out;
    std::fs::create_dir_all(out)
        .with_context(|| format!("cannot make the directory {}", out.display()))?;
    arguments.simulation.choose()?;
    let wanted = |figure: &Figure| arguments.only.is_empty() || arguments.only.contains(figure);
    let figures: Vec<Figure> = ALL.into_iter().filter(wanted).collect();
    let effort = Effort {
        quick: arguments.quick,
        seed: arguments.seed,
    };
    // The model alone measures figure 8 in the quick form.
    if !effort.quick || figures.iter().any(|figure| *figure != Figure::Translation) {
        progress::building("the card", NicModel::shared)?;
    }
    let mut found = Found::default();
    for figure in figures {
        match figure {
            Figure::Routes => routes::measure(effort, &mut found)?,
            Figure::Translation => translation::measure(effort, out, &mut found)?,
            Figure::VirtualDevice => virtual_device::measure(effort, out, &mut found)?,
            Figure::RootComplex => root_complex::measure(effort, out, &mut found)?,
        }
    }
    if arguments.json {
        println!(
            "{}",
            serde_json::json!({ "figures": "pcie", "rows": found.rows })
        );
        return Ok(());
    }
    println!("parameters:");
    for line in &found.parameters {
        println!("  {line}");
    }
    rows::print(&found.rows);
    for plot in &found.plots {
        println!("plot: {}", plot.display());
    }
    Ok(())
}

/// Results of the figures.
#[derive(Default)]
struct Found {
    rows: Vec<Row>,
    /// Statements about what was measured.
    parameters: Vec<String>,
    plots: Vec<PathBuf>,
}

impl Found {
    /// The file of a plot.
    fn plot(&mut self, out: &Path, name: &str) -> PathBuf {
        let file = out.join(name);
        self.plots.push(file.clone());
        file
    }
}
