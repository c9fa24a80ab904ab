//! What a campaign found: Markdown for readers, JSON for programs.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::campaign::{Fate, Judged};
use crate::explained::{Explanation, Verdict};

/// A survivor and what is known about it.
#[derive(Serialize)]
pub struct Survivor<'a> {
    #[serde(flatten)]
    pub judged: &'a Judged,
    pub explanation: Option<&'a Explanation>,
}

/// Numbers of a block, a crate or all.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Serialize)]
pub struct Score {
    pub mutants: usize,
    pub killed: usize,
    pub timed_out: usize,
    pub equivalent: usize,
    pub accepted: usize,
    pub open: usize,
    pub unexplained: usize,
}

impl Score {
    fn add(&mut self, judged: &Judged, explanation: Option<&Explanation>) {
        self.mutants += 1;
        *match (judged.fate, explanation.map(|e| e.verdict)) {
            (Fate::Killed, _) => &mut self.killed,
            (Fate::TimedOut, _) => &mut self.timed_out,
            (_, Some(Verdict::Equivalent)) => &mut self.equivalent,
            (_, Some(Verdict::Accepted)) => &mut self.accepted,
            (_, Some(Verdict::Open)) => &mut self.open,
            (_, None) => &mut self.unexplained,
        } += 1;
    }

    /// Killed of those that are not equivalent, in percent.
    pub fn percent(&self) -> f64 {
        let possible = self.mutants - self.equivalent;
        if possible == 0 {
            return 100.0;
        }
        100.0 * (self.killed + self.timed_out) as f64 / possible as f64
    }

    fn row(&self, name: &str) -> String {
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {:.0} % |",
            self.mutants,
            self.killed,
            self.timed_out,
            self.equivalent,
            self.accepted,
            self.open,
            self.unexplained,
            self.percent()
        )
    }
}

/// All that a campaign found.
#[derive(Serialize)]
pub struct Report<'a> {
    pub seed: u64,
    pub all: Score,
    pub crates: BTreeMap<&'a str, Score>,
    pub blocks: BTreeMap<&'a str, Score>,
    pub survivors: Vec<Survivor<'a>>,
}

impl<'a> Report<'a> {
    /// Adds it up.
    pub fn of(seed: u64, judged: &'a [Judged], explanations: &'a [Explanation]) -> Self {
        let mut report = Report {
            seed,
            all: Score::default(),
            crates: BTreeMap::new(),
            blocks: BTreeMap::new(),
            survivors: vec![],
        };
        for one in judged {
            let explanation = explanations.iter().find(|e| e.fits(&one.mutant));
            let block = one.mutant.block.as_str();
            let owner = block.split("::").next().unwrap_or(block);
            let scores = [
                &mut report.all,
                report.crates.entry(owner).or_default(),
                report.blocks.entry(block).or_default(),
            ];
            scores
                .into_iter()
                .for_each(|score| score.add(one, explanation));
            if one.fate == Fate::Survived {
                report.survivors.push(Survivor {
                    judged: one,
                    explanation,
                });
            }
        }
        report
    }

    /// The report as Markdown.
    pub fn markdown(&self) -> String {
        let head = "mutants | killed | timed out | equivalent | accepted | open | unexplained | score |\n|---|---|---|---|---|---|---|---|---|\n";
        let mut out = format!(
            "# Mutants of the Verilog, seed {}\n\nScore: killed or timed out, of those that are not equivalent.\n\n| crate | {head}",
            self.seed
        );
        for (name, score) in &self.crates {
            let _ = writeln!(out, "{}", score.row(name));
        }
        let _ = writeln!(out, "{}\n\n| block | {head}", self.all.row("all"));
        // The table's head ends its line already.
        out.truncate(out.trim_end().len());
        out.push('\n');
        for (name, score) in &self.blocks {
            let _ = writeln!(out, "{}", score.row(name));
        }
        out += "\n## Survivors\n";
        if self.survivors.is_empty() {
            out += "None.\n";
        }
        for survivor in &self.survivors {
            let mutant = &survivor.judged.mutant;
            let mutated = match mutant.mutated.as_str() {
                "" => "nothing".into(),
                text => format!("`{text}`"),
            };
            let _ = writeln!(
                out,
                "- `{}`, line {}: `{}`\n  `{}` becomes {mutated}",
                mutant.block, mutant.line, mutant.source, mutant.original
            );
            if let Some(explanation) = survivor.explanation {
                let _ = writeln!(out, "  {}: {}", explanation.verdict, explanation.reason);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::Operator;
    use crate::plan::Mutant;

    fn judged(number: u32, fate: Fate) -> Judged {
        let mutant = Mutant {
            number,
            block: "hdl_a::b::B".into(),
            line: 3,
            source: "assign x = a + b;".into(),
            operator: Operator::Arithmetic,
            original: "a + b".into(),
            mutated: format!("a - b{number}"),
            site: 0,
        };
        Judged {
            mutant,
            fate,
            by: None,
            seconds: 1.0,
        }
    }

    #[test]
    fn equivalent_mutants_do_not_count_against_the_score() {
        let all = [
            judged(1, Fate::Killed),
            judged(2, Fate::TimedOut),
            judged(3, Fate::Survived),
            judged(4, Fate::Survived),
        ];
        let explanation = Explanation {
            block: "hdl_a::b::B".into(),
            line: "assign x = a + b;".into(),
            original: "a + b".into(),
            mutated: "a - b3".into(),
            verdict: Verdict::Equivalent,
            reason: "b is zero".into(),
        };
        let explanations = [explanation];
        let report = Report::of(1, &all, &explanations);
        assert_eq!((report.all.equivalent, report.all.unexplained), (1, 1));
        assert!((report.all.percent() - 66.7).abs() < 0.1);
        let text = report.markdown();
        assert!(
            text.contains("| hdl_a | 4 | 1 | 1 | 1 | 0 | 0 | 1 | 67 % |\n"),
            "{text}"
        );
        assert!(
            text.contains("`a + b` becomes `a - b3`\n  equivalent: b is zero\n"),
            "{text}"
        );
    }
}
