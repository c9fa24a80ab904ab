//! Tests of the cache, and of builds that fail.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use sim_verilated::{BuildError, ModelSpec, Port, Toolchain};

use crate::common::{count, counter};

#[test]
fn a_model_is_built_once_and_again_when_its_source_changes() {
    let cache = tempfile::tempdir().unwrap();
    let tools = Toolchain::find().unwrap();
    let models = || {
        let mut names: Vec<String> = fs::read_dir(cache.path())
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with("counter-") && !name.ends_with(".lock"))
            .collect();
        names.sort();
        names
    };
    counter().build_with(tools, cache.path()).unwrap();
    let first = models();
    assert_eq!(first.len(), 1);
    // A second build would need write access to the directory, and would restore the source.
    let source = cache.path().join(&first[0]).join("counter.v");
    fs::remove_file(&source).unwrap();
    counter().build_with(tools, cache.path()).unwrap();
    assert!(!source.exists(), "taken from the cache");
    let mut changed = counter();
    changed.verilog = changed.verilog.replace("count = 3", "count = 4");
    let library = changed.build_with(tools, cache.path()).unwrap();
    assert_eq!(models().len(), 2);
    assert_eq!(count(&mut library.instantiate(), 1), 5);
}

#[test]
fn a_syntax_error_shows_the_line_and_names_the_log() {
    let cache = tempfile::tempdir().unwrap();
    let spec = ModelSpec::new(
        "broken",
        "module broken(input clk);\n  wire a = ;\nendmodule\n",
        vec![Port::input("clk", 1)],
    );
    let error = spec
        .build_with(Toolchain::find().unwrap(), cache.path())
        .err()
        .unwrap();
    let BuildError::ToolFailed { tool, log, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(tool, "verilator");
    assert!(fs::read_to_string(log).unwrap().contains("syntax error"));
    let text = error.to_string();
    assert!(text.contains("broken.v:2"), "{text}");
    assert!(text.contains(&log.display().to_string()), "{text}");
}

#[test]
fn ports_that_differ_from_the_module_are_refused() {
    let mut spec = counter();
    spec.ports[4].width = 9;
    let text = spec.build().err().unwrap().to_string();
    assert!(
        text.contains("`count`") && text.contains("9 bits"),
        "{text}"
    );
}

#[test]
fn names_and_widths_are_checked_before_anything_runs() {
    for port in [
        Port::input("a b", 1),
        Port::input("data", 0),
        Port::input("clk", 1),
    ] {
        let mut spec = counter();
        spec.ports.push(port);
        let error = spec.build().err().unwrap();
        assert!(matches!(error, BuildError::InvalidSpec { .. }), "{error}");
    }
}

#[test]
fn a_missing_verilator_points_to_the_setup_command() {
    for (program, path) in [
        ("/nonexistent/verilator", "/usr/bin"),
        ("verilator", "/nonexistent"),
    ] {
        let error = Toolchain::with_verilator(Path::new(program), OsStr::new(path)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(program), "{text}");
        assert!(text.contains("./stellar setup"), "{text}");
    }
}

#[test]
fn a_cache_path_with_spaces_is_refused() {
    let error = counter()
        .build_with(Toolchain::find().unwrap(), Path::new("/tmp/two words"))
        .err()
        .unwrap();
    assert!(matches!(error, BuildError::SpaceInCachePath { .. }));
}
