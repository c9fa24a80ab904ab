//! `./stellar figures`: measurements that the papers' figures show, each beside the papers' numbers, and plots.

mod pcie;
mod plot;
mod rows;

use clap::Subcommand;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    figures: Figures,
}

#[derive(Subcommand)]
enum Figures {
    /// PCIe of STELLAR: routes by address type (figure 7), ATS against the eMTT (8), virtual devices (13), GPU traffic through the root complex (14)
    Pcie(pcie::Arguments),
}

/// Runs the chosen figures.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.figures {
        Figures::Pcie(a) => pcie::run(a),
    }
}
