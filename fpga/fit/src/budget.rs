//! What a card may use, what it is allowed to miss today, and what it was when it was last recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cells::{Area, Driver};
use crate::report::Report;
use crate::{FitError, Net};

/// The budget of a board's card: a file that is written by hand (`fpga/budgets/BOARD.toml`).
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// What the device has.
    pub device: Area,
    /// What the card shall keep to.
    pub goal: Goal,
}

/// What a card shall keep to.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// Largest share of each resource of the device, in per cent.
    pub percent: f64,
    /// Levels between registers ([`crate::Path::levels`]).
    pub levels: u32,
    /// Pins that a cell drives. The placer replicates the driver of a wider net, if it is a register or a LUT (`fpga/tcl/place.tcl`).
    pub loads: u32,
    /// Cells that drive such a net in the end. A net that needs more has no plan.
    pub copies: u32,
}

/// Where a card stood when it was recorded: a file that the program writes (`docs/area`).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Date of the commit that was measured.
    pub source: String,
    /// What the card misses of its goal. More is not accepted.
    pub allowed: Misses,
    /// Cells of the whole card.
    pub total: Area,
    /// Cells by instance.
    pub blocks: BTreeMap<String, Area>,
}

/// By how much a card misses its goal.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misses {
    /// End points above the levels of the goal.
    pub end_points: usize,
    /// Levels of the longest path.
    pub levels: f64,
    /// Nets above the loads of the goal that the placer does not replicate.
    pub nets: usize,
    /// Loads of the widest of them; without one, 0.
    pub loads: u32,
    /// Memories that are not what they were declared to be.
    pub memories: usize,
}

/// What a check found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Verdict {
    /// Broken budgets.
    pub broken: Vec<String>,
    /// What is better than recorded, so that the record can be tightened.
    pub better: Vec<String>,
}

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, FitError> {
    let text = fs::read_to_string(path).map_err(FitError::file(path))?;
    toml::from_str(&text).map_err(|error| FitError::Budget {
        path: path.into(),
        reason: error.to_string(),
    })
}

impl Budget {
    /// Reads a file.
    ///
    /// # Errors
    /// [`FitError`] if the file cannot be read or is no budget.
    pub fn read(path: &Path) -> Result<Self, FitError> {
        read(path)
    }

    /// Share of each resource of the device: its name, the number used, that of the device, per cent.
    pub fn shares(&self, used: &Area) -> [(&'static str, f64, f64, f64); 5] {
        let share = |name, used: f64, of: f64| (name, used, of, 100.0 * used / of);
        [
            share("LUT", used.lut as f64, self.device.lut as f64),
            share("FF", used.ff as f64, self.device.ff as f64),
            share("BRAM36", used.bram, self.device.bram),
            share("URAM", used.uram as f64, self.device.uram as f64),
            share("DSP", used.dsp as f64, self.device.dsp as f64),
        ]
    }

    /// Whether the placer replicates the driver of a net, in as many copies as the goal allows.
    pub fn is_replicated(&self, net: &Net) -> bool {
        net.driver != Driver::Other && net.copies(self.goal.loads) <= self.goal.copies
    }

    /// Nets above the limit that the placer does not replicate.
    pub fn unplanned<'a>(&self, nets: &'a [Net]) -> Vec<&'a Net> {
        let alone = |net: &&Net| !self.is_replicated(net);
        nets.iter().filter(alone).collect()
    }

    /// By how much a card misses its goal.
    pub fn misses(&self, report: &Report) -> Misses {
        let nets = self.unplanned(&report.nets);
        Misses {
            end_points: report.timing.above,
            levels: report.timing.worst,
            nets: nets.len(),
            loads: nets.iter().map(|net| net.loads).max().unwrap_or(0),
            memories: report.memories.len(),
        }
    }

    /// Holds a card against its goal.
    pub fn check(&self, report: &Report) -> Verdict {
        let mut verdict = self.check_shares(report);
        let (goal, is) = (&self.goal, self.misses(report));
        if is.end_points > 0 {
            verdict.broken.push(format!(
                "{} end points are behind more than {} levels, the worst behind {}",
                is.end_points, goal.levels, is.levels
            ));
        }
        if is.nets > 0 {
            verdict.broken.push(format!(
                "{} nets have more than {} loads, and the placer does not replicate their drivers; the widest has {}",
                is.nets, goal.loads, is.loads
            ));
        }
        if is.memories > 0 {
            let broken = format!("{} memories are not of their declared style", is.memories);
            verdict.broken.push(broken);
        }
        verdict
    }

    /// Holds a card against what was recorded: it may miss its goal by as much, and by no more.
    pub fn check_record(&self, report: &Report, record: &Record) -> Verdict {
        let mut verdict = self.check_shares(report);
        let (is, was) = (self.misses(report), &record.allowed);
        let mut compare = |what: &str, is: f64, was: f64| {
            let line = format!("{what}: {is}, {was} when it was recorded");
            if is > was {
                verdict.broken.push(line);
            } else if is < was {
                verdict.better.push(line);
            }
        };
        let levels = self.goal.levels;
        let points = format!("end points behind more than {levels} levels");
        compare(&points, is.end_points as f64, was.end_points as f64);
        // A longest path within the goal is not worth a line.
        let longest = |x: f64| x.max(f64::from(levels));
        compare(
            "levels of the longest path",
            longest(is.levels),
            longest(was.levels),
        );
        let nets = format!("nets of more than {} loads without a plan", self.goal.loads);
        compare(&nets, is.nets as f64, was.nets as f64);
        compare(
            "loads of the widest of them",
            is.loads.into(),
            was.loads.into(),
        );
        let memories = "memories that are not of their declared style";
        compare(memories, is.memories as f64, was.memories as f64);
        verdict
    }

    /// The resources of which `used` is more than `most` per cent of the device, a line for each.
    pub fn shares_above(&self, used: &Area, most: f64) -> Vec<String> {
        let above = |(name, used, of, percent): (&str, f64, f64, f64)| {
            (percent > most)
                .then(|| format!("{used} of {of} {name} are {percent:.1} %, more than {most} %"))
        };
        self.shares(used).into_iter().filter_map(above).collect()
    }

    fn check_shares(&self, report: &Report) -> Verdict {
        Verdict {
            broken: self.shares_above(&report.total, self.goal.percent),
            ..Verdict::default()
        }
    }
}

impl Record {
    /// What is to be recorded of a card.
    pub fn of(budget: &Budget, report: &Report, source: &str) -> Self {
        Self {
            source: source.into(),
            allowed: budget.misses(report),
            total: report.total,
            blocks: report.blocks.clone(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`FitError`] if the file cannot be read or is no record.
    pub fn read(path: &Path) -> Result<Self, FitError> {
        read(path)
    }

    /// Writes a file.
    ///
    /// # Errors
    /// [`FitError::File`].
    pub fn write(&self, path: &Path) -> Result<(), FitError> {
        let text = toml::to_string(self).map_err(|error| FitError::Budget {
            path: path.into(),
            reason: error.to_string(),
        })?;
        let head = "# Written by `./stellar synth --check --record` (docs/area.md).\n\n";
        fs::write(path, head.to_owned() + &text).map_err(FitError::file(path))
    }

    /// What grew or shrank since: instance, cells then, cells now. An instance that only one of both has is empty in the other.
    pub fn growth(&self, report: &Report) -> Vec<(String, Area, Area)> {
        let mut names: Vec<&String> = self.blocks.keys().chain(report.blocks.keys()).collect();
        names.sort();
        names.dedup();
        let of = |blocks: &BTreeMap<String, Area>, name: &String| {
            blocks.get(name).copied().unwrap_or_default()
        };
        let both = |name: &String| {
            let (was, is) = (of(&self.blocks, name), of(&report.blocks, name));
            (name.clone(), was, is)
        };
        let all = names.into_iter().map(both);
        all.filter(|(_, was, is)| was != is).collect()
    }
}
