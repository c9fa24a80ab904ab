//! Checks a design with the tools that users read our Verilog with: Verilator's lint, Icarus and Yosys.

use std::any::type_name;
use std::io::Write;
use std::process::Command;

use hdl_verilog::{emit, Design};
use rust_hdl::prelude::Block;
use thiserror::Error;

/// A tool that is missing or that complained.
#[derive(Debug, Error)]
pub enum ToolError {
    #[error("cannot run {tool} ({source}); `./stellar setup` installs it")]
    Missing {
        tool: &'static str,
        source: std::io::Error,
    },
    #[error("{tool} rejects {top}:\n{output}")]
    Rejected {
        tool: &'static str,
        top: String,
        output: String,
    },
    #[error("cannot write the Verilog for {top} to a temporary file: {source}")]
    Temporary { top: String, source: std::io::Error },
}

/// Lint rules switched off for every design, and why.
pub const LINT_WAIVERS: &[(&str, &str)] = &[
    ("DECLFILENAME", "all modules of a design are in one text"),
    ("UNUSED", "records travel whole through the pipeline; a stage that reads two fields still carries the others; \
         hdl/designs/tests/front_ends/unread.rs checks that every port is read"),
    ("UNOPTFLAT", "a record wire that carries ready and valid both ways is a loop per wire, not per bit"),
];

/// Verilator `--lint-only -Wall` with [`LINT_WAIVERS`]; any warning is an error.
pub fn lint(design: &Design) -> Result<(), ToolError> {
    let file = source(design)?;
    let mut command = Command::new("verilator");
    command.args(["--lint-only", "-Wall", "--top-module", &design.top]);
    for (rule, _) in LINT_WAIVERS {
        command.arg(format!("-Wno-{rule}"));
    }
    run(command.arg(file.path()), "verilator", design)
}

/// Icarus parses and elaborates as Verilog-2005.
pub fn icarus(design: &Design) -> Result<(), ToolError> {
    let file = source(design)?;
    let mut command = Command::new("iverilog");
    command.args([
        "-g2005",
        "-t",
        "null",
        "-Wall",
        "-Wno-timescale",
        "-s",
        &design.top,
    ]);
    run(command.arg(file.path()), "iverilog", design)
}

/// Yosys elaborates, finds no inconsistency and no latch.
pub fn yosys(design: &Design) -> Result<(), ToolError> {
    let file = source(design)?;
    let script = format!(
        "read_verilog -DSYNTHESIS {}; hierarchy -check -top {}; proc; check -assert; select -assert-none t:$dlatch t:$_DLATCH_*",
        file.path().display(),
        design.top
    );
    let mut command = Command::new("yosys");
    run(command.args(["-q", "-p", &script]), "yosys", design)
}

/// Runs all three tools.
pub fn check(design: &Design) -> Result<(), ToolError> {
    lint(design)?;
    icarus(design)?;
    yosys(design)
}

/// Checks the Verilog of a block with all three tools.
///
/// # Panics
/// With what the tool says, if the block is not translated or a tool rejects it.
pub fn assert_clean<B: Block + Default>() {
    let mut block = Box::<B>::default();
    block.connect_all();
    let design = emit(block.as_ref());
    let design = design.unwrap_or_else(|e| panic!("{} is not translated: {e}", type_name::<B>()));
    check(&design).unwrap_or_else(|error| panic!("{error}"));
}

fn source(design: &Design) -> Result<tempfile::NamedTempFile, ToolError> {
    let temporary = |source| ToolError::Temporary {
        top: design.top.clone(),
        source,
    };
    let mut file = tempfile::Builder::new()
        .suffix(".v")
        .tempfile()
        .map_err(temporary)?;
    file.write_all(design.text().as_bytes())
        .map_err(temporary)?;
    Ok(file)
}

fn run(command: &mut Command, tool: &'static str, design: &Design) -> Result<(), ToolError> {
    let output = command
        .output()
        .map_err(|source| ToolError::Missing { tool, source })?;
    if output.status.success() {
        return Ok(());
    }
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text += &String::from_utf8_lossy(&output.stderr);
    Err(ToolError::Rejected {
        tool,
        top: design.top.clone(),
        output: text.lines().take(40).collect::<Vec<_>>().join("\n"),
    })
}
