//! `./stellar synth`: each block of the lane through Yosys for UltraScale+: cells, and the longest path between registers.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Command;

use anyhow::Context;
use indicatif::ProgressBar;
use tabled::settings::{object::Columns, Alignment, Style};
use tabled::{Table, Tabled};

use crate::verilog::Width;

/// Modules reported on their own, with everything below them: the blocks of `docs/rx_lane.md`.
const BLOCKS: &[&str] = &[
    "decap",
    "align",
    "parse",
    "icrc_check",
    "packet_buffer",
    "frame_verdict",
    "core_issue",
    "qp_fetch",
    "rc_track",
    "mr_check",
    "emtt_lookup",
    "psn_track",
    "dma_write",
    "drop_counters",
];

#[derive(clap::Args)]
pub struct Arguments {
    /// Lane width in bits
    #[arg(long, default_value = "1024")]
    width: Width,
    /// Only blocks whose module name starts with this
    #[arg(long, value_name = "PREFIX")]
    block: Option<String>,
}

#[derive(Tabled)]
struct Row {
    block: String,
    #[tabled(rename = "LUTs")]
    luts: u64,
    #[tabled(rename = "FFs")]
    flip_flops: u64,
    #[tabled(rename = "BRAM36")]
    block_rams: f64,
    #[tabled(rename = "URAM")]
    ultra_rams: u64,
    #[tabled(rename = "LUT RAM")]
    lut_rams: u64,
    #[tabled(rename = "deepest path (cells)")]
    depth: u64,
}

/// Synthesises and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let design = arguments.width.lane().elaborate()?;
    let mut source = tempfile::Builder::new()
        .suffix(".v")
        .tempfile()
        .context("cannot make a temporary file")?;
    source.write_all(design.text().as_bytes())?;
    let chosen: Vec<&str> = design
        .modules
        .iter()
        .map(|m| m.name.as_str())
        .filter(|m| BLOCKS.iter().any(|b| is_block(m, b)))
        .filter(|m| {
            arguments
                .block
                .as_ref()
                .is_none_or(|p| m.starts_with(p.as_str()))
        })
        .collect();
    anyhow::ensure!(
        !chosen.is_empty(),
        "no block matches; the blocks are: {}",
        BLOCKS.join(", ")
    );
    let bar = ProgressBar::new(chosen.len() as u64);
    let mut rows = vec![];
    for module in chosen {
        bar.println(format!("yosys: {module}"));
        rows.push(synthesise(source.path(), module)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut table = Table::new(&rows);
    table
        .with(Style::markdown())
        .modify(Columns::new(1..), Alignment::right());
    println!("{table}");
    Ok(())
}

/// `align_1024` is block `align`; `align_stage` is not.
fn is_block(module: &str, block: &str) -> bool {
    module
        .strip_prefix(block)
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '_'))
}

fn synthesise(source: &std::path::Path, module: &str) -> anyhow::Result<Row> {
    // Registers and memories are taken away after counting, so that the longest path is one between them.
    let script = format!(
        "read_verilog -DSYNTHESIS {}; synth_xilinx -family xcup -uram -noiopad -noclkbuf -flatten -top {module}; stat; delete t:FD* t:RAM* t:URAM* t:SRL*; ltp",
        source.display()
    );
    let output = Command::new("yosys")
        .args(["-p", &script])
        .output()
        .context("cannot run yosys; `./stellar setup` installs it")?;
    let text = String::from_utf8_lossy(&output.stdout);
    anyhow::ensure!(
        output.status.success(),
        "yosys fails on {module}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let cells = cell_counts(&text);
    let sum = |names: &[&str]| -> u64 {
        cells
            .iter()
            .filter(|(name, _)| names.iter().any(|n| name.starts_with(n)))
            .map(|(_, n)| n)
            .sum()
    };
    let depth = text
        .lines()
        .rev()
        .find_map(|l| {
            l.strip_prefix("Longest topological path in ")?
                .split("length=")
                .nth(1)?
                .trim_end_matches("):")
                .parse()
                .ok()
        })
        .unwrap_or(0);
    Ok(Row {
        block: module.to_string(),
        luts: sum(&["LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6"]),
        flip_flops: sum(&["FD"]),
        block_rams: sum(&["RAMB36"]) as f64 + sum(&["RAMB18"]) as f64 / 2.0,
        ultra_rams: sum(&["URAM"]),
        lut_rams: sum(&["RAM32", "RAM64", "RAM128", "RAM256", "RAM512"]),
        depth,
    })
}

/// The cell table of the last `stat`.
fn cell_counts(log: &str) -> BTreeMap<String, u64> {
    let start = log.rfind("Number of cells:").unwrap_or(0);
    log[start..]
        .lines()
        .skip(1)
        .map_while(|line| {
            let mut words = line.split_whitespace();
            let name = words.next()?;
            let count = words.next()?.parse().ok()?;
            Some((name.to_string(), count))
        })
        .collect()
}
