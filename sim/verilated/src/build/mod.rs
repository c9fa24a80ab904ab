//! Turns a specification into a shared library. Everything that decides how a library is built is in this folder and in `sim_on_change`.

mod gating;
mod options;
mod port_declarations;
mod run;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use include_dir::{include_dir, Dir};

use crate::cache::{digest, entry, io};
use crate::error::BuildError;
use crate::mode::SimMode;
use crate::spec::ModelSpec;
use crate::toolchain::Toolchain;
use options::{for_long_runs, optimisation, runtime_options};
use run::{Build, Shared};

pub use gating::{Gate, Gating, HeldInputs};
pub(crate) use options::parameter_options;
#[cfg(test)]
pub(crate) use options::VERILATE;

/// The shared library inside a cache entry.
pub(crate) const LIBRARY_FILE: &str = "model.so";
const RUNTIME_FILE: &str = "runtime.a";
/// What every file of a model includes first.
const HEADERS_FILE: &str = "headers.h";
/// The compiled form of [`HEADERS_FILE`]: g++ takes it instead, if it lies beside the text.
const COMPILED_HEADERS_FILE: &str = "headers.h.gch";

const SHIM: &str = include_str!("shim.cpp");
/// This text comes before the shim of a model with gating.
const GATING: &str = "#define STELLAR_GATED 1\n";
/// Further parts of the shim of a model with gating.
const PROFILE: &str = include_str!("profile.cpp");
const GATES: &str = include_str!("gating.h");
/// This part is appended to the shim of a model whose signals are accessible by name.
const SIGNALS: &str = include_str!("signals.cpp");
const MAKEFILE: &str = include_str!("model.mk");
const HEADERS: &str = concat!(include_str!("headers.h"), include_str!("crc32.h"));
const LOG_FILE: &str = "build.log";

/// All source files of this folder. They are part of the cache keys.
static SOURCES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/build");

/// Returns the cache directory of `spec`'s library, and builds the library if it is not there.
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
    let name = format!("{}-{}", spec.top, key(spec, tools));
    entry(cache, &name, |directory, failed| {
        let shared = Shared {
            runtime: runtime_library(spec, tools, cache)?,
            headers: compiled_headers(spec, tools, cache)?,
        };
        let build = Build {
            tools,
            directory,
            failed,
            top: &spec.top,
        };
        build.model(spec, &shared)
    })
}

/// Returns Verilator's run-time library for the options of `spec`, and builds it if it is not there. Models share it, because compiling it takes
/// twice as long as compiling a small model.
fn runtime_library(
    spec: &ModelSpec,
    tools: &Toolchain,
    cache: &Path,
) -> Result<PathBuf, BuildError> {
    shared_part(spec, tools, cache, RUNTIME_FILE, for_long_runs())
}

/// The headers that all files of a model include. They are most of what g++ reads of a small model.
fn compiled_headers(
    spec: &ModelSpec,
    tools: &Toolchain,
    cache: &Path,
) -> Result<PathBuf, BuildError> {
    let compiled = shared_part(
        spec,
        tools,
        cache,
        COMPILED_HEADERS_FILE,
        optimisation(spec),
    )?;
    Ok(compiled.with_file_name(HEADERS_FILE))
}

/// The cache's `file`, which all models with the options of `spec` use, built with this optimisation if it is not there.
fn shared_part(
    spec: &ModelSpec,
    tools: &Toolchain,
    cache: &Path,
    file: &str,
    optimisation: &str,
) -> Result<PathBuf, BuildError> {
    let options = runtime_options(spec);
    let parts = recipe(tools).into_iter().chain([file, optimisation]);
    let name = digest(parts.chain(options.iter().map(String::as_str)));
    let directory = entry(cache, &format!("shared-{name}"), |directory, failed| {
        let build = Build {
            tools,
            directory,
            failed,
            top: "empty",
        };
        build.shared_part(&options, file, optimisation)
    })?;
    let path = directory.join(file);
    std::path::absolute(&path).map_err(|source| io("make absolute", &path, source))
}

/// Returns the cache key of a library. It covers the whole specification, the tools, all code that takes part in the build, and the instructions that the
/// processor has.
fn key(spec: &ModelSpec, tools: &Toolchain) -> String {
    let specification = format!("{spec:?}");
    let rewriter = match spec.mode {
        SimMode::OnChange => contents(&sim_on_change::SOURCES),
        SimMode::Plain | SimMode::Gated => vec![],
    };
    let parts = recipe(tools).into_iter().chain(rewriter);
    digest(parts.chain([optimisation(spec), specification.as_str()]))
}

/// The texts that take part in every build, for the cache key.
fn recipe(tools: &Toolchain) -> Vec<&str> {
    let mut parts = contents(&SOURCES);
    parts.extend(tools.identity());
    parts
}

/// Returns the names and texts of all files in `folder`.
fn contents(folder: &'static Dir<'_>) -> Vec<&'static str> {
    let mut files: Vec<_> = folder.files().collect();
    files.sort_by_key(|file| file.path());
    let text = |file: &'static include_dir::File<'_>| {
        let name = file.path().to_str().expect("source files have plain names");
        [name, file.contents_utf8().expect("source files are text")]
    };
    files.into_iter().flat_map(text).collect()
}

/// Returns the C++ text of the C interface of a model of `spec`.
fn shim(spec: &ModelSpec) -> Cow<'static, str> {
    let gated = spec.gating.is_some();
    if !(spec.signals || gated) {
        return Cow::Borrowed(SHIM);
    }
    let part = |wanted, text| if wanted { text } else { "" };
    let (before, profile) = (part(gated, GATING), part(gated, PROFILE));
    Cow::Owned([before, SHIM, profile, part(spec.signals, SIGNALS)].concat())
}

/// Returns the first lines of a log that report an error. If there are none, it returns the last lines of the log.
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cache::default_directory;
    use crate::port::Port;

    fn key_of(change: impl FnOnce(&mut ModelSpec)) -> String {
        let mut spec = ModelSpec::new("top", "module top(); endmodule", vec![]);
        change(&mut spec);
        key(&spec, Toolchain::find().unwrap())
    }

    #[test]
    fn every_source_file_is_part_of_the_cache_key() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/build");
        let known = contents(&SOURCES);
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            assert!(path.is_file(), "a folder: {}", path.display());
            let text = fs::read_to_string(&path).unwrap();
            assert!(known.contains(&text.as_str()), "{}", path.display());
        }
        assert!(SOURCES.dirs().next().is_none() && sim_on_change::SOURCES.dirs().next().is_none());
    }

    #[test]
    fn models_of_every_kind_use_the_compiled_headers() {
        let verilog = "module headers_used(input a, output b); assign b = a; endmodule";
        let ports = vec![Port::input("a", 1), Port::output("b", 1)];
        let spec = ModelSpec::new("headers_used", verilog, ports);
        let coverage = ModelSpec {
            coverage: true,
            ..spec.clone()
        };
        let kinds = [
            spec.clone(),
            spec.clone().for_short_run(),
            spec.with_trace(),
            coverage,
        ];
        for spec in kinds {
            let tools = Toolchain::find().unwrap();
            let directory = library_directory(&spec, tools, &default_directory()).unwrap();
            let log = fs::read_to_string(directory.join(LOG_FILE)).unwrap();
            assert!(log.contains("-Winvalid-pch"), "{log}");
            // g++ reports compiled headers that it finds and cannot use.
            assert!(!log.contains("[-Winvalid-pch]"), "{log}");
        }
    }

    #[test]
    fn every_choice_has_a_library_of_its_own() {
        let mut keys = vec![
            key_of(|_| ()),
            key_of(|spec| spec.trace = true),
            key_of(|spec| spec.short_run = true),
            key_of(|spec| spec.mode = SimMode::Gated),
            key_of(|spec| spec.mode = SimMode::OnChange),
        ];
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
        assert_eq!(key_of(|_| ()), key_of(|_| ()));
    }
}
