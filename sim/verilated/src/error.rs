//! Errors of building and using models.

use std::path::PathBuf;

use thiserror::Error;

/// The reason why [`ModelSpec::build`](crate::ModelSpec::build) returned no library.
#[derive(Debug, Error)]
pub enum BuildError {
    /// A program that the build needs was not found.
    #[error("`{tool}` was not found ({looked}): run `./stellar setup`, or set VERILATOR to a Verilator program")]
    MissingTool {
        /// The program, for example `verilator`.
        tool: String,
        /// Where it was searched for.
        looked: String,
    },
    /// Verilator, make or g++ ran and failed.
    #[error("{tool} failed on `{top}`; full log: {log}\n{excerpt}", log = log.display())]
    ToolFailed {
        /// The program that failed.
        tool: String,
        /// Top module being built.
        top: String,
        /// The first error lines of its output.
        excerpt: String,
        /// File with everything the tools printed.
        log: PathBuf,
    },
    /// The ports given do not match the Verilog.
    #[error(
        "port `{port}` of `{top}`: {problem}; make the port list match the module declaration"
    )]
    PortMismatch {
        /// Top module.
        top: String,
        /// Port named in the specification.
        port: String,
        /// The difference.
        problem: String,
    },
    /// The specification is invalid: a name is no plain Verilog identifier, a width is zero, or a port is repeated.
    #[error("`{name}` in the specification of a model: {problem}")]
    InvalidSpec {
        /// The offending name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The model cannot have mode [`SimMode::OnChange`](crate::SimMode::OnChange).
    #[error(
        "`{top}` cannot be simulated in mode on-change: {reason}. Use mode gated (--sim-mode gated, or STELLAR_SIM_MODE=gated): same results, \
         about 1.7 times slower"
    )]
    NotOnChange {
        /// Top module.
        top: String,
        /// The reason.
        reason: String,
    },
    /// A file of the model cache could not be used.
    #[error("model cache: cannot {action} {path}: {source}; set STELLAR_MODEL_CACHE to a writable directory", path = path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The reason that the operating system gives.
        source: std::io::Error,
    },
    /// The path of the cache contains white space, which make does not support.
    #[error("model cache {path} has white space in its path, which make does not allow: set STELLAR_MODEL_CACHE to another directory", path = path.display())]
    SpaceInCachePath {
        /// The directory.
        path: PathBuf,
    },
    /// The built library could not be loaded.
    #[error("cannot load the model library {path}: {source}; delete its directory to build it again", path = path.display())]
    Load {
        /// The shared library.
        path: PathBuf,
        /// The loader's reason.
        source: libloading::Error,
    },
}

/// The reason why a top module could not be described; see [`Sources`](crate::Sources).
#[derive(Debug, Error)]
pub enum SourceError {
    /// A source file does not exist.
    #[error("there is no Verilog source {path}", path = path.display())]
    Missing {
        /// The path as it was given.
        path: PathBuf,
    },
    /// No source file was given.
    #[error("no Verilog source was given for `{top}`")]
    Empty {
        /// Top module.
        top: String,
    },
    /// Verilator refused the sources.
    #[error("Verilator cannot read the sources of `{top}`:\n{excerpt}")]
    Refused {
        /// Top module.
        top: String,
        /// The first error lines of its output.
        excerpt: String,
    },
    /// Verilator's description of the module has an unexpected form.
    #[error("Verilator's description of `{top}`: {problem}; Verilator 5.006 to 5.032 write the form that is read here")]
    Description {
        /// Top module.
        top: String,
        /// What is missing or wrong.
        problem: String,
    },
    /// A tool is missing or a file could not be used.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// The reason why a call on a [`Model`](crate::Model) failed.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The model has no port of that name.
    #[error("model `{top}` has no port `{port}`; it has: {known}")]
    UnknownPort {
        /// Top module.
        top: String,
        /// The name that was requested.
        port: String,
        /// Names of all its ports.
        known: String,
    },
    /// Waves were requested of a model that was built without them.
    #[error("model `{top}` was built without waves: build it from `ModelSpec::with_trace()`")]
    TraceNotBuilt {
        /// Top module.
        top: String,
    },
    /// Coverage was requested of a model that was built without it.
    #[error(
        "model `{top}` was built without coverage: build it from `ModelSpec::with_coverage()`"
    )]
    CoverageNotBuilt {
        /// Top module.
        top: String,
    },
    /// The file for waves or coverage could not be written.
    #[error("cannot write {path}: {reason}", path = path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// The Verilog stopped itself: by `$finish`, `$stop`, `$fatal` or a failed assertion, or because its logic does not settle. The text is the reason
/// and the place.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Stopped(pub String);
