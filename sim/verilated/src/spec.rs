//! The specification of a model.

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
    /// The ports of the top module that will be used. Inputs that are not listed stay zero.
    pub ports: Vec<Port>,
    /// The model can write waves. Such a model is slower even while it writes none.
    pub trace: bool,
    /// The model counts line coverage.
    pub coverage: bool,
    /// The model checks Verilog assertions.
    pub assertions: bool,
    /// Every signal can be found by its hierarchical name ([`Model::signals`](crate::Model::signals)). Verilator then keeps each signal, so the model
    /// is slower and takes longer to compile.
    pub signals: bool,
    /// The model is compiled for a run of seconds (see [`Self::for_short_run`]).
    pub short_run: bool,
    /// Parameters of the top module to override, each with a Verilog expression as its value.
    pub parameters: Vec<(String, String)>,
    /// Time unit and precision of all modules, such as `1ns/1ps`. It replaces what the modules themselves declare. The default is `1ps/1ps`. The
    /// times of [`Model::eval_to`](crate::Model::eval_to) are in units of the precision.
    pub timescale: Option<String>,
    /// Further arguments of Verilator, which are passed on unchanged.
    pub verilator_arguments: Vec<String>,
    /// How the Verilog becomes a model.
    pub mode: SimMode,
    /// The parts that have clocks of their own. Every mode except [`SimMode::Plain`] needs it.
    pub gating: Option<Gating>,
}

impl ModelSpec {
    /// Specifies a model of module `top` in `verilog` without waves, coverage or assertions. Such a model is the fastest.
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

    /// Selects a gated mode for this specification, whose Verilog must have clocks for its parts.
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

    /// Makes the model able to write FST waves of the outermost levels of its hierarchy: 1 is the top module, 2 also the modules that it instantiates, `None`
    /// all of them. Waves of all levels are up to half of the C++ of a large design.
    pub fn with_trace_of(mut self, levels: Option<u32>) -> Self {
        if let Some(levels) = levels {
            let depth = ["--trace-depth".to_owned(), levels.to_string()];
            self.verilator_arguments.extend(depth);
        }
        self.with_trace()
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

    /// Makes the model compile in a third of the time and run at about two thirds of the speed. This pays for tests that take seconds.
    pub fn for_short_run(mut self) -> Self {
        self.short_run = true;
        self
    }

    /// Builds the model, or takes it from the cache.
    ///
    /// The cache is `verilated/<top>-<hash>/` in the directory that `STELLAR_MODEL_CACHE` names, else in cargo's target directory. The hash covers
    /// the specification, the versions of Verilator and g++, and the source code of the build. When threads or processes request the same model at
    /// the same time, it is built once. An entry contains the Verilog source, the library and the log of the tools.
    ///
    /// If an overlay is set ([`overlay`](crate::overlay)), it may replace the Verilog. If coverage is wanted ([`coverage`](crate::coverage)), the
    /// model counts it.
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

    /// Builds exactly this Verilog as [`build`](Self::build) does, and ignores an overlay. A test of the translation to Verilog needs this.
    ///
    /// # Errors
    /// The same as [`build`](Self::build).
    pub fn build_exactly(&self) -> Result<Library, BuildError> {
        self.build_with(Toolchain::find()?, &cache::default_directory())
    }

    /// Builds the model as [`build`](Self::build) does, with the given tools and cache directory.
    ///
    /// # Errors
    /// The same as [`build`](Self::build).
    pub fn build_with(&self, tools: &Toolchain, cache: &Path) -> Result<Library, BuildError> {
        Library::load(self, &self.build_file(tools, cache)?)
    }

    /// Builds the model as [`build_with`](Self::build_with) does, but does not load it. Returns the path of its shared library, for
    /// [`Library::load`].
    ///
    /// # Errors
    /// The same as [`build`](Self::build).
    pub fn build_file(&self, tools: &Toolchain, cache: &Path) -> Result<PathBuf, BuildError> {
        self.check()?;
        self.check_mode(tools)?;
        Ok(library_directory(self, tools, cache)?.join(LIBRARY_FILE))
    }

    /// Refuses a mode that these tools or this specification do not support, before anything is built.
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

/// Whether the name consists of letters, digits and underscores and does not start with a digit. Such a name is valid in both Verilog and C++.
fn is_identifier(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_')
}
