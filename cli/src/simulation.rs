//! The options `--sim-mode` and `--sim-threads` of every command that simulates cards.

use std::num::NonZeroUsize;

use anyhow::ensure;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sim_fork_join::{choose_threads, threads};
use sim_verilated::SimMode;

/// How cards are simulated. Results do not depend on it.
#[derive(clap::Args)]
pub struct SimulationOptions {
    /// How the Verilog of a simulated card becomes a model; every mode gives the same results [default: STELLAR_SIM_MODE, else on-change, or gated
    /// with a Verilator that on-change does not support]
    #[arg(long, value_name = "MODE", value_parser = parser())]
    sim_mode: Option<SimMode>,
    /// Threads on which the simulated cards of one world run; every number gives the same results [default: STELLAR_SIM_THREADS, else one for each
    /// processor]
    #[arg(long, value_name = "THREADS")]
    sim_threads: Option<NonZeroUsize>,
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

impl SimulationOptions {
    /// Makes what was given the choice of this process, before anything is built.
    pub fn choose(&self) -> anyhow::Result<()> {
        if let Some(mode) = self.sim_mode {
            mode.choose();
        }
        if let Some(number) = self.sim_threads {
            choose_threads(number);
        }
        threads()?;
        Ok(())
    }

    /// Refuses the options if no card is simulated in this process. `needs` names the options that would simulate one.
    pub fn check_unused(&self, needs: &str) -> anyhow::Result<()> {
        let given = [
            ("--sim-mode", self.sim_mode.is_some()),
            ("--sim-threads", self.sim_threads.is_some()),
        ];
        for (option, is_given) in given {
            ensure!(
                !is_given,
                "{option} without a card that this process simulates: use it with {needs}"
            );
        }
        Ok(())
    }
}
