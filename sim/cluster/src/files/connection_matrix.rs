//! Connection matrices of htsim (`.cm`): flows, their start, and triggers.

use std::collections::HashMap;

use sim_net::HostId;

use super::lines::{FileError, Line, LineProblem, Lines};
use crate::workload::{Flow, Start, TriggerId, TriggerKind, Workload};

/// What a flow's line can have.
const FLOW_WORDS: &str =
    "a flow has id, start or trigger, size, send_done_trigger, recv_done_trigger and prio";

/// Reads the text of a connection matrix for a topology of `hosts` hosts; errors call it `file`. Times are picoseconds, sizes bytes. Priorities are
/// read and have no effect.
///
/// # Errors
/// [`FileError`], with the line.
pub fn read_connection_matrix(file: &str, text: &str, hosts: usize) -> Result<Workload, FileError> {
    let lines = Lines { file, text };
    let mut reader = Reader::default();
    let mut flows = Vec::new();
    for line in lines.words() {
        match line.words[0] {
            "Nodes" => {
                let expected = format!("1 to {hosts}, the hosts of the topology");
                let nodes =
                    line.number(1, "Nodes", &expected, |nodes| (1..=hosts).contains(nodes))?;
                reader.nodes = Some(nodes);
            }
            "Connections" => reader.connections = Some(count(&line)?),
            "Triggers" => reader.triggers = Some(count(&line)?),
            "Failures" => refuse_failures(&line)?,
            "trigger" => reader.trigger(&line)?,
            word => {
                match word.split_once("->") {
                    Some((src, dst)) => flows.push(reader.flow(&line, src, dst)?),
                    None => return Err(line.error(LineProblem::Unknown {
                        word: word.into(),
                        expected:
                            "a line starts with Nodes, Connections, Triggers, trigger or SRC->DST",
                    })),
                }
            }
        }
    }
    reader.finish(&lines, flows)
}

fn count(line: &Line) -> Result<u64, FileError> {
    line.number(1, line.words[0], "a number", |_| true)
}

/// Failures name switches of htsim's fat tree by number, which other topologies do not have.
fn refuse_failures(line: &Line) -> Result<(), FileError> {
    match count(line)? {
        0 => Ok(()),
        _ => Err(line.error(LineProblem::Contradiction(
            "failures are not read; set Failures 0 and give link failures as [[events]] of the topology".into(),
        ))),
    }
}

#[derive(Default)]
struct Reader {
    nodes: Option<usize>,
    connections: Option<u64>,
    triggers: Option<u64>,
    /// Triggers by their id in the file, and whether a line describes them.
    known: HashMap<u64, TriggerId>,
    described: Vec<bool>,
    workload: Workload,
}

impl Reader {
    /// The trigger with this id in the file.
    fn trigger_of(&mut self, id: u64) -> TriggerId {
        let (workload, described) = (&mut self.workload, &mut self.described);
        *self.known.entry(id).or_insert_with(|| {
            described.push(false);
            workload.add_trigger(TriggerKind::OneShot)
        })
    }

    fn flow(&mut self, line: &Line, src: &str, dst: &str) -> Result<Flow, FileError> {
        let nodes = self.nodes;
        let nodes =
            nodes.ok_or_else(|| line.error(LineProblem::Missing("Nodes before the flows")))?;
        let host = |word: &str, key: &str| {
            let expected = format!("0 to {}", nodes - 1);
            line.parsed(word, key, &expected, |&host: &u32| (host as usize) < nodes)
                .map(HostId)
        };
        let (src, dst) = (host(src, "the source")?, host(dst, "the destination")?);
        if src == dst {
            let text = "source and destination are the same; name two hosts";
            return Err(line.error(LineProblem::Contradiction(text.into())));
        }
        let mut flow = Flow {
            id: 0,
            src,
            dst,
            bytes: 0,
            start: Start::At(0),
            on_sent: None,
            on_received: None,
        };
        let (mut start, mut id, mut size) = (None, None, None);
        for at in (1..line.words.len()).step_by(2) {
            let key = line.words[at];
            let number = |expected: &str| line.number(at + 1, key, expected, |&id: &u64| id > 0);
            match key {
                "id" => set(line, key, &mut id, number("a number from 1 on")?)?,
                "size" => {
                    let expected = "1 to 68719476736 bytes (64 GiB)";
                    let bytes = line.number(at + 1, key, expected, |bytes| {
                        (1..=Flow::MAX_BYTES).contains(bytes)
                    })?;
                    set(line, key, &mut size, bytes)?;
                }
                "start" => {
                    let expected = "a time in picoseconds, 0 or more";
                    // htsim reads it as a floating-point number.
                    let time: f64 = line.number(at + 1, key, expected, |&time: &f64| {
                        (0.0..1e18).contains(&time)
                    })?;
                    set(line, "start or trigger", &mut start, Start::At(time as u64))?;
                }
                "trigger" => {
                    let trigger = self.trigger_of(number("the id of a trigger")?);
                    set(
                        line,
                        "start or trigger",
                        &mut start,
                        Start::Trigger(trigger),
                    )?;
                }
                "send_done_trigger" => {
                    let trigger = self.trigger_of(number("the id of a trigger")?);
                    set(line, key, &mut flow.on_sent, trigger)?;
                }
                "recv_done_trigger" => {
                    let trigger = self.trigger_of(number("the id of a trigger")?);
                    set(line, key, &mut flow.on_received, trigger)?;
                }
                "prio" => {
                    line.number(at + 1, key, "a number", |_: &i64| true)?;
                }
                _ => {
                    return Err(line.error(LineProblem::Unknown {
                        word: key.into(),
                        expected: FLOW_WORDS,
                    }))
                }
            }
        }
        let missing = |what| line.error(LineProblem::Missing(what));
        flow.start = start.ok_or_else(|| missing("start or trigger"))?;
        flow.bytes = size.ok_or_else(|| missing("size"))?;
        flow.id = id.unwrap_or_default();
        Ok(flow)
    }

    fn trigger(&mut self, line: &Line) -> Result<(), FileError> {
        let (mut id, mut kind, mut count) = (None, None, None);
        let mut at = 1;
        while let Some(&key) = line.words.get(at) {
            at += 1;
            match key {
                "id" | "count" => {
                    let of = if key == "id" { &mut id } else { &mut count };
                    let value =
                        line.number(at, key, "1 to 4294967295", |&value: &u32| value > 0)?;
                    set(line, key, of, value)?;
                    at += 1;
                }
                "oneshot" | "multishot" | "barrier" => set(line, "its kind", &mut kind, key)?,
                _ => {
                    return Err(line.error(LineProblem::Unknown {
                        word: key.into(),
                        expected:
                            "a trigger has id, count, and one of oneshot, multishot and barrier",
                    }))
                }
            }
        }
        let missing = |what| line.error(LineProblem::Missing(what));
        let id = u64::from(id.ok_or_else(|| missing("id"))?);
        let kind = match kind.ok_or_else(|| missing("oneshot, multishot or barrier"))? {
            "oneshot" => TriggerKind::OneShot,
            "multishot" => TriggerKind::MultiShot,
            _ => TriggerKind::Barrier(count.ok_or_else(|| missing("count of the barrier"))?),
        };
        let TriggerId(index) = self.trigger_of(id);
        if std::mem::replace(&mut self.described[index as usize], true) {
            return Err(line.error(LineProblem::Twice(format!("trigger {id}"))));
        }
        self.workload.triggers[index as usize].kind = kind;
        Ok(())
    }

    fn finish(mut self, lines: &Lines, flows: Vec<Flow>) -> Result<Workload, FileError> {
        let counts = [
            ("Connections", self.connections, flows.len()),
            (
                "Triggers",
                self.triggers,
                self.described
                    .iter()
                    .filter(|&&described| described)
                    .count(),
            ),
        ];
        for (what, said, found) in counts {
            let found = found as u64;
            match said {
                Some(said) if said != found => {
                    return Err(lines.error(LineProblem::Count { what, said, found }))
                }
                None if what == "Connections" => {
                    return Err(lines.error(LineProblem::Missing("Connections")))
                }
                _ => {}
            }
        }
        let undescribed = self.known.iter();
        let undescribed = undescribed.filter(|(_, index)| !self.described[index.0 as usize]);
        if let Some(&id) = undescribed.map(|(id, _)| id).min() {
            return Err(lines.error(LineProblem::NoTrigger(id)));
        }
        for (number, flow) in (1..).zip(flows) {
            let id = if flow.id == 0 { number } else { flow.id };
            self.workload.add_flow(Flow { id, ..flow });
        }
        Ok(self.workload)
    }
}

/// Sets a value that a line may have once.
fn set<T>(line: &Line, key: &str, to: &mut Option<T>, value: T) -> Result<(), FileError> {
    match to.replace(value) {
        Some(_) => Err(line.error(LineProblem::Twice(key.into()))),
        None => Ok(()),
    }
}
