//! Why there is no project.

use std::path::PathBuf;

use hdl_designs::{Board, DesignError};
use thiserror::Error;

use crate::problem::Problem;

/// Why there is no project.
#[derive(Debug, Error)]
pub enum ProjectError {
    /// A design cannot be translated.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// The card's ports are not those that the top connects.
    #[error("the card {card} does not fit rtl/openstellar_100g.v: {what}")]
    Ports {
        /// The card's module.
        card: String,
        /// The difference.
        what: String,
    },
    /// Two designs have different modules of one name.
    #[error("module {0} is in two designs, with different text: give one of them another name")]
    Collision(String),
    /// The constraints are wrong.
    #[error("the constraints of {board}: {}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Constraints {
        /// The board.
        board: Board,
        /// What is wrong.
        problems: Vec<Problem>,
    },
    /// The directory has something else in it.
    #[error("{} is in the way: give a directory that is empty, or has a project of this command", .0.display())]
    InTheWay(PathBuf),
    /// A file cannot be read or written.
    #[error("cannot write {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}
