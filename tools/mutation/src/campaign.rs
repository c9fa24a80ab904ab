//! Runs mutants against the tests of their blocks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use serde::{Deserialize, Serialize};

use crate::discovery::Test;
use crate::plan::{tests_of, Block, Mutant};
use crate::programs::{Outcome, Program, OVERLAY};
use crate::schema::SELECTOR;

/// A mutant may take this many times as long as the tests take without a mutant, and at least [`LEAST`].
const PATIENCE: u32 = 4;
const LEAST: Duration = Duration::from_secs(20);
/// A test that takes longer runs after the others.
const MOMENT: f64 = 2.0;
/// How much longer the second round may take than the first.
const THOROUGH: u32 = 10;
/// Longest time for the tests of a block without a mutant, with the time to build its models.
const LONGEST: Duration = Duration::from_secs(3_600);

/// How a mutant ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// A test failed.
    Killed,
    /// A test did not end.
    TimedOut,
    /// No test failed.
    Survived,
}

/// A mutant and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    pub mutant: Mutant,
    pub fate: Fate,
    /// The program whose test found it.
    pub by: Option<String>,
    pub seconds: f64,
}

/// What all mutants have in common.
pub struct Campaign<'a> {
    pub overlay: &'a Path,
    pub blocks: &'a [Block],
    pub tests: &'a [Test],
    /// Environment of the tests in the first round.
    pub quick: Vec<(&'a str, &'a str)>,
    /// Environment of the tests in the second round, which runs the mutants that survive the first.
    pub thorough: Vec<(&'a str, &'a str)>,
    /// Mutants that run at the same time.
    pub jobs: usize,
    /// No mutant begins later.
    pub deadline: Option<Instant>,
    /// What was measured so far.
    pub measured: Measured,
}

/// Tests of a program that can find the mutants of a block.
struct Round<'a> {
    program: &'a Program,
    tests: Vec<String>,
    limit: Duration,
}

/// Time limits of programs with these of their tests, which blocks share.
pub type Measured = Mutex<BTreeMap<(PathBuf, Vec<String>), Duration>>;

impl Campaign<'_> {
    /// Runs `mutants` block by block; `judged` gets each as it ends. Returns whether there was time for all of them.
    ///
    /// # Errors
    /// When a program cannot be run, or tests fail without a mutant.
    pub fn run(
        &self,
        mutants: &[Mutant],
        started: impl Fn(&Block),
        judged: impl Fn(Judged) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<bool> {
        for block in self.blocks {
            let own: Vec<&Mutant> = mutants.iter().filter(|m| m.block == block.name).collect();
            if own.is_empty() {
                continue;
            }
            if self.is_over() {
                return Ok(false);
            }
            started(block);
            let rounds = self.rounds(block)?;
            if !self.run_block(&own, &rounds, &judged)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_over(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn run_block(
        &self,
        mutants: &[&Mutant],
        rounds: &[Round],
        judged: &(impl Fn(Judged) -> anyhow::Result<()> + Sync),
    ) -> anyhow::Result<bool> {
        let next = AtomicUsize::new(0);
        let failure = Mutex::new(None);
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| {
                    while !self.is_over() {
                        let Some(mutant) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) else {
                            return;
                        };
                        if let Err(error) = self.judge(mutant, rounds).and_then(judged) {
                            *failure.lock().expect("no thread panics with it") = Some(error);
                            return;
                        }
                    }
                });
            }
        });
        match failure.into_inner().expect("no thread panics with it") {
            Some(error) => Err(error),
            None => Ok(next.into_inner() >= mutants.len()),
        }
    }

    fn judge(&self, mutant: &Mutant, rounds: &[Round]) -> anyhow::Result<Judged> {
        let began = Instant::now();
        let number = mutant.number.to_string();
        let mut fate = (Fate::Survived, None);
        let quick = rounds.iter().map(|round| (round, &self.quick, round.limit));
        let thorough = rounds
            .iter()
            .map(|round| (round, &self.thorough, round.limit * THOROUGH));
        for (round, variables, limit) in quick.chain(thorough) {
            let variables = [
                &self.overlay_of()?[..],
                &[(SELECTOR, number.as_str())],
                variables,
            ]
            .concat();
            let found = match round.program.run(&round.tests, &variables, limit)? {
                Outcome::Passed => continue,
                Outcome::Failed => Fate::Killed,
                Outcome::TimedOut => Fate::TimedOut,
            };
            fate = (
                found,
                Some(format!(
                    "{}::{}",
                    round.program.package, round.program.target
                )),
            );
            break;
        }
        Ok(Judged {
            mutant: mutant.clone(),
            fate: fate.0,
            by: fate.1,
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    fn overlay_of(&self) -> anyhow::Result<[(&str, &str); 1]> {
        let overlay = self
            .overlay
            .to_str()
            .context("the path of the checkout is no text")?;
        Ok([(OVERLAY, overlay)])
    }

    /// Builds the models of a block's tests, sees that the tests pass without a mutant, and measures them.
    fn rounds(&self, block: &Block) -> anyhow::Result<Vec<Round<'_>>> {
        // Most mutants are found by a test that takes a moment: those come first.
        let mut rounds: BTreeMap<(bool, &Path), Round> = BTreeMap::new();
        for test in tests_of(block, self.tests) {
            let key = (test.seconds > MOMENT, test.program.path.as_path());
            let round = rounds.entry(key).or_insert_with(|| Round {
                program: &test.program,
                tests: vec![],
                limit: LONGEST,
            });
            round.tests.push(test.name.clone());
        }
        let mut rounds: Vec<Round> = rounds.into_values().collect();
        for round in &mut rounds {
            round.limit = self.limit(block, round)?;
        }
        Ok(rounds)
    }

    fn limit(&self, block: &Block, round: &Round) -> anyhow::Result<Duration> {
        let key = (round.program.path.clone(), round.tests.clone());
        if let Some(limit) = self
            .measured
            .lock()
            .expect("no thread panics with it")
            .get(&key)
        {
            return Ok(*limit);
        }
        // The first run builds the models.
        self.pass(block, round)?;
        let limit = LEAST.max(self.pass(block, round)? * PATIENCE);
        self.measured
            .lock()
            .expect("no thread panics with it")
            .insert(key, limit);
        Ok(limit)
    }

    fn pass(&self, block: &Block, round: &Round) -> anyhow::Result<Duration> {
        let variables = [&self.overlay_of()?[..], &self.quick].concat();
        let began = Instant::now();
        let outcome = round.program.run(&round.tests, &variables, LONGEST)?;
        if outcome != Outcome::Passed {
            bail!(
                "the tests of {} in {} do not pass with its mutants built in and none selected ({outcome:?})",
                block.name,
                round.program.package
            );
        }
        Ok(began.elapsed())
    }
}
