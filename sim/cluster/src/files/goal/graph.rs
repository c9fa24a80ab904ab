//! The operations of a schedule as flows and triggers.

use std::collections::{HashMap, VecDeque};

use sim_net::HostId;

use super::super::lines::{FileError, LineProblem};
use super::{Action, Operation};
use crate::workload::{Flow, Start, TriggerId, TriggerKind, Workload};

/// Picoseconds of a nanosecond.
const NS: u64 = 1000;

/// Triggers of an operation.
#[derive(Clone, Copy)]
struct Points {
    starts: TriggerId,
    completes: TriggerId,
}

/// Receives that no send has matched, by sender, receiver and tag.
type Receives = HashMap<(u32, u32, u32), VecDeque<usize>>;

pub(super) fn workload(file: &str, operations: &[Operation]) -> Result<Workload, FileError> {
    check_order(file, operations)?;
    let mut workload = Workload::default();
    let points: Vec<Points> = operations
        .iter()
        .map(|operation| add_triggers(&mut workload, operation))
        .collect();
    for (operation, point) in operations.iter().zip(&points) {
        for &earlier in &operation.requires {
            let TriggerId(trigger) = points[earlier].completes;
            workload.triggers[trigger as usize].then.push(point.starts);
        }
        for &earlier in &operation.requires_start {
            let TriggerId(trigger) = points[earlier].starts;
            workload.triggers[trigger as usize].then.push(point.starts);
        }
        if operation.requires.is_empty() && operation.requires_start.is_empty() {
            workload.first.push(point.starts);
        }
    }
    add_messages(file, operations, &points, &mut workload)?;
    if workload.flows.is_empty() {
        return Err(FileError {
            file: file.into(),
            line: None,
            problem: LineProblem::Missing("a send"),
        });
    }
    Ok(workload)
}

fn add_triggers(workload: &mut Workload, operation: &Operation) -> Points {
    let needed = operation.requires.len() + operation.requires_start.len();
    let starts = workload.add_trigger(TriggerKind::Barrier(needed.max(1) as u32));
    // A receive is complete when it has started and its message has arrived.
    let completes = workload.add_trigger(match operation.action {
        Action::Receive { .. } => TriggerKind::Barrier(2),
        Action::Send { .. } | Action::Compute(_) => TriggerKind::OneShot,
    });
    if let Action::Compute(time) = operation.action {
        workload.triggers[completes.0 as usize].delay = time * NS;
    }
    if !matches!(operation.action, Action::Send { .. }) {
        workload.triggers[starts.0 as usize].then.push(completes);
    }
    Points { starts, completes }
}

/// Adds a flow for every send, which completes the receive that it matches: in the order of the file among those of the same ranks and tag.
fn add_messages(
    file: &str,
    operations: &[Operation],
    points: &[Points],
    workload: &mut Workload,
) -> Result<(), FileError> {
    let mut receives = Receives::new();
    for (index, operation) in operations.iter().enumerate() {
        if let Action::Receive { from, tag, .. } = operation.action {
            let key = (from, operation.rank, tag);
            receives.entry(key).or_default().push_back(index);
        }
    }
    for (operation, point) in operations.iter().zip(points) {
        let Action::Send { bytes, to, tag } = operation.action else {
            continue;
        };
        let matched = receives.get_mut(&(operation.rank, to, tag));
        let matched = matched.and_then(VecDeque::pop_front);
        let Some(matched) = matched else {
            let what = format!(
                "{} has no matching recv in rank {to}; add it",
                operation.label
            );
            return Err(contradiction(file, operation, what));
        };
        let receive = &operations[matched];
        if let Action::Receive { bytes: other, .. } = receive.action {
            if other != bytes {
                let what = format!(
                    "{} sends {bytes} bytes, and the recv in line {} takes {other}; give both the same",
                    operation.label, receive.line
                );
                return Err(contradiction(file, operation, what));
            }
        }
        workload.add_flow(Flow {
            id: workload.flows.len() as u64 + 1,
            src: HostId(operation.rank),
            dst: HostId(to),
            bytes: bytes.max(1),
            start: Start::Trigger(point.starts),
            on_sent: Some(point.completes),
            on_received: Some(points[matched].completes),
        });
    }
    let unmatched = receives.into_values().flatten().min();
    match unmatched.map(|index| &operations[index]) {
        Some(receive) => {
            let what = format!("{} has no matching send; add it", receive.label);
            Err(contradiction(file, receive, what))
        }
        None => Ok(()),
    }
}

fn contradiction(file: &str, operation: &Operation, what: String) -> FileError {
    FileError {
        file: file.into(),
        line: Some(operation.line),
        problem: LineProblem::Contradiction(what),
    }
}

/// Refuses operations that wait for themselves.
fn check_order(file: &str, operations: &[Operation]) -> Result<(), FileError> {
    let earlier = |operation: &Operation| -> Vec<usize> {
        let all = operation.requires.iter().chain(&operation.requires_start);
        all.copied().collect()
    };
    let mut open: Vec<usize> = operations.iter().map(|op| earlier(op).len()).collect();
    let mut later: Vec<Vec<usize>> = vec![Vec::new(); operations.len()];
    for (index, operation) in operations.iter().enumerate() {
        for before in earlier(operation) {
            later[before].push(index);
        }
    }
    let mut ready: Vec<usize> = (0..operations.len()).filter(|&at| open[at] == 0).collect();
    while let Some(index) = ready.pop() {
        for &next in &later[index] {
            open[next] -= 1;
            if open[next] == 0 {
                ready.push(next);
            }
        }
    }
    match open.iter().position(|&left| left > 0) {
        Some(index) => {
            let what = format!(
                "{} waits for itself, through what it requires; remove a dependency",
                operations[index].label
            );
            Err(contradiction(file, &operations[index], what))
        }
        None => Ok(()),
    }
}
