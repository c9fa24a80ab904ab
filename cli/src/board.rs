//! The options `--board` and `--config` of every command that builds or simulates a card.

use std::path::PathBuf;

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hdl_designs::{Board, Profile, Shape};
use sim_world::HostPorts;

/// Which card.
#[derive(clap::Args)]
pub struct BoardOption {
    /// The board that the card is for [default: v80]
    #[arg(long, value_name = "BOARD", value_parser = parser())]
    board: Option<Board>,
    /// File (TOML) that describes the card, in place of --board (docs/profiles.md)
    #[arg(long, value_name = "FILE", conflicts_with = "board")]
    config: Option<PathBuf>,
}

fn parser() -> impl TypedValueParser<Value = Board> {
    let value = |board: Board| {
        let facts = board.facts();
        PossibleValue::new(facts.name).help(format!(
            "{} port(s) of {} Gb/s, {} bits",
            facts.ports, facts.port_gbps, facts.width
        ))
    };
    PossibleValuesParser::new(Board::ALL.map(value)).try_map(|name| name.parse())
}

impl BoardOption {
    /// The board that was named, if one was.
    pub const fn named(&self) -> Option<Board> {
        self.board
    }

    /// The card that was named, if one was.
    pub fn profile(&self) -> anyhow::Result<Option<Profile>> {
        let Some(path) = &self.config else {
            return Ok(self.board.map(Profile::of));
        };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let file = path.display().to_string();
        Ok(Some(Profile::from_toml(&file, &text)?))
    }

    /// If a card was named, makes its shape that of every card of this process. Returns the shape of the cards.
    pub fn choose(&self) -> anyhow::Result<Shape> {
        if let Some(profile) = self.profile()? {
            sim_nic::choose_shape(profile.shape);
        }
        Ok(sim_nic::chosen_shape())
    }
}

/// Ports of the hosts of this process's cards.
pub fn host_ports() -> HostPorts {
    sim_nic::host_ports(sim_nic::chosen_shape())
}
