//! Counterexamples: the inputs of a run that violates a property.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;

use crate::problem::Problem;

/// The inputs of a run, cycle by cycle.
#[derive(Debug)]
pub struct Trace {
    /// The cycle of the violation.
    pub frame: usize,
    /// The inputs in the order of the ports, and their value in each cycle in hexadecimal.
    pub inputs: Vec<(String, Vec<String>)>,
}

impl Trace {
    /// Reads the run that ABC wrote to `file`: `input[bit]@cycle=value`.
    pub(crate) fn read(problem: &Problem, file: &Path, frame: usize) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("ABC wrote no counterexample to {}", file.display()))?;
        let bits = parse(&text);
        let inputs = problem.inputs.iter().filter(|(name, _)| name != "clock");
        let values = |(name, width): &(String, usize)| {
            let cycles = (0..=frame).map(|cycle| hexadecimal(&bits, name, cycle, *width));
            (name.clone(), cycles.collect())
        };
        Ok(Self {
            frame,
            inputs: inputs.map(values).collect(),
        })
    }
}

/// Name of an input, cycle and bit.
type Place = (String, usize, usize);

/// Reads the bits that are set. Start values of registers are among them, under names that no input has.
fn parse(text: &str) -> BTreeSet<Place> {
    let place = |word: &str| {
        let (name, rest) = word.rsplit_once('@')?;
        let cycle = rest.strip_suffix("=1")?.parse().ok()?;
        let (name, bit) = match name.strip_suffix(']').and_then(|n| n.rsplit_once('[')) {
            Some((name, bit)) => (name, bit.parse().ok()?),
            None => (name, 0),
        };
        Some((name.to_owned(), cycle, bit))
    };
    text.split_whitespace().filter_map(place).collect()
}

fn hexadecimal(set: &BTreeSet<Place>, name: &str, cycle: usize, width: usize) -> String {
    let digit = |at: usize| {
        let bit = |b: &usize| set.contains(&(name.to_owned(), cycle, 4 * at + b));
        let value: u32 = (0..4).filter(bit).map(|b| 1 << b).sum();
        char::from_digit(value, 16).expect("below 16")
    };
    (0..width.div_ceil(4)).rev().map(digit).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn bits_of_an_input_become_words() {
        let set = super::parse("a[0]@0=1 a[5]@0=1 b@0=0 a[0]@1=0 a[1]@1=1 b@1=1 DONE");
        let value = |name, cycle, width| super::hexadecimal(&set, name, cycle, width);
        assert_eq!(value("a", 0, 6), "21");
        assert_eq!(value("a", 1, 6), "02");
        assert_eq!(
            (value("b", 0, 1), value("b", 1, 1)),
            ("0".into(), "1".into())
        );
    }
}
