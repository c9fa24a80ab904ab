//! Puts functions together that have one mark.
//!
//! A processor predicts poorly which functions are marked, so finding one costs as much as running a small one. Combinational functions that follow each other and depend on the same
//! signals run together: all of them, if one has to. What one of them changes and only the others of its batch read need not be compared.

use std::collections::BTreeSet;

use crate::plan::{Function, Runs};

/// The marks of functions.
pub(crate) struct Batches {
    /// The functions of each mark, in their order.
    pub functions: Vec<Vec<usize>>,
    /// The mark of each function.
    pub mark_of: Vec<usize>,
    /// The marks of which the next one is that of the same functions for the second instance.
    pub pairs: BTreeSet<usize>,
}

/// What is known of functions when they get marks.
pub(crate) struct Scheduled<'a> {
    pub functions: &'a [Function],
    pub runs: &'a [Runs],
    /// The functions that write what each function reads.
    pub triggers: &'a [BTreeSet<usize>],
    /// The first functions of pairs.
    pub pairs: &'a BTreeSet<usize>,
}

/// Functions of one instance, or of none, that run together.
#[derive(Default)]
struct Side {
    functions: Vec<usize>,
    triggers: BTreeSet<usize>,
}

impl Side {
    fn of(function: usize, scheduled: &Scheduled<'_>) -> Self {
        Self {
            functions: vec![function],
            triggers: scheduled.triggers[function].clone(),
        }
    }

    /// Whether `function` depends on nothing but these functions and what they depend on.
    fn covers(&self, function: usize, scheduled: &Scheduled<'_>) -> bool {
        let mut others = scheduled.triggers[function].iter();
        others.all(|other| self.triggers.contains(other) || self.functions.contains(other))
    }

    /// Whether `function` reads nothing that these functions write.
    fn is_apart_from(&self, function: usize, scheduled: &Scheduled<'_>) -> bool {
        self.functions
            .iter()
            .all(|other| !scheduled.triggers[function].contains(other))
    }
}

/// Gives each function its mark.
pub(crate) fn batches(scheduled: &Scheduled<'_>) -> Batches {
    // A batch has one side, or two that are called one after the other.
    let mut all: Vec<Vec<Side>> = vec![];
    let mut next = 0;
    while next < scheduled.functions.len() {
        let sides = 1 + usize::from(scheduled.pairs.contains(&next));
        let members: Vec<usize> = (next..next + sides).collect();
        next += sides;
        match all.last_mut() {
            Some(batch) if joins(batch, &members, scheduled) => {
                for (side, function) in batch.iter_mut().zip(members) {
                    side.functions.push(function);
                }
            }
            _ => all.push(
                members
                    .iter()
                    .map(|&member| Side::of(member, scheduled))
                    .collect(),
            ),
        }
    }
    let mut batches = Batches {
        functions: vec![],
        mark_of: vec![0; scheduled.functions.len()],
        pairs: BTreeSet::new(),
    };
    for batch in all {
        if batch.len() == 2 {
            batches.pairs.insert(batches.functions.len());
        }
        for side in batch {
            for &function in &side.functions {
                batches.mark_of[function] = batches.functions.len();
            }
            batches.functions.push(side.functions);
        }
    }
    batches
}

/// Whether `members`, one for each side, may run with the functions of `batch`, and depend on the same.
fn joins(batch: &[Side], members: &[usize], scheduled: &Scheduled<'_>) -> bool {
    let on_change = |function: usize| scheduled.runs[function] == Runs::OnChange;
    let fits = |(side, &member): (&Side, &usize)| {
        on_change(member) && on_change(side.functions[0]) && side.covers(member, scheduled)
    };
    // The functions of the first side run before those of the second one.
    let apart = match (batch, members) {
        ([_, second], [member, _]) => second.is_apart_from(*member, scheduled),
        _ => true,
    };
    batch.len() == members.len() && batch.iter().zip(members).all(fits) && apart
}
