//! Measured values beside the papers' numbers.

use std::fmt;
use std::ops::RangeInclusive;

use serde::Serialize;
use tabled::settings::{object::Columns, Alignment, Style};
use tabled::{Table, Tabled};

/// Whether a value is within its band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    Pass,
    Outside,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pass => "PASS",
            Self::Outside => "OUTSIDE",
        })
    }
}

/// The values that agree with a paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Band {
    pub low: f64,
    pub high: f64,
}

/// One measured value. Without a band it is there to be read only.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Number of the figure in the paper.
    pub figure: u8,
    pub what: String,
    pub value: f64,
    pub unit: &'static str,
    /// The paper's number or statement.
    pub paper: &'static str,
    pub band: Option<Band>,
    pub verdict: Option<Verdict>,
}

impl Row {
    /// A value without a band.
    pub fn new(figure: u8, what: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self {
            figure,
            what: what.into(),
            value,
            unit,
            paper: "",
            band: None,
            verdict: None,
        }
    }

    /// Adds the paper's number.
    pub fn of_paper(mut self, paper: &'static str) -> Self {
        self.paper = paper;
        self
    }

    /// Adds the band.
    pub fn within(mut self, band: RangeInclusive<f64>) -> Self {
        self.verdict = Some(match band.contains(&self.value) {
            true => Verdict::Pass,
            false => Verdict::Outside,
        });
        let (low, high) = band.into_inner();
        self.band = Some(Band { low, high });
        self
    }
}

#[derive(Tabled)]
struct Shown {
    figure: u8,
    what: String,
    value: String,
    unit: &'static str,
    paper: &'static str,
    band: String,
    verdict: String,
}

/// Prints rows as a table, and how many are within their bands.
pub fn print(rows: &[Row]) {
    let shown = rows.iter().map(|row| Shown {
        figure: row.figure,
        what: row.what.clone(),
        value: format!("{:.2}", row.value),
        unit: row.unit,
        paper: row.paper,
        band: row.band.map_or_else(String::new, |band| match band {
            Band { low, high } if low == high => format!("{low}"),
            Band { low, high } => format!("{low} to {high}"),
        }),
        verdict: row.verdict.map_or_else(String::new, |v| v.to_string()),
    });
    let mut table = Table::new(shown);
    table
        .with(Style::sharp())
        .modify(Columns::new(2..3), Alignment::right());
    println!("{table}");
    let judged = rows.iter().filter_map(|row| row.verdict);
    let passed = judged.clone().filter(|v| *v == Verdict::Pass).count();
    println!(
        "{passed} of {} rows with a band are within it",
        judged.count()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_includes_its_ends_and_nothing_else() {
        let verdict = |value| {
            Row::new(8, "x", value, "Gb/s")
                .within(165.0..=175.0)
                .verdict
        };
        for (value, expected) in [
            (164.9, Verdict::Outside),
            (165.0, Verdict::Pass),
            (175.0, Verdict::Pass),
            (175.1, Verdict::Outside),
            (f64::NAN, Verdict::Outside),
        ] {
            assert_eq!(verdict(value), Some(expected), "{value}");
        }
        assert_eq!(Row::new(8, "x", 1.0, "Gb/s").verdict, None);
    }
}
