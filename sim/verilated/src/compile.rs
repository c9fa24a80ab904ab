//! Runs Verilator and g++.

use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::activity;
use crate::cache::{digest, entry, io};
use crate::error::BuildError;
use crate::gating::Gating;
use crate::port_declarations::member_names;
use crate::spec::ModelSpec;
use crate::toolchain::Toolchain;

/// The shared library inside a cache entry.
pub(crate) const LIBRARY_FILE: &str = "model.so";

const SHIM: &str = include_str!("shim.cpp");
/// Put before the shim of a model with gating.
const GATING: &str = "#define STELLAR_GATED 1\n";
/// The shim's parts for models with gating.
const PROFILE: &str = include_str!("profile.cpp");
const GATES: &str = include_str!("gating.h");
/// Appended to the shim of a model whose signals are accessible by name.
const SIGNALS: &str = include_str!("signals.cpp");
const MAKEFILE: &str = include_str!("model.mk");
const LOG_FILE: &str = "build.log";

/// Verilator options of every model.
///
/// Warnings do not stop the build: linting is a separate check on the generated Verilog. Registers start at zero. Waves include the
/// 1024-bit data paths (Verilator's default stops at 256 bits).
pub(crate) const VERILATE: &[&str] = &[
    "--cc",
    "--prefix",
    "Vmodel",
    "--Mdir",
    ".",
    "-O3",
    "--no-timing",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
    "--x-assign",
    "fast",
    "--x-initial",
    "0",
    "--output-split",
    "20000",
    "--output-split-cfuncs",
    "5000",
    "--output-split-ctrace",
    "5000",
];

/// Time is counted in picoseconds unless the specification says otherwise.
const PICOSECONDS: &str = "1ps/1ps";

/// make variables of every model. Symbols are hidden and never unique across libraries, so that models built by different Verilators live
/// in one process; VL_USER_* leaves those handlers to the shim. CFG_CXXFLAGS_PCH_I repairs the PyPI wheel, which was configured without it.
const MAKE: &[&str] = &[
    "CXX=g++",
    "LINK=g++",
    "USER_CPPFLAGS=-fPIC -fvisibility=hidden -fno-gnu-unique -DVL_USER_FINISH -DVL_USER_STOP -DVL_USER_FATAL",
    "OPT_SLOW=-O0",
    "OPT_GLOBAL=-Os",
    "CFG_CXXFLAGS_PCH_I=-include",
];

/// How g++ optimises a model: most of a build's time goes there. Verilator's own optimisation is the same in both.
const FOR_LONG_RUNS: &str = "OPT_FAST=-O3";
const FOR_SHORT_RUNS: &str = "OPT_FAST=-O1";

/// Two jobs bound the memory g++ takes; most models are one file anyway.
const JOBS: &str = "-j2";

/// The cache entry of `spec`'s library, built if it is not there.
pub(crate) fn library_directory(
    spec: &ModelSpec,
    tools: &Toolchain,
    cache: &Path,
) -> Result<PathBuf, BuildError> {
    if cache.to_string_lossy().contains(char::is_whitespace) {
        return Err(BuildError::SpaceInCachePath {
            path: cache.to_path_buf(),
        });
    }
    let options = options(spec);
    let shim = shim(spec);
    let ports = spec.ports.iter().map(|port| format!("{port:?}"));
    let gating = spec
        .gating
        .iter()
        .map(|gating| format!("{gating:?}{GATES}{}", activity::RECIPE));
    let pins: Vec<String> = ports.chain(gating).collect();
    let hash = digest(
        recipe(tools, &shim, &options)
            .chain([optimisation(spec), &spec.top, &spec.verilog])
            .chain(pins.iter().map(String::as_str)),
    );
    entry(
        cache,
        &format!("{}-{hash}", spec.top),
        |directory, failed| {
            let build = Build {
                tools,
                directory,
                failed,
                top: &spec.top,
            };
            let runtime = runtime_library(spec, tools, cache)?;
            build.model(spec, &shim, &options, &runtime)
        },
    )
}

/// Verilator's run-time library for the options of `spec`: it takes twice as long to compile as a small model, and is always the same.
fn runtime_library(
    spec: &ModelSpec,
    tools: &Toolchain,
    cache: &Path,
) -> Result<PathBuf, BuildError> {
    let options = runtime_options(spec);
    let name = format!("runtime-{}", digest(recipe(tools, SHIM, &options)));
    let directory = entry(cache, &name, |directory, failed| {
        let build = Build {
            tools,
            directory,
            failed,
            top: "empty",
        };
        build.write("empty.v", "module empty(input clk); endmodule\n")?;
        build.verilate(&options, "empty.v")?;
        build.write("model.mk", MAKEFILE)?;
        build.make(&["runtime.a", FOR_LONG_RUNS])?;
        build.keep_only(&["runtime.a", LOG_FILE])
    })?;
    Ok(directory.join("runtime.a"))
}

fn optimisation(spec: &ModelSpec) -> &'static str {
    if spec.short_run {
        FOR_SHORT_RUNS
    } else {
        FOR_LONG_RUNS
    }
}

/// The C interface of a model of `spec`.
fn shim(spec: &ModelSpec) -> Cow<'static, str> {
    let gated = spec.gating.is_some();
    if !(spec.signals || gated) {
        return Cow::Borrowed(SHIM);
    }
    let part = |wanted, text| if wanted { text } else { "" };
    let (before, profile) = (part(gated, GATING), part(gated, PROFILE));
    Cow::Owned([before, SHIM, profile, part(spec.signals, SIGNALS)].concat())
}

/// The options that decide which run-time code a model needs.
fn runtime_options(spec: &ModelSpec) -> Vec<String> {
    let mut options = Vec::new();
    if spec.trace {
        options.extend([
            "--trace-fst",
            "--trace-structs",
            "--trace-max-width",
            "4096",
        ]);
    }
    if spec.coverage {
        options.push("--coverage-line");
    }
    if spec.assertions {
        options.push("--assert");
    }
    options.into_iter().map(str::to_owned).collect()
}

fn options(spec: &ModelSpec) -> Vec<String> {
    let mut options = runtime_options(spec);
    let timescale = spec.timescale.as_deref().unwrap_or(PICOSECONDS);
    options.extend(["--timescale-override".to_owned(), timescale.to_owned()]);
    if spec.signals {
        options.push("--public-flat-rw".to_owned());
    }
    options.extend(parameter_options(&spec.parameters));
    options.extend(spec.verilator_arguments.iter().cloned());
    options
}

/// Verilator's way to override parameters of the top module.
pub(crate) fn parameter_options(
    parameters: &[(String, String)],
) -> impl Iterator<Item = String> + '_ {
    parameters
        .iter()
        .map(|(name, value)| format!("-G{name}={value}"))
}

/// All that goes into a build besides the Verilog.
fn recipe<'a>(
    tools: &'a Toolchain,
    shim: &'a str,
    options: &'a [String],
) -> impl Iterator<Item = &'a str> {
    let fixed = [shim, MAKEFILE]
        .into_iter()
        .chain(VERILATE.iter().copied())
        .chain(MAKE.iter().copied());
    fixed
        .chain(tools.identity())
        .chain(options.iter().map(String::as_str))
}

/// One build in a directory of its own.
struct Build<'a> {
    tools: &'a Toolchain,
    directory: &'a Path,
    /// Where the directory goes if the build fails: errors name the log there.
    failed: &'a Path,
    top: &'a str,
}

impl Build<'_> {
    fn model(
        &self,
        spec: &ModelSpec,
        shim: &str,
        options: &[String],
        runtime: &Path,
    ) -> Result<(), BuildError> {
        let source = format!("{}.v", spec.top);
        self.write(&source, &spec.verilog)?;
        self.verilate(options, &source)?;
        let header = self.directory.join("Vmodel.h");
        let header = fs::read_to_string(&header).map_err(|source| io("read", &header, source))?;
        let members = member_names(&spec.top, &spec.ports, &header)?;
        let addresses: String = members
            .iter()
            .map(|name| format!("&top->{name},\n"))
            .collect();
        self.write("ports.inc", &addresses)?;
        if let Some(gating) = &spec.gating {
            self.write("gating.inc", &gating.tables(spec, &header)?)?;
            self.write("gating.h", GATES)?;
            let names = if spec.signals {
                vec![]
            } else {
                self.refine(gating)?
            };
            let names: String = names.iter().map(|name| format!("{name:?},\n")).collect();
            self.write("blocks.inc", &names)?;
        }
        self.write("shim.cpp", shim)?;
        self.write("model.mk", MAKEFILE)?;
        let runtime =
            std::path::absolute(runtime).map_err(|source| io("make absolute", runtime, source))?;
        self.make(&[
            LIBRARY_FILE,
            optimisation(spec),
            &format!("STELLAR_RUNTIME={}", runtime.display()),
        ])?;
        self.keep_only(&[LIBRARY_FILE, &source, LOG_FILE])
    }

    /// Lets code run on change where it is known, and says in the log if it is not. Returns the names of the blocks.
    fn refine(&self, gating: &Gating) -> Result<Vec<String>, BuildError> {
        if let Some(blocks) = activity::refine(self.directory, gating)? {
            return Ok(blocks);
        }
        let note = "Code of this Verilator, or for this Verilog, that is not known: the model gets edges of its parts, and is slower.\n";
        let path = self.directory.join(LOG_FILE);
        let log = fs::read_to_string(&path).map_err(|source| io("read", &path, source))?;
        self.write(LOG_FILE, &(log + note))?;
        Ok(vec![])
    }

    fn verilate(&self, options: &[String], source: &str) -> Result<(), BuildError> {
        let mut command = self.tools.verilator();
        command.args(VERILATE).args(options);
        command.args(["--top-module", self.top, source]);
        self.run("verilator", command)
    }

    fn make(&self, arguments: &[&str]) -> Result<(), BuildError> {
        let mut command = self.tools.make();
        command.args(["-f", "model.mk", JOBS]).args(MAKE);
        command.args(arguments);
        self.run("make", command)
    }

    /// Runs `command` in the build directory with its output added to the log.
    fn run(&self, tool: &str, mut command: Command) -> Result<(), BuildError> {
        let path = self.directory.join(LOG_FILE);
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|source| io("open", &path, source))?;
        let errors = log
            .try_clone()
            .map_err(|source| io("open", &path, source))?;
        let status = command
            .current_dir(self.directory)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .status()
            .map_err(|error| BuildError::MissingTool {
                tool: tool.to_owned(),
                looked: format!("it does not start: {error}"),
            })?;
        if status.success() {
            return Ok(());
        }
        let text = fs::read_to_string(&path).map_err(|source| io("read", &path, source))?;
        Err(BuildError::ToolFailed {
            tool: tool.to_owned(),
            top: self.top.to_owned(),
            excerpt: excerpt(&text),
            log: self.failed.join(LOG_FILE),
        })
    }

    fn write(&self, name: &str, text: &str) -> Result<(), BuildError> {
        let path = self.directory.join(name);
        fs::write(&path, text).map_err(|source| io("write", &path, source))
    }

    /// Deletes generated C++ and objects, which are hundreds of times larger than the library.
    fn keep_only(&self, names: &[&str]) -> Result<(), BuildError> {
        let listing = |source| io("list", self.directory, source);
        for file in fs::read_dir(self.directory).map_err(listing)? {
            let path = file.map_err(listing)?.path();
            if !names.iter().any(|name| path.ends_with(name)) {
                fs::remove_file(&path).map_err(|source| io("remove", &path, source))?;
            }
        }
        Ok(())
    }
}

/// The first lines of a log that report an error, or its last lines if none does.
pub(crate) fn excerpt(log: &str) -> String {
    const LINES: usize = 12;
    let lines: Vec<&str> = log.lines().collect();
    let first = lines
        .iter()
        .position(|line| line.contains("%Error") || line.contains("error:"))
        .unwrap_or(lines.len().saturating_sub(LINES));
    lines[first..]
        .iter()
        .take(LINES)
        .copied()
        .collect::<Vec<_>>()
        .join("\n")
}
