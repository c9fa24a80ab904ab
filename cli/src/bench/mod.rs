//! `./stellar bench`: measurements, as a table or as JSON.

mod cluster;
mod modes;
mod nic;
mod pcie;
mod registration;
mod rx;
mod tenants;

use clap::Subcommand;
use serde::Serialize;
use tabled::settings::{object::Columns, Alignment, Style};
use tabled::{Table, Tabled};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// The receive lane: goodput, message rate, latency, speed of the co-simulation
    Rx(rx::Arguments),
    /// Two cards on a fabric: goodput, message rate, latency and its parts, loss, speed of the co-simulation
    Nic(nic::Arguments),
    /// The streams between a lane and its PCIe block: payload against what the link carries
    Pcie(pcie::Arguments),
    /// Registration of memory: translations, register accesses, simulated time
    Registration(registration::Arguments),
    /// One tenant of a card beside another that floods it: goodput and latency, alone and beside each flood
    Tenants(tenants::Arguments),
    /// Many endpoints on a fabric: data packets per second of CPU time, memory of a queue pair
    Cluster(cluster::Arguments),
    /// The simulation modes: a recorded run is played into a model of each, every output compared, and the time taken
    Modes(modes::Arguments),
}

/// One measured number. `ratio` is value over limit, or `null` if there is no limit.
#[derive(Serialize, Clone, Debug)]
pub struct Row {
    pub name: String,
    pub value: f64,
    pub unit: &'static str,
    pub limit: Option<f64>,
    pub ratio: Option<f64>,
}

impl Row {
    /// A row with its ratio computed.
    pub fn new(
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        limit: Option<f64>,
    ) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            limit,
            ratio: limit.map(|l| value / l),
        }
    }
}

#[derive(Serialize)]
struct Report<'a> {
    bench: &'a str,
    rows: &'a [Row],
}

#[derive(Tabled)]
struct Shown {
    name: String,
    value: String,
    unit: &'static str,
    limit: String,
    ratio: String,
}

/// Runs the chosen benchmark.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.bench {
        Bench::Rx(a) => rx::run(a),
        Bench::Nic(a) => nic::run(a),
        Bench::Pcie(a) => pcie::run(a),
        Bench::Registration(a) => registration::run(a),
        Bench::Tenants(a) => tenants::run(a),
        Bench::Cluster(a) => cluster::run(a),
        Bench::Modes(a) => modes::run(a),
    }
}

/// Prints rows as a table, or as one JSON object.
fn print(bench: &str, rows: &[Row], json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string(&Report { bench, rows })?);
        return Ok(());
    }
    let optional = |v: Option<f64>| v.map_or("-".to_string(), |v| format!("{v:.3}"));
    let shown = rows.iter().map(|r| Shown {
        name: r.name.clone(),
        value: format!("{:.3}", r.value),
        unit: r.unit,
        limit: optional(r.limit),
        ratio: optional(r.ratio),
    });
    let mut table = Table::new(shown);
    table
        .with(Style::sharp())
        .modify(Columns::new(1..2), Alignment::right());
    println!("{table}");
    Ok(())
}
