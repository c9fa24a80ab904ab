//! tshark on captures, and on MRC headers with `tools/mrc.lua`.
//!
//! A missing tshark is a failure, never a silent pass.

mod captures;
mod dissector;
mod fields;
mod random;

use std::path::{Path, PathBuf};

fn dissector() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/mrc.lua")
}

/// Values of `fields` for every packet of a capture, by tshark with the MRC dissector.
fn tshark(capture: &Path, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = sim_world::tshark(capture, fields);
    command.arg("-X");
    command.arg(format!("lua_script:{}", dissector().display()));
    let output = command.output().unwrap_or_else(|error| {
        panic!("tshark is missing ({error}); `./stellar setup` installs it")
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "tshark failed: {errors}");
    assert!(!errors.contains("Lua"), "{errors}");
    let lines = String::from_utf8(output.stdout).expect("text");
    let values = |line: &str| line.split('\t').map(str::to_owned).collect();
    lines.lines().map(values).collect()
}
