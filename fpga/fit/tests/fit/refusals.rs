//! What cannot be measured.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use stellar_fit::{Budget, FitError, Record};

use crate::designs::{broken, impossible_memory};

#[test]
fn a_missing_yosys_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = broken(folder.path(), "no-such-yosys")
        .err()
        .expect("no program");
    let text = error.to_string();
    assert!(
        text.contains("no-such-yosys") && text.contains("./stellar setup"),
        "{text}"
    );
}

#[test]
fn a_module_that_yosys_refuses_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = broken(folder.path(), "yosys").err().expect("no Verilog");
    assert!(
        matches!(&error, FitError::Yosys { module, .. } if module == "broken"),
        "{error}"
    );
}

#[test]
fn a_yosys_that_is_killed_or_says_nothing_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let ends = |name: &str, end: &str| {
        let program = folder.path().join(name);
        let script = format!("#!/bin/sh\n[ \"$1\" = -V ] && echo Yosys && exit 0\n{end}\n");
        fs::write(&program, script).expect("written");
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a program");
        let error = broken(folder.path(), &program.to_string_lossy()).err();
        error.expect("no netlist").to_string()
    };
    let killed = ends("killed", "echo halfway >&2; kill -9 $$");
    assert!(
        killed.contains("signal: 9") && killed.contains("halfway"),
        "{killed}"
    );
    let killed = ends("killed-silently", "kill -9 $$");
    assert!(
        killed.contains("broken") && killed.contains("enough memory"),
        "{killed}"
    );
    let silent = ends("silent", "exit 3");
    assert!(silent.contains("exit status: 3"), "{silent}");
}

#[test]
fn files_that_are_no_budgets_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("board.toml");
    let text = |error: FitError| error.to_string();
    let missing = text(Budget::read(&path).expect_err("no file"));
    assert!(missing.contains("board.toml"), "{missing}");
    fs::write(&path, "[goal]\npercent = 55\n").expect("written");
    let wrong = text(Budget::read(&path).expect_err("no device"));
    assert!(wrong.contains("board.toml"), "{wrong}");
    let record = text(Record::read(Path::new(&path)).expect_err("no record"));
    assert!(record.contains("board.toml"), "{record}");
}

#[test]
fn a_memory_that_cannot_be_of_its_style_is_named() {
    let text = impossible_memory()
        .err()
        .expect("a block RAM is read with a clock")
        .to_string();
    assert!(text.contains("store.memory"), "{text}");
}
