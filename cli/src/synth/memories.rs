//! `./stellar synth --board BOARD --memories`: whether the memories of a card fit its device.

use stellar_fit::{declared, total};

use super::card::Card;
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
    pub fn run(card: &Card) -> anyhow::Result<()> {
        let (modules, top) = check::modules(card.design)?;
        let rows = declared(&modules, &top)?;
        print::declared(&rows);
        let used = total(&rows);
        print::shares_of_memories(&card.budget, &used);
        let (design, board, limit) = (card.design, card.board, card.limit());
        let broken = card.budget.shares_above(&used, card.budget.goal.percent);
        anyhow::ensure!(
            broken.is_empty(),
            "the memories of {design} do not keep to {limit} on {board}:\n  {}",
            broken.join("\n  ")
        );
        println!("\nThe memories of {design} keep to {limit} on {board}.");
        Ok(())
    }
}
