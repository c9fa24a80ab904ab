//! What can go wrong around a card.

use hdl_nic::UnknownShape;
use sim_fork_join::ThreadsError;
use sim_verilated::{BuildError, ModeVariableError, ModelError};
use sim_world::WorldError;
use thiserror::Error;

/// Why there is no card.
#[derive(Debug, Error)]
pub enum NicError {
    #[error("the NIC cannot be translated to Verilog: {0}")]
    Emit(#[from] hdl_verilog::EmitError),
    #[error("the Verilated NIC cannot be built: {0}")]
    Build(#[from] BuildError),
    #[error(transparent)]
    Mode(#[from] ModeVariableError),
    #[error("the cards do not fit the fabric: {0}")]
    Fabric(#[from] WorldError),
    #[error("the Verilated NIC is not the one this simulation knows: {0}")]
    Model(#[from] ModelError),
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    #[error(transparent)]
    Shape(#[from] UnknownShape),
}
