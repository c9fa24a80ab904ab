//! Everything that is measured of a design.

use std::collections::BTreeMap;

use crate::blocks::{Blocks, WrongMemory};
use crate::cells::Area;
use crate::design::Design;
use crate::fanout::{self, Net};
use crate::graph::Graph;
use crate::timing::Timing;
use crate::FitError;

/// What to measure against.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Levels that may lie between registers.
    pub levels: u32,
    /// Loads that a net may have.
    pub loads: u32,
    /// Paths to list.
    pub paths: usize,
    /// Instances below the top down to which cells are listed.
    pub depth: usize,
}

/// Everything that is measured of a design.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Cells of the whole design.
    pub total: Area,
    /// Cells by instance, everything below included.
    pub blocks: BTreeMap<String, Area>,
    /// Paths.
    pub timing: Timing,
    /// Nets above the limit.
    pub nets: Vec<Net>,
    /// Memories that are not what they were declared to be.
    pub memories: Vec<WrongMemory>,
}

impl Design {
    /// Measures the design.
    ///
    /// # Errors
    /// [`FitError::Loop`] if cells form a loop without a register.
    pub fn measure(&self, limits: Limits) -> Result<Report, FitError> {
        let graph = Graph::join(self, limits.loads);
        let blocks = Blocks::measure(self, &graph, limits.depth);
        Ok(Report {
            total: blocks.total,
            blocks: blocks.by_path,
            timing: Timing::measure(self, &graph, limits.levels, limits.paths)?,
            nets: fanout::measure(self, &graph, limits.loads),
            memories: blocks.wrong,
        })
    }
}
