//! Schedules in GOAL, the text that LogGOPSim and ATLAHS read: for each rank, sends, receives and computations with labels, and which of them wait for which
//! others.

mod graph;
mod parse;

use super::lines::FileError;
use crate::workload::Workload;

/// Reads the text of a schedule for a topology of `hosts` hosts; errors call it `file`. Rank i is host i. `docs/cluster.md` says what is read and what it means.
///
/// # Errors
/// [`FileError`], with the line.
pub fn read_goal(file: &str, text: &str, hosts: usize) -> Result<Workload, FileError> {
    graph::workload(file, &parse::operations(file, text, hosts)?)
}

/// What an operation does.
#[derive(Clone, Copy, Debug)]
enum Action {
    Send {
        bytes: u64,
        to: u32,
        tag: u32,
    },
    Receive {
        bytes: u64,
        from: u32,
        tag: u32,
    },
    /// Nanoseconds.
    Compute(u64),
}

/// An operation of a rank.
#[derive(Debug)]
struct Operation<'a> {
    rank: u32,
    label: &'a str,
    line: usize,
    action: Action,
    /// Operations that have to be complete before it starts.
    requires: Vec<usize>,
    /// Operations that have to have started before it starts.
    requires_start: Vec<usize>,
}
