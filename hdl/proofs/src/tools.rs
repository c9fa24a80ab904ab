//! The programs that decide proofs.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

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

/// Runs a program, and stops it after `limit`. Returns what it prints, or nothing if it was stopped.
pub(crate) fn run_for(
    program: &str,
    arguments: &[&str],
    limit: Duration,
) -> anyhow::Result<Option<String>> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| missing(program))?;
    let mut pipe = child.stdout.take().expect("it is piped");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut said = vec![];
        let end = pipe.read_to_end(&mut said).map(|_| said);
        // Nobody listens any more if the time is over.
        let _ = sender.send(end);
    });
    let Ok(said) = receiver.recv_timeout(limit) else {
        // It may have ended at this moment, and then there is nothing to stop.
        let _ = child.kill();
        child.wait()?;
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&said?).into_owned();
    if !child.wait()?.success() {
        bail!("{program} failed: {text}");
    }
    Ok(Some(text))
}
