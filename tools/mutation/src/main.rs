//! `./stellar mutate`.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use stellar_mutation::campaign::{Campaign, Fate, Judged};
use stellar_mutation::discovery;
use stellar_mutation::explained::{self, Explanation};
use stellar_mutation::plan::{self, Mutant};
use stellar_mutation::programs;
use stellar_mutation::report::Report;

/// Change operators of the blocks' Verilog one at a time, and see whether the tests of each block find it
#[derive(Parser)]
#[command(name = "stellar mutate")]
struct Arguments {
    /// Only blocks with one of these in their Rust path
    #[arg(long, value_name = "TEXT")]
    block: Vec<String>,
    /// Mutants of each block
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    per_block: u16,
    /// Chooses the mutants, and the random input of the tests
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Name the mutants and run none
    #[arg(long)]
    list: bool,
    /// Go on with the last campaign of this seed: of the mutants that it has judged, only survivors without an explanation are run again
    #[arg(long)]
    resume: bool,
    /// Begin no mutant after this many minutes; --resume goes on from there
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// Random cases of each property test in the first round; what survives meets all of them in a second one
    #[arg(long, default_value_t = 12, value_name = "N")]
    cases: u32,
    /// Leave out tests that take longer than this many seconds without a mutant
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    longest: f64,
    /// Mutants that run at the same time
    #[arg(long, default_value_t = 1, value_name = "N")]
    jobs: usize,
    /// Directory for the report
    #[arg(long, default_value = "out/mutation", value_name = "DIR")]
    out: PathBuf,
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

/// Where the campaign keeps what it knows.
struct State {
    directory: PathBuf,
}

impl State {
    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let state = State {
        directory: root.join(".stellar/mutation"),
    };
    let overlay = discovery::models(&state.directory);
    fs::create_dir_all(&overlay).with_context(|| format!("cannot make {}", overlay.display()))?;
    let explanations = explained::read(&root.join("tools/mutation/explained.toml"))?;
    let seed = arguments.seed.to_string();
    let cases = arguments.cases.to_string();
    let fixed = vec![
        ("PROPTEST_RNG_SEED", seed.as_str()),
        ("PROPTEST_MAX_SHRINK_ITERS", "0"),
        ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1"),
    ];
    let quick = [&fixed[..], &[("PROPTEST_CASES", cases.as_str())]].concat();

    let crates = programs::crates(&root)?;
    let wanted: Vec<_> = crates
        .into_iter()
        .filter(|one| may_have(&one.name, &arguments.block))
        .collect();
    eprintln!("building the tests of {} crates", wanted.len());
    let programs = programs::build(&root, &wanted)?;
    let bar = progress(0, "{spinner} which models do the tests build? {msg}");
    let mut tests = discovery::kept(&state.directory, &programs, &quick, |program, name| {
        bar.set_message(format!("{} {name}", program.package));
    })?;
    bar.finish_and_clear();
    tests.retain(|test| !test.models.is_empty() && test.seconds <= arguments.longest);
    let models = plan::models(&overlay, &tests)?;
    let mut blocks = plan::blocks(&models, &tests);
    // Other crates have forms of a block that its own does not test.
    blocks.retain(|block| wanted.iter().any(|one| block.is_of(&one.name)));
    explained::refuse_stale(&explanations, &blocks)?;
    blocks.retain(|block| is_wanted(&block.name, &arguments.block));
    if blocks.is_empty() {
        bail!(
            "no block that a test builds has {:?} in its path",
            arguments.block
        );
    }
    let mutants = plan::choose(&blocks, arguments.per_block.into(), arguments.seed);
    if arguments.list {
        mutants.iter().for_each(show);
        println!("{} mutants of {} blocks", mutants.len(), blocks.len());
        return Ok(ExitCode::SUCCESS);
    }
    let written = plan::write_instrumented(&overlay, &models, &blocks, &mutants)?;
    eprintln!(
        "{} mutants of {} blocks, in {written} models",
        mutants.len(),
        blocks.len()
    );

    let campaign = Campaign {
        overlay: &overlay,
        blocks: &blocks,
        tests: &tests,
        quick,
        thorough: fixed,
        jobs: arguments.jobs,
        deadline: arguments
            .minutes
            .map(|minutes| Instant::now() + Duration::from_secs(60 * minutes)),
        measured: Mutex::default(),
    };
    let judged = judge(arguments, &state, &campaign, &mutants, &explanations)?;
    finish(arguments, &judged, mutants.len(), &explanations)
}

/// Whether the crate may have a wanted block: of a path, its first part says so.
fn may_have(name: &str, wanted: &[String]) -> bool {
    let name = name.replace('-', "_");
    wanted.is_empty()
        || wanted.iter().any(|text| match text.split_once("::") {
            Some((owner, _)) => name.ends_with(owner),
            None => true,
        })
}

fn is_wanted(block: &str, wanted: &[String]) -> bool {
    wanted.is_empty() || wanted.iter().any(|text| block.contains(text.as_str()))
}

fn show(mutant: &Mutant) {
    println!(
        "{:4} {} line {}: {} -> {}",
        mutant.number, mutant.block, mutant.line, mutant.original, mutant.mutated
    );
}

fn judge(
    arguments: &Arguments,
    state: &State,
    campaign: &Campaign,
    mutants: &[Mutant],
    explanations: &[Explanation],
) -> anyhow::Result<Vec<Judged>> {
    let name = format!("judged_{}.jsonl", arguments.seed);
    let mut earlier: Vec<Judged> = if arguments.resume {
        discovery::lines(&state.file(&name))
    } else {
        vec![]
    };
    // Since then a test may have been written for a survivor.
    earlier.retain(|one| {
        one.fate != Fate::Survived || explanations.iter().any(|e| e.fits(&one.mutant))
    });
    let earlier: BTreeMap<_, _> = earlier.iter().map(|one| (one.mutant.key(), one)).collect();
    let (done, left): (Vec<&Mutant>, Vec<&Mutant>) = mutants
        .iter()
        .partition(|mutant| earlier.contains_key(&mutant.key()));
    let mut judged: Vec<Judged> = done
        .iter()
        .map(|mutant| Judged {
            mutant: (*mutant).clone(),
            ..earlier[&mutant.key()].clone()
        })
        .collect();
    let file = OpenOptions::new()
        .create(true)
        .append(arguments.resume)
        .truncate(!arguments.resume)
        .write(true)
        .open(state.file(&name))?;
    let log = Mutex::new((file, vec![]));
    let bar = progress(left.len() as u64, "{bar:30} {pos}/{len} {eta} left, {msg}");
    let left: Vec<Mutant> = left.into_iter().cloned().collect();
    campaign.run(
        &left,
        |block| bar.set_message(block.name.clone()),
        |one| {
            let mut log = log.lock().expect("no thread panics with it");
            writeln!(log.0, "{}", serde_json::to_string(&one)?)?;
            bar.inc(1);
            if one.fate == Fate::Survived {
                let m = &one.mutant;
                let found = format!(
                    "survived: {} line {}: {} -> {}",
                    m.block, m.line, m.original, m.mutated
                );
                // Also where there is no bar.
                bar.suspend(|| eprintln!("{found}"));
            }
            log.1.push(one);
            Ok(())
        },
    )?;
    bar.finish_and_clear();
    judged.extend(log.into_inner().expect("no thread panics with it").1);
    judged.sort_by_key(|one| one.mutant.number);
    Ok(judged)
}

fn progress(length: u64, template: &str) -> ProgressBar {
    ProgressBar::new(length)
        .with_style(ProgressStyle::with_template(template).expect("the template is constant"))
}

/// Writes the report and prints a summary.
fn finish(
    arguments: &Arguments,
    judged: &[Judged],
    planned: usize,
    explanations: &[Explanation],
) -> anyhow::Result<ExitCode> {
    let report = Report::of(arguments.seed, judged, explanations);
    let out = &arguments.out;
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    fs::write(out.join("report.md"), report.markdown())?;
    fs::write(
        out.join("report.json"),
        serde_json::to_string_pretty(&report)?,
    )?;
    let all = &report.all;
    println!(
        "{} mutants: {} killed, {} timed out, {} equivalent, {} accepted, {} open, {} unexplained; score {:.1} % (report: {})",
        all.mutants,
        all.killed,
        all.timed_out,
        all.equivalent,
        all.accepted,
        all.open,
        all.unexplained,
        all.percent(),
        out.join("report.md").display()
    );
    if judged.len() < planned {
        println!(
            "{} mutants are left: --resume goes on",
            planned - judged.len()
        );
    }
    let found = |e: &&Explanation| {
        judged
            .iter()
            .any(|j| j.fate != Fate::Survived && e.fits(&j.mutant))
    };
    if let Some(wrong) = explanations.iter().find(found) {
        bail!(
            "{}: `{}` to `{}` is explained as a survivor, and a test finds it now; remove the explanation",
            wrong.block,
            wrong.original,
            wrong.mutated
        );
    }
    if all.unexplained > 0 {
        println!(
            "a survivor needs a test that finds it, or an entry in tools/mutation/explained.toml"
        );
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
