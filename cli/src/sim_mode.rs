//! The option `--sim-mode` of every command that simulates cards.

use anyhow::ensure;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sim_verilated::SimMode;

/// How the card's Verilog becomes a model.
#[derive(clap::Args)]
pub struct SimModeOption {
    /// How the Verilog of a simulated card becomes a model; every mode gives the same results [default: STELLAR_SIM_MODE, else on-change, or gated
    /// with a Verilator that on-change does not support]
    #[arg(long, value_name = "MODE", value_parser = parser())]
    sim_mode: Option<SimMode>,
}

fn parser() -> impl TypedValueParser<Value = SimMode> {
    let value = |mode: SimMode| {
        PossibleValue::new(mode.name()).help(match mode {
            SimMode::Plain => {
                "Verilator translates the emitted Verilog, and nothing rewrites it: slowest"
            }
            SimMode::Gated => "A block gets a clock edge only when that changes something in it",
            SimMode::OnChange => {
                "Code runs only when something that it reads has changed: fastest; needs Verilator 5.006"
            }
        })
    };
    PossibleValuesParser::new(SimMode::ALL.map(value)).try_map(|name| name.parse())
}

impl SimModeOption {
    /// If a mode was given, makes it the mode of this process.
    pub fn choose(&self) {
        if let Some(mode) = self.sim_mode {
            mode.choose();
        }
    }

    /// Refuses the option if no card is simulated in this process. `needs` names the options that would simulate one.
    pub fn check_unused(&self, needs: &str) -> anyhow::Result<()> {
        ensure!(
            self.sim_mode.is_none(),
            "--sim-mode without a card that this process simulates: use it with {needs}"
        );
        Ok(())
    }
}
