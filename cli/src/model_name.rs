//! Kinds of models by their names on the command line.

use clap::ValueEnum;
use sim_nic::ModelKind;

/// How the card's Verilog becomes a model.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ModelName {
    /// Code runs only if something that it reads has changed
    OnChange,
    /// Verilator's model of the emitted Verilog, which nothing rewrites: several times slower
    Plain,
}

impl From<ModelName> for ModelKind {
    fn from(name: ModelName) -> Self {
        match name {
            ModelName::OnChange => Self::OnChange,
            ModelName::Plain => Self::Plain,
        }
    }
}
