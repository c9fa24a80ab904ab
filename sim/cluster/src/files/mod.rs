//! Readers of the files of other simulators.

mod connection_matrix;
mod conweave;
mod fat_tree;
mod goal;
mod lines;

pub use connection_matrix::read_connection_matrix;
pub use conweave::read_conweave_flows;
pub use fat_tree::{read_fat_tree, FatTreeSettings};
pub use goal::read_goal;
pub use lines::{FileError, LineProblem};

use std::path::Path;

/// The text of a file.
///
/// # Errors
/// [`FileError`] if it cannot be read.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    std::fs::read_to_string(path).map_err(|error| FileError {
        file: path.display().to_string(),
        line: None,
        problem: LineProblem::Unreadable(error.to_string()),
    })
}
