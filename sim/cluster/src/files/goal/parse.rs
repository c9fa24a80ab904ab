//! The operations of a schedule.

use std::collections::HashMap;

use super::super::lines::{FileError, Line, LineProblem, Lines};
use super::{Action, Operation};
use crate::workload::Flow;

/// Longest computation: 1,000 s in nanoseconds.
const LONGEST: u64 = 1_000_000_000_000;

const STATEMENTS: &str = "a rank has lines like \"l1: send 10b to 1 tag 0\", \"l2: recv 10b from 1 tag 0\", \"l3: calc 100\", \"l2 requires l1\" and \"l2 irequires l1\", and ends with }";

struct Parser<'a> {
    hosts: usize,
    ranks: Option<u32>,
    /// The rank whose braces are open.
    rank: Option<u32>,
    seen: Vec<u32>,
    operations: Vec<Operation<'a>>,
    labels: HashMap<(u32, &'a str), usize>,
}

/// All operations of a text, rank by rank.
pub(super) fn operations<'a>(
    file: &'a str,
    text: &'a str,
    hosts: usize,
) -> Result<Vec<Operation<'a>>, FileError> {
    let lines = Lines { file, text };
    let mut parser = Parser {
        hosts,
        ranks: None,
        rank: None,
        seen: Vec::new(),
        operations: Vec::new(),
        labels: HashMap::new(),
    };
    for mut line in lines.words() {
        let comment = line.words.iter().position(|word| word.starts_with("//"));
        line.words.truncate(comment.unwrap_or(usize::MAX));
        if !line.words.is_empty() {
            parser.read(&line)?;
        }
    }
    if parser.ranks.is_none() {
        return Err(lines.error(LineProblem::Missing("num_ranks")));
    }
    if parser.rank.is_some() {
        return Err(lines.error(LineProblem::Missing("the } of the last rank")));
    }
    Ok(parser.operations)
}

fn unknown(line: &Line, word: &str, expected: &'static str) -> FileError {
    line.error(LineProblem::Unknown {
        word: word.into(),
        expected,
    })
}

/// Nothing follows word `count` of a line.
fn ends(line: &Line, count: usize, expected: &'static str) -> Result<(), FileError> {
    match line.words.get(count) {
        Some(word) => Err(unknown(line, word, expected)),
        None => Ok(()),
    }
}

impl<'a> Parser<'a> {
    fn read(&mut self, line: &Line<'a>) -> Result<(), FileError> {
        let first = line.words[0];
        match self.rank {
            None if first == "num_ranks" => self.count(line),
            None if first == "rank" => self.open(line),
            None => Err(unknown(
                line,
                first,
                "num_ranks stands first, and then a block like \"rank 0 {\" for each rank",
            )),
            Some(_) if first == "}" => {
                self.rank = None;
                ends(line, 1, "nothing follows }")
            }
            Some(rank) => match first.strip_suffix(':') {
                Some(label) => self.operation(line, rank, label),
                None => self.dependency(line, rank),
            },
        }
    }

    fn count(&mut self, line: &Line) -> Result<(), FileError> {
        if self.ranks.is_some() {
            return Err(line.error(LineProblem::Twice("num_ranks".into())));
        }
        let hosts = self.hosts;
        let expected = format!("2 to {hosts}, the hosts of the topology");
        let accept = |&ranks: &u32| ranks >= 2 && ranks as usize <= hosts;
        self.ranks = Some(line.number(1, "num_ranks", &expected, accept)?);
        ends(line, 2, "num_ranks has one number")
    }

    fn open(&mut self, line: &Line) -> Result<(), FileError> {
        let rank = self.rank_at(line, 1, "the rank")?;
        if line.words.get(2) != Some(&"{") {
            return Err(line.error(LineProblem::Missing("the { behind the number of the rank")));
        }
        if self.seen.contains(&rank) {
            return Err(line.error(LineProblem::Twice(format!("rank {rank}"))));
        }
        self.seen.push(rank);
        self.rank = Some(rank);
        ends(line, 3, "nothing follows {")
    }

    fn rank_at(&self, line: &Line, index: usize, key: &str) -> Result<u32, FileError> {
        let ranks = self
            .ranks
            .ok_or_else(|| line.error(LineProblem::Missing("num_ranks before the first rank")))?;
        let expected = format!("0 to {}", ranks - 1);
        line.number(index, key, &expected, |&rank: &u32| rank < ranks)
    }

    fn operation(&mut self, line: &Line<'a>, rank: u32, label: &'a str) -> Result<(), FileError> {
        let kind = line.words.get(1).copied().unwrap_or("");
        let (action, count) = match kind {
            "calc" => {
                let expected = "nanoseconds from 0 to 1000000000000 (1,000 s)";
                let time = line.number(2, "calc", expected, |&time| time <= LONGEST)?;
                (Action::Compute(time), 3)
            }
            "send" => {
                let (bytes, to, tag) = self.message(line, rank, "to")?;
                (Action::Send { bytes, to, tag }, 7)
            }
            "recv" => {
                let (bytes, from, tag) = self.message(line, rank, "from")?;
                (Action::Receive { bytes, from, tag }, 7)
            }
            _ => return Err(unknown(line, kind, STATEMENTS)),
        };
        // Every operation of a rank may have its processor and its NIC at the end.
        for pair in line.words.get(count..).unwrap_or_default().chunks(2) {
            if !matches!(pair, ["cpu" | "nic", number] if number.parse::<u32>().is_ok()) {
                return Err(unknown(
                    line,
                    pair[0],
                    "an operation ends with nothing, \"cpu\" and a number, or \"nic\" and a number",
                ));
            }
        }
        let index = self.operations.len();
        if self.labels.insert((rank, label), index).is_some() {
            return Err(line.error(LineProblem::Twice(format!("label {label} of rank {rank}"))));
        }
        self.operations.push(Operation {
            rank,
            label,
            line: line.number,
            action,
            requires: Vec::new(),
            requires_start: Vec::new(),
        });
        Ok(())
    }

    /// Bytes, other rank and tag of `send 10b to 1 tag 0`.
    fn message(
        &self,
        line: &Line,
        rank: u32,
        direction: &'static str,
    ) -> Result<(u64, u32, u32), FileError> {
        let size = line.words.get(2).copied().unwrap_or("");
        let bytes = size.strip_suffix('b').unwrap_or("");
        let expected = "a number with a b, 0b to 68719476736b (64 GiB)";
        let bytes = line.parsed(bytes, "the size", expected, |&bytes: &u64| {
            bytes <= Flow::MAX_BYTES
        })?;
        for (index, word) in [(3, direction), (5, "tag")] {
            let found = line.words.get(index).copied().unwrap_or("");
            if found != word {
                return Err(unknown(line, found, STATEMENTS));
            }
        }
        let other = self.rank_at(line, 4, "the other rank")?;
        if other == rank {
            let text = "a rank has no message to itself; use calc";
            return Err(line.error(LineProblem::Contradiction(text.into())));
        }
        let tag = line.number(6, "tag", "a number from 0 to 4294967295", |_| true)?;
        Ok((bytes, other, tag))
    }

    fn dependency(&mut self, line: &Line<'a>, rank: u32) -> Result<(), FileError> {
        let &[later, kind, earlier] = line.words.as_slice() else {
            return Err(unknown(line, line.words[0], STATEMENTS));
        };
        let find = |label: &str| {
            let found = self.labels.get(&(rank, label)).copied();
            found
                .ok_or_else(|| unknown(line, label, "name the label of a line above, of this rank"))
        };
        let (later, earlier) = (find(later)?, find(earlier)?);
        let operation = &mut self.operations[later];
        match kind {
            "requires" => operation.requires.push(earlier),
            "irequires" => operation.requires_start.push(earlier),
            _ => return Err(unknown(line, kind, STATEMENTS)),
        }
        Ok(())
    }
}
