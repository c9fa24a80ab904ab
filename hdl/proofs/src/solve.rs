//! Decides questions with ABC: bounded model checking first, then k-induction, which proves a property that is an inductive invariant itself, or properties that are
//! one together, then property directed reachability (PDR, IC3), which finds one.

use std::time::{Duration, Instant};

use anyhow::bail;

use crate::problem::{Kind, Problem};
use crate::tools::{run_for, Tools};
use crate::trace::Trace;

/// Cycles of the first search for a violation.
const FIRST_DEPTH: usize = 10;

/// Cycles of the induction, at most. The first search has covered its base.
const INDUCTION: usize = 3;
/// Conflicts of the SAT solver in the induction, at most. A property that is an invariant takes fewer.
const INDUCTION_CONFLICTS: usize = 1_000_000;
/// Seconds of the induction, at most.
const INDUCTION_SECONDS: u64 = 10;

/// ABC looks at the clock between steps, and one step may take hours. So it is stopped when it is this much too late.
const GRACE: Duration = Duration::from_secs(3);

/// How long to look.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Cycles of bounded model checking.
    pub depth: usize,
    /// Seconds of each engine, for one property.
    pub seconds: u64,
}

impl Limits {
    /// ABC's command for a search for a violation in the first `depth` cycles.
    fn bounded(self, depth: usize) -> String {
        format!("bmc3 -F {depth} -T {}", self.seconds)
    }

    /// When an engine is stopped.
    fn until_stopped(self) -> Duration {
        Duration::from_secs(self.seconds) + GRACE
    }
}

/// An answer.
#[derive(Debug)]
pub enum Verdict {
    /// It holds in every cycle of every run: there is an inductive invariant.
    Proved,
    /// No violation in this many first cycles; no invariant was found.
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
    if kind == Kind::Holds && problem.together.get() == Some(&true) {
        return Ok((Verdict::Proved, begin.elapsed()));
    }
    let cex = problem.directory.join(format!("{index}.cex"));
    let ask = |engine: &str| {
        let command = format!(
            "read_aiger {}; strash; cone -s -O {index}; {engine}; write_cex -n {}",
            problem.file("aig").display(),
            cex.display()
        );
        // A file of an earlier question must not be taken for this one's.
        let _ = std::fs::remove_file(&cex);
        run_for(&tools.abc, &["-c", &command], limits.until_stopped())
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
    // Returns an answer, or the cycles without a violation.
    let search = |depth: usize| -> anyhow::Result<Result<Verdict, Option<usize>>> {
        let Some(said) = ask(&limits.bounded(depth))? else {
            return Ok(Err(None));
        };
        if let Some(verdict) = found(&said)? {
            return Ok(Ok(verdict));
        }
        match number_after(&said, "No output asserted in ") {
            Some(depth) => Ok(Err(Some(depth))),
            None => bail!("ABC's answer is not understood: {said}"),
        }
    };
    // Searches in twice as many cycles each time. A search that was stopped says nothing of the cycles that it finished, so the next one is not much deeper.
    let deepen = |mut known: usize| -> anyhow::Result<Result<Verdict, usize>> {
        while known < limits.depth {
            let next = limits.depth.min(known * 2).max(1);
            match search(next)? {
                Ok(verdict) => return Ok(Ok(verdict)),
                Err(Some(depth)) if depth >= next => known = depth,
                Err(depth) => return Ok(Err(known.max(depth.unwrap_or(0)))),
            }
        }
        Ok(Err(known))
    };
    // A few cycles first: the shortest violation is the easiest to read. Many take longer than the proof.
    let mut known = match search(limits.depth.min(FIRST_DEPTH))? {
        Ok(verdict) => return Ok((verdict, begin.elapsed())),
        Err(depth) => depth.unwrap_or(0),
    };
    if kind == Kind::Holds && are_proved_together(problem, limits, tools)? {
        return Ok((Verdict::Proved, begin.elapsed()));
    }
    if kind == Kind::Holds && known >= INDUCTION {
        let seconds = limits.seconds.min(INDUCTION_SECONDS);
        if ask(&induction(seconds))?.is_some_and(|said| said.contains("Networks are equivalent")) {
            return Ok((Verdict::Proved, begin.elapsed()));
        }
    }
    // A run that reaches something is found sooner than an invariant.
    if kind == Kind::Reaches {
        match deepen(known)? {
            Ok(verdict) => return Ok((verdict, begin.elapsed())),
            Err(depth) => known = depth,
        }
    }
    if let Some(said) = ask(&format!("scorr; pdr -nc -T {}", limits.seconds))? {
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
    }
    if kind == Kind::Holds {
        match deepen(known)? {
            Ok(verdict) => return Ok((verdict, begin.elapsed())),
            Err(depth) => known = depth,
        }
    }
    let verdict = match kind {
        Kind::Holds => Verdict::Bounded(known),
        Kind::Reaches => Verdict::Unreached(format!("not in {known} cycles")),
    };
    Ok((verdict, begin.elapsed()))
}

/// ABC's command for a proof by induction.
fn induction(seconds: u64) -> String {
    format!("ind -F {INDUCTION} -C {INDUCTION_CONFLICTS} -T {seconds}")
}

/// Returns whether all properties of a block hold because no run violates any of them first. Only a block whose properties see what is inside is asked.
fn are_proved_together(problem: &Problem, limits: Limits, tools: &Tools) -> anyhow::Result<bool> {
    if let Some(known) = problem.together.get() {
        return Ok(*known);
    }
    let prove = || -> anyhow::Result<bool> {
        for output in problem.first_violations() {
            let command = format!(
                "read_aiger {}; strash; cone -s -O {output}; bmc3 -F {INDUCTION} -T {}; {}",
                problem.file("aig").display(),
                limits.seconds,
                induction(limits.seconds)
            );
            // Each of the two engines may be late.
            let said = run_for(&tools.abc, &["-c", &command], limits.until_stopped() * 2)?;
            let base = format!("No output asserted in {INDUCTION} frames");
            let proved =
                |said: &str| said.contains(&base) && said.contains("Networks are equivalent");
            if !said.is_some_and(|said| proved(&said)) {
                return Ok(false);
            }
        }
        Ok(!problem.first_violations().is_empty())
    };
    let proved = prove()?;
    Ok(*problem.together.get_or_init(|| proved))
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
        "read_aiger {}; strash; cone -s -O {index}; {}",
        problem.file("aig").display(),
        limits.bounded(limits.depth)
    );
    // What is not found here is a blind property, so a slow machine gets more time.
    let said = run_for(&tools.abc, &["-c", &command], limits.until_stopped() * 2)?;
    Ok(said.is_some_and(|said| said.contains("was asserted in frame ")))
}

fn number_after(text: &str, marker: &str) -> Option<usize> {
    let (_, rest) = text.split_once(marker)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
