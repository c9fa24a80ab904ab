//! The table of a run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use stellar_fit::Counts;
use tabled::settings::{object::Columns, Alignment, Style};
use tabled::{Table, Tabled};

/// A block, and what its tests said of its netlist.
#[derive(Tabled)]
pub struct Row {
    pub block: String,
    #[tabled(inline)]
    pub cells: Counts,
    #[tabled(rename = "DSPs")]
    pub multipliers: usize,
    pub tests: usize,
    pub failed: usize,
    /// Wall time of synthesis and tests.
    pub seconds: u64,
}

/// The rows so far, which are in the report's file at any time.
pub struct Report {
    path: PathBuf,
    rows: Vec<Row>,
    failures: Vec<String>,
}

impl Report {
    /// A report in the directory `out`, which is made if it is not there.
    pub fn new(out: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
        Ok(Self {
            path: out.join("report.md"),
            rows: vec![],
            failures: vec![],
        })
    }

    /// Adds a block and says on the error stream what failed.
    pub fn add(&mut self, row: Row, failures: Vec<String>) -> anyhow::Result<()> {
        eprintln!("{}: {} of {} tests fail", row.block, row.failed, row.tests);
        for failure in &failures {
            eprintln!("failed with the netlist of {failure}");
        }
        self.rows.push(row);
        self.failures.extend(failures);
        fs::write(&self.path, self.text() + "\n")
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    pub fn has_failures(&self) -> bool {
        !self.failures.is_empty()
    }

    /// The table and a summary.
    pub fn text(&self) -> String {
        let mut table = Table::new(&self.rows);
        table
            .with(Style::markdown())
            .modify(Columns::new(1..), Alignment::right());
        let (blocks, failures) = (self.rows.len(), &self.failures);
        let tests: usize = self.rows.iter().map(|row| row.tests).sum();
        let summary = match failures.as_slice() {
            [] => format!("{tests} runs of tests pass on the netlists of {blocks} blocks."),
            _ => format!(
                "{} of {tests} runs of tests fail:\n\n- {}",
                failures.len(),
                failures.join("\n- ")
            ),
        };
        format!("{table}\n\n{summary}")
    }
}
