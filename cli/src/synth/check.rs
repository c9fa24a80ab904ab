//! `./stellar synth --check`: whether the whole card of --board or --config fits its device and its clock, from Yosys' netlists of all modules, joined.

use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use stellar_fit::{Design, Division, Event, Limits, Module, Options, Record, Verdict};

use super::card::Card;
use super::{page, print};

/// Netlists of earlier runs.
const CACHE: &str = ".stellar/synth";

#[derive(clap::Args)]
pub struct CheckOptions {
    /// Hold the whole card of --board or --config against the budgets of its board (fpga/budgets): shares of the device, paths over the borders of modules, fan-out, memories
    #[arg(long, conflicts_with_all = ["design", "block", "markdown"])]
    check: bool,
    /// Accept what the card missed of its goal when it was recorded (docs/area), and no more
    #[arg(long, requires = "check")]
    ratchet: bool,
    /// Write what was measured into docs/area/BOARD.toml (with --config BOARD_DESIGN.toml), as what later cards are compared with
    #[arg(long, requires = "check", conflicts_with = "ratchet")]
    record: bool,
    /// Runs of Yosys at a time
    #[arg(long, value_name = "N", default_value = "2", requires = "check", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// How often units on paths that are too long are mapped again
    #[arg(long, value_name = "N", default_value = "2", requires = "check")]
    rounds: u32,
    /// Paths, registers and nets to print
    #[arg(long, value_name = "N", default_value = "20", requires = "check")]
    worst: usize,
    /// Yosys
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "yosys",
        requires = "check"
    )]
    yosys: String,
}

impl CheckOptions {
    pub const fn is_wanted(&self) -> bool {
        self.check
    }

    /// Measures a card and holds it against its budget.
    pub fn run(&self, card: &Card) -> anyhow::Result<()> {
        let budget = &card.budget;
        let recorded = card.record();
        let before = recorded
            .exists()
            .then(|| Record::read(&recorded))
            .transpose()?;
        anyhow::ensure!(
            before.is_some() || !self.ratchet,
            "{} does not exist: --record writes it",
            recorded.display()
        );
        let options = Options {
            yosys: &self.yosys,
            cache: Path::new(CACHE),
            jobs: usize::from(self.jobs),
            division: Division::default(),
            levels: budget.goal.levels,
            loads: budget.goal.loads,
            rounds: self.rounds,
        };
        options.check()?;
        let (modules, top) = modules(card.design)?;
        let design = map(&modules, &top, &options)?;
        let report = design.measure(Limits {
            levels: budget.goal.levels,
            loads: budget.goal.loads,
            paths: self.worst,
            depth: 2,
        })?;
        print::shares(budget, &report);
        print::blocks(&report);
        print::paths(budget, &report, self.worst);
        print::nets(budget, &report, self.worst);
        print::memories(&report);
        if let Some(before) = &before {
            print::growth(before, &report);
        }
        if self.record {
            Record::of(budget, &report, &page::source_date()).write(&recorded)?;
            println!("\nRecorded in {}.", recorded.display());
        }
        match &before {
            Some(before) if self.ratchet => {
                let verdict = budget.check_record(&report, before);
                for line in &verdict.better {
                    println!("better than recorded, so record it: {line}");
                }
                conclude(&verdict, "its record")
            }
            _ => conclude(&budget.check(&report), "its goal"),
        }
    }
}

/// The modules of a design for a bitstream, and the name of its top.
pub fn modules(design: &str) -> anyhow::Result<(Vec<Module>, String)> {
    crate::progress::say(&format!("elaborating {design}"));
    let verilog = hdl_designs::for_bitstream(design)?;
    let module = |m: &hdl_verilog::Module| Module {
        name: m.name.clone(),
        text: m.text.clone(),
    };
    Ok((verilog.modules.iter().map(module).collect(), verilog.top))
}

/// Maps with a bar, or on something else than a terminal with a line for each module.
fn map(modules: &[Module], top: &str, options: &Options<'_>) -> anyhow::Result<Design> {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} modules, {elapsed}: {msg}")?;
    let bar = ProgressBar::new(1).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    let design = Design::map(modules, top, options, &|event| match event {
        Event::Begins(module) if bar.is_hidden() => {
            crate::progress::say(&format!("yosys: {module}"));
        }
        Event::Begins(module) => bar.set_message(module.to_owned()),
        Event::Done(done, known) => {
            bar.set_length(known as u64);
            bar.set_position(done as u64);
        }
    })?;
    bar.finish_and_clear();
    crate::progress::say(&format!("{} modules were mapped anew", design.runs));
    Ok(design)
}

fn conclude(verdict: &Verdict, against: &str) -> anyhow::Result<()> {
    if verdict.broken.is_empty() {
        println!("\nThe card keeps to {against}.");
        return Ok(());
    }
    anyhow::bail!(
        "the card misses {against}:\n  {}",
        verdict.broken.join("\n  ")
    )
}
