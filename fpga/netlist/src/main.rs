//! `./stellar netlist`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use stellar_fit::{Cells, Counts};
use stellar_mutation::discovery::{self, Test};
use stellar_mutation::programs::{self, Outcome, OVERLAY};
use stellar_netlist::Synthesis;
use tabled::settings::{object::Columns, Alignment, Style};
use tabled::{Table, Tabled};

/// Run the blocks' tests on the netlists that Yosys makes of their Verilog
#[derive(Parser)]
#[command(name = "stellar netlist")]
struct Arguments {
    /// Only blocks with one of these in the name of their module
    #[arg(long, value_name = "TEXT")]
    block: Vec<String>,
    /// Only the tests of these crates, such as hdl-emtt
    #[arg(long = "package", short, value_name = "CRATE")]
    packages: Vec<String>,
    /// Name the blocks and their tests, and run none
    #[arg(long)]
    list: bool,
    /// Random input of the tests
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Random cases of each property test
    #[arg(long, default_value_t = 3, value_name = "N")]
    cases: u32,
    /// Leave out tests that take longer than this many seconds with the block's Verilog
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    longest: f64,
    /// Directory for the report
    #[arg(long, default_value = "out/netlist", value_name = "DIR")]
    out: PathBuf,
}

/// A test may take this long with a netlist.
const LIMIT: Duration = Duration::from_secs(1_800);

#[derive(Tabled)]
struct Row {
    block: String,
    #[tabled(inline)]
    cells: Counts,
    #[tabled(rename = "DSPs")]
    multipliers: usize,
    tests: usize,
    failed: usize,
    seconds: u64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let state = root.join(".stellar/netlist");
    let synthesis = Synthesis::new(&std::env::var("YOSYS").unwrap_or_else(|_| "yosys".into()))?;
    let (seed, cases) = (arguments.seed.to_string(), arguments.cases.to_string());
    let variables = [
        ("PROPTEST_RNG_SEED", seed.as_str()),
        ("PROPTEST_CASES", cases.as_str()),
        ("PROPTEST_MAX_SHRINK_ITERS", "0"),
        ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1"),
    ];
    let blocks = blocks(arguments, &root, &state, &variables)?;
    if arguments.list {
        for (model, tests) in &blocks {
            println!("{} ({} tests)", module(model), tests.len());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let bar = progress(
        blocks.len() as u64,
        "{bar:30} {pos}/{len} {eta} left, {msg}",
    );
    let (mut rows, mut failures) = (vec![], vec![]);
    for (model, tests) in &blocks {
        bar.set_message(module(model).to_owned());
        let began = Instant::now();
        let cells = write_netlist(&synthesis, &state, model)?;
        let overlay = state.join("instead");
        let overlay = overlay
            .to_str()
            .context("the path of the checkout is no text")?;
        let mut failed = 0;
        for test in tests {
            let variables = [&[(OVERLAY, overlay)], &variables[..]].concat();
            let outcome = test
                .program
                .run(std::slice::from_ref(&test.name), &variables, LIMIT)?;
            if outcome != Outcome::Passed {
                let failure = format!(
                    "{}: {} of {} ({outcome:?})",
                    module(model),
                    test.name,
                    test.program.package
                );
                bar.suspend(|| eprintln!("failed with the netlist of {failure}"));
                failures.push(failure);
                failed += 1;
            }
        }
        rows.push(Row {
            block: module(model).into(),
            cells: cells.counts(),
            multipliers: cells.of("DSP"),
            tests: tests.len(),
            failed,
            seconds: began.elapsed().as_secs(),
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    report(&arguments.out, &rows, &failures)
}

/// The models of blocks that are wanted, each with the tests that build it.
fn blocks(
    arguments: &Arguments,
    root: &Path,
    state: &Path,
    variables: &[(&str, &str)],
) -> anyhow::Result<BTreeMap<String, Vec<Test>>> {
    let mut crates = programs::crates(root)?;
    if let Some(unknown) = arguments
        .packages
        .iter()
        .find(|name| crates.iter().all(|one| &one.name != *name))
    {
        let known: Vec<&str> = crates.iter().map(|one| one.name.as_str()).collect();
        bail!(
            "{unknown} is no crate with blocks; these are: {}",
            known.join(", ")
        );
    }
    crates.retain(|one| arguments.packages.is_empty() || arguments.packages.contains(&one.name));
    eprintln!("building the tests of {} crates", crates.len());
    let programs = programs::build(root, &crates)?;
    let bar = progress(0, "{spinner} which models do the tests build? {msg}");
    let tests = discovery::kept(state, &programs, variables, |program, name| {
        bar.set_message(format!("{} {name}", program.package));
    })?;
    bar.finish_and_clear();
    let mut blocks: BTreeMap<String, Vec<Test>> = BTreeMap::new();
    for test in tests
        .iter()
        .filter(|test| test.seconds <= arguments.longest)
    {
        for model in &test.models {
            if arguments.block.is_empty()
                || arguments
                    .block
                    .iter()
                    .any(|text| module(model).contains(text.as_str()))
            {
                blocks.entry(model.clone()).or_default().push(test.clone());
            }
        }
    }
    if blocks.is_empty() {
        bail!(
            "no test of at most {} s builds a block with {:?} in its name",
            arguments.longest,
            arguments.block
        );
    }
    Ok(blocks)
}

/// The name of a model's module: that of its file without the digest.
fn module(model: &str) -> &str {
    model.rsplit_once('-').map_or(model, |(module, _)| module)
}

/// Writes the netlist of a model into the overlay, where tests take it instead of the model's Verilog. Returns its cells.
fn write_netlist(synthesis: &Synthesis, state: &Path, model: &str) -> anyhow::Result<Cells> {
    let overlay = state.join("instead");
    // One block at a time, so that a failure names its block.
    if overlay.exists() {
        fs::remove_dir_all(&overlay)?;
    }
    fs::create_dir_all(&overlay)?;
    let path = discovery::models(state).join(format!("{model}.v"));
    let verilog =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let netlist = synthesis.netlist(&without_checks(&verilog), module(model))?;
    fs::write(
        overlay.join(format!("{model}.instead")),
        synthesis.with_models(&netlist)?,
    )?;
    Ok(stellar_netlist::cells(&netlist))
}

/// Models check the rules of bundles, each in a line that ends the simulation. Synthesis has no such statements.
fn without_checks(verilog: &str) -> String {
    let lines = verilog.split_inclusive('\n');
    lines
        .filter(|line| !line.contains("$test$plusargs"))
        .collect()
}

fn progress(length: u64, template: &str) -> ProgressBar {
    ProgressBar::new(length)
        .with_style(ProgressStyle::with_template(template).expect("the template is constant"))
}

/// Prints the table, and writes it with the failures into the directory `out`.
fn report(out: &Path, rows: &[Row], failures: &[String]) -> anyhow::Result<ExitCode> {
    let mut table = Table::new(rows);
    table
        .with(Style::markdown())
        .modify(Columns::new(1..), Alignment::right());
    let blocks: BTreeSet<&str> = rows.iter().map(|row| row.block.as_str()).collect();
    let tests: usize = rows.iter().map(|row| row.tests).sum();
    let summary = match failures {
        [] => format!(
            "{tests} runs of tests pass on the netlists of {} blocks.",
            blocks.len()
        ),
        _ => format!(
            "{} of {tests} runs of tests fail:\n\n- {}",
            failures.len(),
            failures.join("\n- ")
        ),
    };
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    fs::write(out.join("report.md"), format!("{table}\n\n{summary}\n"))?;
    println!("{table}\n\n{summary}");
    Ok(if failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
