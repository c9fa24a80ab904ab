//! The programs that decide proofs.

use std::process::Command;

use anyhow::{bail, Context};

/// Debian's `yosys` package brings both programs.
#[derive(Clone, Debug)]
pub struct Tools {
    /// Yosys, which translates Verilog to an and-inverter graph.
    pub yosys: String,
    /// ABC, which decides properties of the graph.
    pub abc: String,
}

impl Default for Tools {
    fn default() -> Self {
        let of = |variable, program: &str| std::env::var(variable).unwrap_or(program.into());
        Self {
            yosys: of("YOSYS", "yosys"),
            abc: of("YOSYS_ABC", "yosys-abc"),
        }
    }
}

/// The message about a program that cannot be started.
pub fn missing(program: &str) -> String {
    format!("cannot run '{program}', which decides proofs: install it, on Debian or Ubuntu with: apt-get install yosys (it brings yosys and yosys-abc)")
}

/// Runs a program and returns what it prints.
pub(crate) fn run(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| missing(program))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{program} failed: {}{}", text, errors);
    }
    Ok(text)
}
