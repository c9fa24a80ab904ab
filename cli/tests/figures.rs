//! `./stellar figures pcie` in its quick form: the papers' bands hold.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn run(arguments: &[&str], out: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stellar-cli"))
        .args(["--quiet", "figures", "pcie", "--quick", "--json", "--out"])
        .arg(out)
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// The rows of a run, all of which with a band are within it.
fn rows(arguments: &[&str], out: &Path) -> Vec<Value> {
    let output = run(arguments, out);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
    let rows = report["rows"].as_array().expect("rows").clone();
    for row in &rows {
        assert_ne!(row["verdict"], "OUTSIDE", "{row}");
    }
    rows
}

fn value(rows: &[Value], what: &str) -> f64 {
    let named = |row: &&Value| row["what"].as_str().is_some_and(|w| w.starts_with(what));
    let row = rows.iter().find(named);
    let value = row.and_then(|row| row["value"].as_f64());
    value.unwrap_or_else(|| panic!("no {what} in {rows:?}"))
}

#[test]
fn goodput_with_ats_falls_twice_and_with_a_table_never() {
    let out = tempfile::tempdir().expect("a directory");
    let arguments = ["--only", "8", "--seed", "7"];
    let measured = rows(&arguments, out.path());
    let ats = [2, 4, 64].map(|megabytes| value(&measured, &format!("ATS, {megabytes} MB")));
    assert!(ats.is_sorted_by(|a, b| a > b), "{ats:?}");
    assert!(value(&measured, "eMTT: variation") <= 1.0);
    let plot = std::fs::read_to_string(out.path().join("figure8.svg")).expect("a plot");
    assert!(plot.starts_with("<svg"), "{plot:.40}");
}

#[test]
fn cards_take_the_routes_of_the_paper() {
    let out = tempfile::tempdir().expect("a directory");
    let measured = rows(&["--only", "7", "--only", "14"], out.path());
    assert!(value(&measured, "memory of the GPU: by this route") > 0.0);
    assert!(value(&measured, "directly, AT = 10") > value(&measured, "through the root complex"));
    assert!(out.path().join("figure14.svg").exists());
}

#[test]
fn a_virtual_device_is_as_fast_as_the_card() {
    let out = tempfile::tempdir().expect("a directory");
    let measured = rows(&["--only", "13"], out.path());
    for (name, size) in [("latency", 2), ("goodput", 1 << 18)] {
        assert!(value(&measured, &format!("{name} of {size} B, virtual device")) > 0.0);
        assert!(value(&measured, &format!("{name}: largest difference")) <= 1.0);
        let plot = format!("figure13_{name}.svg");
        assert!(out.path().join(plot).exists());
    }
}

#[test]
fn bad_input_is_explained() {
    let out = tempfile::NamedTempFile::new().expect("a file");
    let no_directory = run(&["--only", "8"], out.path());
    let other_figure = run(&["--only", "9"], Path::new("out"));
    for (output, part) in [
        (no_directory, "cannot make the directory"),
        (other_figure, "invalid value '9' for '--only <FIGURE>'"),
    ] {
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{message}");
        assert!(message.contains(part), "{message}");
    }
}
