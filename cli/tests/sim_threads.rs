//! Cards of one simulation on several threads do what they do on one.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Three cards, each of which sends to both others; returns the report.
fn world(folder: &Path, threads: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_stellar-cli"))
        .args(["world", "--nics", "card*3", "--pattern", "all-to-all"])
        .args(["--bytes", "60000", "--json", "--seed", "3", "--out", "out"])
        .args(["--sim-threads", threads])
        .current_dir(folder)
        .output()
        .expect("the program starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    serde_json::from_slice(&output.stdout).expect("a JSON report")
}

#[test]
fn a_world_does_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let alone = world(folder.path(), "1");
    assert_eq!(alone["bytes"], 360_000, "{alone}");
    for threads in ["2", "3", "8"] {
        assert_eq!(world(folder.path(), threads), alone, "{threads} threads");
    }
}
