//! The description of a built model. It is stored beside the model, so that a test starts without running Verilator.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sim_verilated::{Library, ModelSpec, TopModule};

use crate::error::LoadError;

/// A built model: where it is, and how it was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The shared library.
    pub library: PathBuf,
    /// Name of the top module.
    pub top: String,
    /// The model's ports and parameters.
    pub interface: TopModule,
    /// Built with waves.
    pub trace: bool,
    /// Built with line coverage.
    pub coverage: bool,
    /// Built with all signals accessible.
    pub signals: bool,
    /// Length of a time step as an exponent of ten, in seconds.
    pub precision: i8,
    /// Version of the Verilator that built it.
    pub verilator: String,
}

impl Manifest {
    /// Reads a file of [`write`](Self::write).
    ///
    /// # Errors
    /// [`LoadError::Manifest`].
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let failed = |reason: String| LoadError::Manifest {
            action: "read",
            path: path.to_path_buf(),
            reason,
        };
        let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
    }

    /// Writes the description to `path`.
    ///
    /// # Errors
    /// [`LoadError::Manifest`].
    pub fn write(&self, path: &Path) -> Result<(), LoadError> {
        let text = serde_json::to_string_pretty(self).expect("plain data");
        fs::write(path, text + "\n").map_err(|error| LoadError::Manifest {
            action: "write",
            path: path.to_path_buf(),
            reason: error.to_string(),
        })
    }

    /// Loads the library.
    ///
    /// # Errors
    /// [`LoadError::Model`].
    pub fn load(&self) -> Result<Library, LoadError> {
        // With all signals accessible, the ports come from Verilator's own tables.
        let ports = if self.signals {
            vec![]
        } else {
            self.interface.model_ports()
        };
        let mut spec = ModelSpec::new(&self.top, "", ports);
        spec.trace = self.trace;
        spec.coverage = self.coverage;
        spec.signals = self.signals;
        Ok(Library::load(&spec, &self.library)?)
    }
}
