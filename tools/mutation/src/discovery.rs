//! Which models each test builds: found by running it once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{bail, Context};
use serde::{Deserialize, Serialize};

use crate::programs::{Outcome, Program, OVERLAY};

/// A test that builds models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Test {
    pub program: Program,
    pub name: String,
    /// Names of the models' files in the overlay, without `.v`.
    pub models: BTreeSet<String>,
    pub seconds: f64,
    /// When the program was built that was run.
    #[serde(default)]
    pub built: Option<SystemTime>,
}

impl Test {
    /// Whether its program has not been built anew since. Another program may build other models, which have no mutants.
    pub fn is_current(&self) -> bool {
        self.built.is_some() && self.built == built(&self.program)
    }
}

fn built(program: &Program) -> Option<SystemTime> {
    fs::metadata(&program.path).ok()?.modified().ok()
}

/// Longest time for one test on the Verilog as it is.
const LONGEST: Duration = Duration::from_secs(1_800);

/// Objects of a file with one in each line; a last line that was cut off is left out.
pub fn lines<T: serde::de::DeserializeOwned>(path: &Path) -> Vec<T> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Where [`kept`] leaves the Verilog of the models.
pub fn models(directory: &Path) -> PathBuf {
    directory.join("models")
}

/// The tests of `programs` and their models. What an earlier run with this `directory` found out about the same programs is kept.
///
/// # Errors
/// The errors of [`discover`], and when `directory` cannot be written.
pub fn kept(
    directory: &Path,
    programs: &[Program],
    variables: &[(&str, &str)],
    before: impl Fn(&Program, &str),
) -> anyhow::Result<Vec<Test>> {
    let overlay = models(directory);
    fs::create_dir_all(&overlay).with_context(|| format!("cannot make {}", overlay.display()))?;
    let log = directory.join("tests.jsonl");
    let mut known: Vec<Test> = lines(&log);
    known.retain(|test| {
        let is_kept = |model: &String| overlay.join(format!("{model}.v")).is_file();
        test.is_current() && test.models.iter().all(is_kept)
    });
    let file = RefCell::new(File::create(&log)?);
    let write = |test: &Test| -> anyhow::Result<()> {
        Ok(writeln!(
            file.borrow_mut(),
            "{}",
            serde_json::to_string(test)?
        )?)
    };
    known.iter().try_for_each(write)?;
    discover(programs, &overlay, variables, &known, before, write)
}

/// Runs every test of `programs` once and keeps what it builds in `overlay`. Tests that are in `known` are not run again.
/// Calls `before` before each test, and `after` when the test has ended.
///
/// # Errors
/// When a program cannot be run, or a test fails on the Verilog as it is.
pub fn discover(
    programs: &[Program],
    overlay: &Path,
    variables: &[(&str, &str)],
    known: &[Test],
    before: impl Fn(&Program, &str),
    after: impl Fn(&Test) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<Test>> {
    let known: BTreeMap<_, _> = known
        .iter()
        .map(|test| ((&test.program.path, &test.name), test))
        .collect();
    let mut found = vec![];
    for program in programs {
        for name in program.tests()? {
            if let Some(test) = known.get(&(&program.path, &name)) {
                found.push((*test).clone());
                continue;
            }
            before(program, &name);
            let test = record(program, name, overlay, variables)?;
            after(&test)?;
            found.push(test);
        }
    }
    Ok(found)
}

fn record(
    program: &Program,
    name: String,
    overlay: &Path,
    variables: &[(&str, &str)],
) -> anyhow::Result<Test> {
    let own = overlay.join("of_one_test");
    if own.exists() {
        fs::remove_dir_all(&own)?;
    }
    fs::create_dir_all(&own)?;
    let directory = own
        .to_str()
        .context("the path of the checkout is no text")?;
    let variables = [&[(OVERLAY, directory)], variables].concat();
    let began = Instant::now();
    let outcome = program.run(std::slice::from_ref(&name), &variables, LONGEST)?;
    if outcome != Outcome::Passed {
        bail!(
            "{name} of {} does not pass on the Verilog as it is ({outcome:?}): nothing can be said about mutants",
            program.package
        );
    }
    let seconds = began.elapsed().as_secs_f64();
    let mut models = BTreeSet::new();
    for file in fs::read_dir(&own)? {
        let path = file?.path();
        let model = path.file_stem().and_then(|stem| stem.to_str());
        let model = model.context("a model has a name")?.to_owned();
        fs::rename(&path, overlay.join(format!("{model}.v")))?;
        models.insert(model);
    }
    Ok(Test {
        program: program.clone(),
        name,
        models,
        seconds,
        built: built(program),
    })
}
