//! Errors of the kernel.

use std::path::PathBuf;

use sim_verilated::BuildError;
use thiserror::Error;

/// Why a model could not be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The manifest could not be read or written.
    #[error("cannot {action} the model description {path}: {reason}; build the model first")]
    Manifest {
        /// The action that failed.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// An error of the model itself.
    #[error(transparent)]
    Model(#[from] BuildError),
}

/// Why a write was refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum WriteError {
    /// The design drives the port.
    #[error("`{path}` is an output of the design and cannot be written; use Force to hold it at a value")]
    Output {
        /// Hierarchical name.
        path: String,
    },
    /// A parameter.
    #[error("`{path}` is a parameter and cannot be written")]
    Constant {
        /// Hierarchical name.
        path: String,
    },
    /// A module, array or other object without a value of its own.
    #[error("`{path}` has no value of its own")]
    NoValue {
        /// Hierarchical name.
        path: String,
    },
}
