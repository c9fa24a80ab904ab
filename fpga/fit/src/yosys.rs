//! Yosys: the one place that starts it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::FitError;

/// Yosys' passes for a module, whose name follows: UltraScale+, with the modules below it flattened.
pub(crate) const SYNTHESIS: &str =
    "synth_xilinx -family xcup -uram -noiopad -noclkbuf -flatten -top";

/// What is written of a mapped module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Yosys' JSON: cells and their connections.
    Json,
    /// Verilog of cells, for a simulator of two states: what is undefined is zero, contents of memories included.
    Verilog,
}

impl Form {
    /// The passes that write it into the file whose name follows.
    const fn passes(self) -> &'static str {
        match self {
            Self::Json => "write_json",
            Self::Verilog => "setundef -zero -params; write_verilog -noattr",
        }
    }
}

/// A Yosys.
#[derive(Clone, Debug)]
pub struct Yosys {
    program: PathBuf,
}

impl Yosys {
    /// The Yosys that `program` names, by path or on `PATH`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
        }
    }

    /// What it says of its version.
    pub(crate) fn version(&self) -> Result<String, FitError> {
        let output = self.run(&["-V"])?;
        Ok(String::from_utf8_lossy(&output.stdout).into())
    }

    /// Maps the module `top` of `verilog` to cells of UltraScale+, with `SYNTHESIS` defined and everything below it flattened.
    ///
    /// # Errors
    /// [`FitError::Missing`] if it is not there, [`FitError::Yosys`] if it refuses the Verilog, [`FitError::File`] for its files.
    pub fn synthesise(&self, verilog: &str, top: &str, form: Form) -> Result<String, FitError> {
        let folder = tempfile::tempdir().map_err(FitError::file(&std::env::temp_dir()))?;
        let file = |name: &str| folder.path().join(name);
        let (source, result) = (file("module.v"), file("netlist"));
        fs::write(&source, verilog).map_err(FitError::file(&source))?;
        let script = format!(
            "read_verilog -DSYNTHESIS {}; {SYNTHESIS} {top}; {} {}",
            source.display(),
            form.passes(),
            result.display()
        );
        let done = self.run(&["-q", "-p", &script])?;
        if !done.status.success() {
            return Err(FitError::Yosys {
                module: top.into(),
                reason: last_lines(&String::from_utf8_lossy(&done.stderr)),
            });
        }
        fs::read_to_string(&result).map_err(FitError::file(&result))
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, FitError> {
        let output = Command::new(&self.program).args(arguments).output();
        output.map_err(|error| FitError::Missing {
            program: name(&self.program),
            error,
        })
    }
}

fn name(program: &Path) -> String {
    program.display().to_string()
}

/// The end of what Yosys says has the error.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}
