//! Decides questions with ABC: bounded model checking first, then property directed reachability (PDR, IC3), which finds an inductive invariant.

use std::time::{Duration, Instant};

use anyhow::bail;

use crate::problem::{Kind, Problem};
use crate::tools::{run, Tools};
use crate::trace::Trace;

/// Cycles of the first search for a violation.
const FIRST_DEPTH: usize = 10;

/// How long to look.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Cycles of bounded model checking.
    pub depth: usize,
    /// Seconds of each engine, for one property.
    pub seconds: u64,
}

/// An answer.
#[derive(Debug)]
pub enum Verdict {
    /// It holds in every cycle of every run: there is an inductive invariant.
    Proved,
    /// No violation in the first cycles; no invariant was found.
    Bounded(usize),
    /// It is reached in this cycle.
    Reached(usize),
    /// It is not reached in any run, or not in the first cycles.
    Unreached(String),
    /// A run that violates it.
    Violated(Trace),
}

impl Verdict {
    /// Whether the answer is the one that the property asks for.
    pub fn is_good(&self) -> bool {
        matches!(self, Self::Proved | Self::Bounded(_) | Self::Reached(_))
    }
}

/// Decides check number `index` of `problem`. Returns the answer and the time that it took.
///
/// # Errors
/// If ABC cannot be started, or its answer is not understood.
pub fn decide(
    problem: &Problem,
    index: usize,
    limits: Limits,
    tools: &Tools,
) -> anyhow::Result<(Verdict, Duration)> {
    let begin = Instant::now();
    let kind = problem.checks[index].kind;
    let cex = problem.directory.join(format!("{index}.cex"));
    let ask = |engine: &str| {
        let command = format!(
            "read_aiger {}; strash; cone -s -O {index}; {engine}; write_cex -n {}",
            problem.file("aig").display(),
            cex.display()
        );
        // A file of an earlier question must not be taken for this one's.
        let _ = std::fs::remove_file(&cex);
        run(&tools.abc, &["-c", &command])
    };
    let found = |said: &str| -> anyhow::Result<Option<Verdict>> {
        let Some(frame) = number_after(said, "was asserted in frame ") else {
            return Ok(None);
        };
        Ok(Some(match kind {
            Kind::Reaches => Verdict::Reached(frame),
            Kind::Holds => Verdict::Violated(Trace::read(problem, &cex, frame)?),
        }))
    };
    let bounded = |depth| format!("bmc3 -F {depth} -T {}", limits.seconds);
    // A few cycles first: the shortest violation is the easiest to read. Many take longer than the proof.
    let said = ask(&bounded(limits.depth.min(FIRST_DEPTH)))?;
    if let Some(verdict) = found(&said)? {
        return Ok((verdict, begin.elapsed()));
    }
    let said = ask(&format!("scorr; pdr -nc -T {}", limits.seconds))?;
    if let Some(verdict) = found(&said)? {
        return Ok((verdict, begin.elapsed()));
    }
    if said.contains("Property proved") {
        let verdict = match kind {
            Kind::Holds => Verdict::Proved,
            Kind::Reaches => Verdict::Unreached("no run reaches it".into()),
        };
        return Ok((verdict, begin.elapsed()));
    }
    let said = ask(&bounded(limits.depth))?;
    if let Some(verdict) = found(&said)? {
        return Ok((verdict, begin.elapsed()));
    }
    let Some(depth) = number_after(&said, "No output asserted in ") else {
        bail!("ABC's answer is not understood: {said}");
    };
    let verdict = match kind {
        Kind::Holds => Verdict::Bounded(depth),
        Kind::Reaches => Verdict::Unreached(format!("not in {depth} cycles")),
    };
    Ok((verdict, begin.elapsed()))
}

/// Looks for a violation in the first `depth` cycles, and for no proof. Returns whether there is one.
///
/// # Errors
/// If ABC cannot be started.
pub fn refute(
    problem: &Problem,
    index: usize,
    limits: Limits,
    tools: &Tools,
) -> anyhow::Result<bool> {
    let command = format!(
        "read_aiger {}; strash; cone -s -O {index}; bmc3 -F {} -T {}",
        problem.file("aig").display(),
        limits.depth,
        limits.seconds
    );
    Ok(run(&tools.abc, &["-c", &command])?.contains("was asserted in frame "))
}

fn number_after(text: &str, marker: &str) -> Option<usize> {
    let (_, rest) = text.split_once(marker)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
