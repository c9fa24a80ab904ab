//! Flow files of ConWeave's simulator: the number of flows, then a line for each with source, destination, priority group, bytes and start.

use sim_net::{HostId, Time};

use super::lines::{FileError, LineProblem, Lines};
use crate::workload::{Flow, Start, Workload};

/// Columns of a flow.
const COLUMNS: usize = 5;
/// Latest start in seconds.
const LATEST: f64 = 1e6;

/// Reads the text of a flow file for a topology of `hosts` hosts; errors call it `file`. Starts are seconds. Hosts are numbers from 0, and the
/// priority group is read and has no effect.
///
/// # Errors
/// [`FileError`], with the line.
pub fn read_conweave_flows(file: &str, text: &str, hosts: usize) -> Result<Workload, FileError> {
    let lines = Lines { file, text };
    let mut rows = lines.words();
    let first = rows.next();
    let first = first.ok_or_else(|| lines.error(LineProblem::Missing("the number of flows")))?;
    let said: u64 = first.number(0, "the number of flows", "a number", |_| true)?;
    if first.words.len() > 1 {
        return Err(first.error(LineProblem::Unknown {
            word: first.words[1].into(),
            expected: "the first line has the number of flows alone",
        }));
    }
    let mut workload = Workload::default();
    for (id, line) in (1..).zip(rows) {
        if let Some(&word) = line.words.get(COLUMNS) {
            return Err(line.error(LineProblem::Unknown {
                word: word.into(),
                expected: "a flow has five columns: source, destination, priority group, bytes, start in seconds",
            }));
        }
        let expected = format!("0 to {}", hosts.saturating_sub(1));
        let host = |at, key| {
            line.number(at, key, &expected, |&host: &u32| (host as usize) < hosts)
                .map(HostId)
        };
        let (src, dst) = (host(0, "the source")?, host(1, "the destination")?);
        if src == dst {
            let text = "source and destination are the same; name two hosts";
            return Err(line.error(LineProblem::Contradiction(text.into())));
        }
        line.number(2, "the priority group", "0 to 7", |&group: &u8| group < 8)?;
        let bytes = line.number(3, "the size", "1 to 68719476736 bytes (64 GiB)", |bytes| {
            (1..=Flow::MAX_BYTES).contains(bytes)
        })?;
        let start = line.number(
            4,
            "the start",
            "seconds from 0 to 1000000",
            |start: &f64| (0.0..=LATEST).contains(start),
        )?;
        workload.add_flow(Flow {
            id,
            src,
            dst,
            bytes,
            start: Start::At((start * 1e12).round() as Time),
            on_sent: None,
            on_received: None,
        });
    }
    let found = workload.flows.len() as u64;
    if said != found {
        let what = "the first line says";
        return Err(lines.error(LineProblem::Count { what, said, found }));
    }
    Ok(workload)
}
