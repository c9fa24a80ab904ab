//! `./stellar netlist`.

mod report;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use stellar_fit::Cells;
use stellar_mutation::discovery::{self, Test};
use stellar_mutation::programs::{self, Outcome, OVERLAY};
use stellar_netlist::Synthesis;

use report::{Report, Row};

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
    /// Leave out blocks with more lines of Verilog
    #[arg(long, value_name = "LINES")]
    largest: Option<usize>,
    /// Blocks at a time
    #[arg(long, short, value_name = "N", default_value_t = default_jobs(), value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Directory for the report
    #[arg(long, default_value = "out/netlist", value_name = "DIR")]
    out: PathBuf,
}

/// Ends of the names of tests that a netlist cannot pass, and why.
const LEFT_OUT: [(&str, &str); 2] = [
    (
        "_stops_the_model",
        "it tests a check, and a netlist has none",
    ),
    (
        "_in_simulation",
        "it tells what a simulation does where the device may do something else",
    ),
];

/// A test may take this long with a netlist.
const LIMIT: Duration = Duration::from_secs(1_800);

/// A worker that panics ends the run.
const NO_PANIC: &str = "no worker panics";

/// As many as the machine has cores.
fn default_jobs() -> u16 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    u16::try_from(cores).unwrap_or(u16::MAX)
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
        for block in &blocks {
            println!("{} ({} tests)", module(&block.model), block.tests.len());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let bar = progress(
        blocks.len() as u64,
        "{bar:30} {pos}/{len} {eta} left, {msg}",
    );
    let report = Mutex::new(Report::new(&arguments.out)?);
    let waiting = Mutex::new(blocks.iter());
    let work = |worker: u16| -> anyhow::Result<()> {
        // Each worker has one block at a time in its folder, so that a failure names its block.
        let overlay = state.join(format!("instead-{worker}"));
        loop {
            let next = waiting.lock().expect(NO_PANIC).next();
            let Some(block) = next else { return Ok(()) };
            bar.set_message(module(&block.model).to_owned());
            let (row, failures) = check(&synthesis, &overlay, block, &variables)?;
            bar.suspend(|| report.lock().expect(NO_PANIC).add(row, failures))?;
            bar.inc(1);
        }
    };
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let workers: Vec<_> = (0..arguments.jobs)
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        let mut ended = workers.into_iter().map(|one| one.join().expect(NO_PANIC));
        ended.try_for_each(|result| result)
    })?;
    bar.finish_and_clear();
    let report = report.into_inner().expect(NO_PANIC);
    println!("{}", report.text());
    Ok(if report.has_failures() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Maps a block, and runs its tests on the netlist. Returns its row, and what failed.
fn check(
    synthesis: &Synthesis,
    overlay: &Path,
    block: &Block,
    variables: &[(&str, &str)],
) -> anyhow::Result<(Row, Vec<String>)> {
    let name = module(&block.model);
    let began = Instant::now();
    let (cells, failures) = match write_netlist(synthesis, overlay, block) {
        Ok(cells) => (cells, failed_tests(block, overlay, variables)?),
        // Other blocks can be looked at all the same.
        Err(error) => (Cells::default(), vec![format!("{error:#}")]),
    };
    let failures: Vec<String> = (failures.into_iter())
        .map(|failure| format!("{name}: {failure}"))
        .collect();
    let row = Row {
        block: name.into(),
        cells: cells.counts(),
        multipliers: cells.of("DSP"),
        tests: block.tests.len(),
        failed: failures.len(),
        seconds: began.elapsed().as_secs(),
    };
    Ok((row, failures))
}

/// Runs the block's tests with what `overlay` has in place of its Verilog. Returns those that do not pass.
fn failed_tests(
    block: &Block,
    overlay: &Path,
    variables: &[(&str, &str)],
) -> anyhow::Result<Vec<String>> {
    let directory = (overlay.to_str()).context("the path of the checkout is no text")?;
    let variables = [&[(OVERLAY, directory)], variables].concat();
    let mut failed = vec![];
    for test in &block.tests {
        let name = std::slice::from_ref(&test.name);
        let outcome = test.program.run(name, &variables, LIMIT)?;
        if outcome != Outcome::Passed {
            let package = &test.program.package;
            failed.push(format!("{} of {package} ({outcome:?})", test.name));
        }
    }
    Ok(failed)
}

/// A block's model.
struct Block {
    /// Name of the model's file.
    model: String,
    verilog: String,
    /// The tests that build it.
    tests: Vec<Test>,
}

/// The models of blocks that are wanted, the smallest first, so that a run that is stopped has most rows.
fn blocks(
    arguments: &Arguments,
    root: &Path,
    state: &Path,
    variables: &[(&str, &str)],
) -> anyhow::Result<Vec<Block>> {
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
    let is_wanted = |model: &str| {
        let texts = &arguments.block;
        texts.is_empty() || texts.iter().any(|text| module(model).contains(text))
    };
    let mut found: BTreeMap<String, Vec<Test>> = BTreeMap::new();
    for test in tests {
        let mut models = test
            .models
            .iter()
            .filter(|model| is_wanted(model))
            .peekable();
        let left_out = if test.seconds > arguments.longest {
            Some(format!("it takes {:.0} s", test.seconds))
        } else {
            let known = LEFT_OUT.iter().find(|(end, _)| test.name.ends_with(end));
            known.map(|(_, reason)| (*reason).to_owned())
        };
        if let (Some(reason), true) = (left_out, models.peek().is_some()) {
            eprintln!(
                "{} of {} is left out: {reason}",
                test.name, test.program.package
            );
            continue;
        }
        for model in models {
            found.entry(model.clone()).or_default().push(test.clone());
        }
    }
    let mut blocks = vec![];
    for (model, tests) in found {
        let path = discovery::models(state).join(format!("{model}.v"));
        let verilog =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let fits = |largest| verilog.lines().count() <= largest;
        if arguments.largest.is_none_or(fits) {
            blocks.push(Block {
                model,
                verilog,
                tests,
            });
        }
    }
    blocks.sort_by_key(|block| block.verilog.len());
    if blocks.is_empty() {
        bail!(
            "no test of at most {} s builds a block with {:?} in its name, and of at most {:?} lines",
            arguments.longest,
            arguments.block,
            arguments.largest
        );
    }
    Ok(blocks)
}

/// The name of a model's module: that of its file without the digest.
fn module(model: &str) -> &str {
    model.rsplit_once('-').map_or(model, |(module, _)| module)
}

/// Writes the netlist of a model into `overlay`, where tests take it instead of the model's Verilog. Returns its cells.
fn write_netlist(synthesis: &Synthesis, overlay: &Path, block: &Block) -> anyhow::Result<Cells> {
    if overlay.exists() {
        fs::remove_dir_all(overlay)?;
    }
    fs::create_dir_all(overlay)?;
    let (model, verilog) = (&block.model, &block.verilog);
    let netlist = synthesis.netlist(&without_checks(verilog), module(model))?;
    fs::write(
        overlay.join(format!("{model}.instead")),
        synthesis.with_models(&netlist)?,
    )?;
    Ok(stellar_netlist::cells(&netlist))
}

/// Models check the rules of bundles and of memories with two clocks, each in a line that ends the simulation. Synthesis has no such statements.
fn without_checks(verilog: &str) -> String {
    let lines = verilog.split_inclusive('\n');
    lines
        .filter(|line| !line.contains("$test$plusargs") && !line.contains("$fatal"))
        .collect()
}

fn progress(length: u64, template: &str) -> ProgressBar {
    ProgressBar::new(length)
        .with_style(ProgressStyle::with_template(template).expect("the template is constant"))
}
