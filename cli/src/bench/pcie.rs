//! `./stellar bench pcie`: payload through the streams between a lane and AMD's PCIe block.

use super::Row;

#[derive(clap::Args)]
pub struct Arguments {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Measures and prints. The limit is what a link of Gen5 x8 carries in such TLPs.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let rates = sim_nic::stream_rates()?;
    let row = |rate: &sim_nic::StreamRate| {
        Row::new(rate.what.as_str(), rate.stream, "Gb/s", Some(rate.link))
    };
    let rows: Vec<Row> = rates.iter().map(row).collect();
    super::print("pcie", &rows, arguments.json)
}
