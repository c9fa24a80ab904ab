//! The card that `./stellar synth` measures as a whole, and the budget that it is held against.

use std::path::PathBuf;

use anyhow::Context;
use hdl_designs::Profile;
use stellar_fit::Budget;

/// Budgets of the boards.
const BUDGETS: &str = "fpga/budgets";
/// What was recorded of cards.
const RECORDS: &str = "docs/area";

/// A card on its board.
pub struct Card {
    /// Its design ([`hdl_designs::ALL`]).
    pub design: &'static str,
    /// The board's name.
    pub board: &'static str,
    /// That of the board. A card with more queue pairs than the board's own may fill the device: nobody is told that it places, so no share is its budget.
    pub budget: Budget,
    /// Whether it is the board's own.
    is_own: bool,
}

impl Card {
    /// The card that `--board` or `--config` names. `option` needs it.
    pub fn find(profile: Option<Profile>, option: &str) -> anyhow::Result<Self> {
        let profile = profile.with_context(|| format!("{option} needs --board or --config"))?;
        let board = profile
            .board
            .context("the file names no board: add a line such as board = \"v80\"")?;
        let name = board.facts().name;
        let mut budget = Budget::read(&PathBuf::from(format!("{BUDGETS}/{name}.toml")))?;
        let is_own = profile == Profile::of(board);
        if !is_own {
            budget.goal.percent = 100.0;
        }
        Ok(Self {
            design: profile.design(),
            board: name,
            budget,
            is_own,
        })
    }

    /// Where it is recorded: the board's own card by the name of the board, others by that of their design as well.
    pub fn record(&self) -> PathBuf {
        let (board, design) = (self.board, self.design);
        PathBuf::from(match self.is_own {
            true => format!("{RECORDS}/{board}.toml"),
            false => format!("{RECORDS}/{board}_{design}.toml"),
        })
    }

    /// What its shares are held against, in words.
    pub const fn limit(&self) -> &'static str {
        match self.is_own {
            true => "its budget",
            false => "the device",
        }
    }
}
