//! Why a design could not be measured.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a design could not be measured.
#[derive(Debug, Error)]
pub enum FitError {
    /// A file could not be read or written.
    #[error("cannot use {}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: std::io::Error,
    },
    /// Yosys is not there.
    #[error("cannot run {program}: {error}; `./stellar setup` installs it")]
    Missing {
        /// The program that was wanted.
        program: String,
        /// The system's reason.
        error: std::io::Error,
    },
    /// Yosys refuses a module.
    #[error("yosys fails on {module}: {reason}")]
    Yosys {
        /// The module.
        module: String,
        /// The last lines of what it printed.
        reason: String,
    },
    /// A netlist is not what was expected.
    #[error("the netlist of {module} cannot be read: {reason}")]
    Netlist {
        /// The module.
        module: String,
        /// What is wrong.
        reason: String,
    },
    /// A module that nobody declared.
    #[error("there is no module {0}")]
    NoModule(String),
    /// Cells form a loop without a register.
    #[error("a combinational loop through {}", .0.join(" -> "))]
    Loop(Vec<String>),
    /// A file of budgets is not one.
    #[error("{}: {reason}", .path.display())]
    Budget {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl FitError {
    /// The conversion of an error of the file system on `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |error| Self::File {
            path: path.to_owned(),
            error,
        }
    }
}
