//! `./stellar synth --board BOARD --memories`: whether the memories of a card fit its device.

use std::path::PathBuf;

use anyhow::Context;
use hdl_designs::Profile;
use stellar_fit::{declared, total, Budget};

use super::{check, print};

#[derive(clap::Args)]
pub struct MemoriesOption {
    /// Count the block RAMs and UltraRAMs that the card of --board or --config declares, without a synthesis
    #[arg(long, conflicts_with_all = ["check", "design", "block", "markdown"])]
    memories: bool,
}

impl MemoriesOption {
    pub const fn is_wanted(&self) -> bool {
        self.memories
    }

    /// Prints the memories, and fails if they are more than the device has. A board's own card has to keep to the board's budget.
    pub fn run(&self, profile: Option<Profile>) -> anyhow::Result<()> {
        let profile = profile.context("--memories needs --board or --config")?;
        let board = profile
            .board
            .context("the file names no board: add a line such as board = \"v80\"")?;
        let name = board.facts().name;
        let budget = Budget::read(&PathBuf::from(format!("{}/{name}.toml", check::BUDGETS)))?;
        let design = profile.design();
        let (modules, top) = check::modules(design)?;
        let rows = declared(&modules, &top)?;
        print::declared(&rows);
        let used = total(&rows);
        print::shares_of_memories(&budget, &used);
        let (percent, limit) = match profile == Profile::of(board) {
            true => (budget.goal.percent, "its budget"),
            false => (100.0, "the device"),
        };
        let broken = budget.shares_above(&used, percent);
        anyhow::ensure!(
            broken.is_empty(),
            "the memories of {design} do not keep to {limit} on {name}:\n  {}",
            broken.join("\n  ")
        );
        println!("\nThe memories of {design} keep to {limit} on {name}.");
        Ok(())
    }
}
