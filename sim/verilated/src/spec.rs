//! What to build.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::build::{library_directory, Gating, LIBRARY_FILE};
use crate::cache;
use crate::coverage;
use crate::error::BuildError;
use crate::library::Library;
use crate::mode::SimMode;
use crate::overlay;
use crate::port::Port;
use crate::toolchain::Toolchain;

/// A Verilog design and how to build a model of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSpec {
    /// Name of the top module.
    pub top: String,
    /// The whole source text: the top module and every module under it.
    pub verilog: String,
    /// The ports of the top module that will be used. Inputs left out stay zero.
    pub ports: Vec<Port>,
    /// Whether waves can be written. A model that can is slower even while it does not.
    pub trace: bool,
    /// Whether line coverage is counted.
    pub coverage: bool,
    /// Whether Verilog assertions are checked.
    pub assertions: bool,
    /// Whether every signal can be found by its hierarchical name ([`Model::signals`](crate::Model::signals)). Verilator then keeps each of
    /// them, which makes the model slower and longer to compile.
    pub signals: bool,
    /// Whether the model is compiled for a run of seconds (see [`Self::for_short_run`]).
    pub short_run: bool,
    /// Parameters of the top module to override, each with a Verilog expression as its value.
    pub parameters: Vec<(String, String)>,
    /// Time unit and precision of all modules, such as `1ns/1ps`, whatever they say themselves; `1ps/1ps` without it. The times of
    /// [`Model::eval_to`](crate::Model::eval_to) are in units of the precision.
    pub timescale: Option<String>,
    /// Further arguments for Verilator, taken as they are.
    pub verilator_arguments: Vec<String>,
    /// How the Verilog becomes a model.
    pub mode: SimMode,
    /// Parts with clocks of their own, which get an edge only when it matters: for every mode but [`SimMode::Plain`].
    pub gating: Option<Gating>,
}

impl ModelSpec {
    /// A model of module `top` in `verilog`, without waves, coverage or assertions: the fastest kind.
    pub fn new(top: impl Into<String>, verilog: impl Into<String>, ports: Vec<Port>) -> Self {
        Self {
            top: top.into(),
            verilog: verilog.into(),
            ports,
            trace: false,
            coverage: false,
            assertions: false,
            signals: false,
            short_run: false,
            parameters: Vec::new(),
            timescale: None,
            verilator_arguments: Vec::new(),
            mode: SimMode::Plain,
            gating: None,
        }
    }

    /// Makes the model one whose Verilog has clocks for its parts, in a mode for such models.
    pub fn with_gating(mut self, mode: SimMode, gating: Gating) -> Self {
        self.mode = mode;
        self.gating = Some(gating);
        self
    }

    /// Makes the model able to write FST waves.
    pub fn with_trace(mut self) -> Self {
        self.trace = true;
        self
    }

    /// Makes the model count line coverage.
    pub fn with_coverage(mut self) -> Self {
        self.coverage = true;
        self
    }

    /// Makes the model check Verilog assertions; a failing one panics in [`Model::eval`](crate::Model::eval).
    pub fn with_assertions(mut self) -> Self {
        self.assertions = true;
        self
    }

    /// Makes every signal of the model accessible by its hierarchical name.
    pub fn with_signals(mut self) -> Self {
        self.signals = true;
        self
    }

    /// Compiles the model in a third of the time, to run at about two thirds of the speed: for tests that are over in seconds.
    pub fn for_short_run(mut self) -> Self {
        self.short_run = true;
        self
    }

    /// Builds the model, or takes it from the cache.
    ///
    /// The cache is `verilated/<top>-<hash>/` in the directory named by `STELLAR_MODEL_CACHE`, else in cargo's target directory. The hash
    /// covers the specification, the versions of Verilator and g++, and the code that builds. Threads and processes that ask for the same
    /// model at once build it once. It keeps the Verilog source, the library and the tools' log.
    ///
    /// Where an overlay is set ([`overlay`](crate::overlay)), other Verilog may take the place of this one. Where coverage is wanted
    /// ([`coverage`](crate::coverage)), the model counts it.
    ///
    /// # Errors
    /// See [`BuildError`]; each names the port, tool, file or log concerned.
    pub fn build(&self) -> Result<Library, BuildError> {
        let (tools, cache) = (Toolchain::find()?, cache::default_directory());
        let replaced = overlay::apply(self)?;
        let spec = replaced.as_ref().unwrap_or(self);
        coverage::apply(spec)
            .as_ref()
            .unwrap_or(spec)
            .build_with(tools, &cache)
    }

    /// [`build`](Self::build) of exactly this Verilog, whatever an overlay says: for a test of the translation to Verilog.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_exactly(&self) -> Result<Library, BuildError> {
        self.build_with(Toolchain::find()?, &cache::default_directory())
    }

    /// [`build`](Self::build) with the given tools, in the given cache directory.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with(&self, tools: &Toolchain, cache: &Path) -> Result<Library, BuildError> {
        Library::load(self, &self.build_file(tools, cache)?)
    }

    /// [`build_with`](Self::build_with) without loading the model: the path of its shared library, for [`Library::load`].
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_file(&self, tools: &Toolchain, cache: &Path) -> Result<PathBuf, BuildError> {
        self.check()?;
        self.check_mode(tools)?;
        Ok(library_directory(self, tools, cache)?.join(LIBRARY_FILE))
    }

    /// Refuses a mode that these tools, or this specification, cannot have, before anything is built.
    fn check_mode(&self, tools: &Toolchain) -> Result<(), BuildError> {
        if self.gating.is_some() != (self.mode != SimMode::Plain) {
            let problem = match self.mode {
                SimMode::Plain => "a plain model has no gating",
                SimMode::Gated | SimMode::OnChange => "its mode needs gating",
            };
            return Err(BuildError::InvalidSpec {
                name: self.top.clone(),
                problem: problem.to_owned(),
            });
        }
        let refused = |reason: String| {
            Err(BuildError::NotOnChange {
                top: self.top.clone(),
                reason,
            })
        };
        match self.mode {
            SimMode::OnChange if !tools.runs_on_change() => refused(format!(
                "this is {}, and the C++ of Verilator {} alone can be rewritten",
                tools.version(),
                sim_on_change::VERILATOR
            )),
            SimMode::OnChange if self.signals || self.trace || self.coverage => {
                refused("waves, coverage and signals by name need all code to run".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn check(&self) -> Result<(), BuildError> {
        let invalid = |name: &str, problem: &str| {
            Err(BuildError::InvalidSpec {
                name: name.to_owned(),
                problem: problem.to_owned(),
            })
        };
        let mut seen = HashSet::new();
        if !is_identifier(&self.top) {
            return invalid(&self.top, "a module name must be a plain identifier");
        }
        for port in &self.ports {
            if !is_identifier(&port.name) {
                return invalid(&port.name, "a port name must be a plain identifier");
            }
            if port.width == 0 {
                return invalid(&port.name, "a port must be at least one bit wide");
            }
            if !seen.insert(port.name.as_str()) {
                return invalid(&port.name, "the port is listed twice");
            }
        }
        if let Some(gating) = &self.gating {
            for name in gating.used_ports() {
                if !seen.contains(name) {
                    return invalid(name, "gating needs it among the ports");
                }
            }
        }
        Ok(())
    }
}

/// Letters, digits and underscores, not starting with a digit: what Verilog and C++ share.
fn is_identifier(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_')
}
