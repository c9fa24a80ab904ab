//! Puts functions together that have one mark.
//!
//! A processor predicts poorly which functions are marked, so finding one costs as much as running a small one. Combinational functions that follow each other run together if they depend on nearly
//! the same signals, or compute little: all of them, if one has to. What one of them changes and only the others of its batch read need not be compared.

use std::collections::BTreeSet;

use crate::plan::Runs;

/// The most signals that small functions of a batch mention together.
const SMALL: usize = 24;

/// The marks of functions.
pub(crate) struct Batches {
    /// The functions of each mark, in their order.
    pub functions: Vec<Vec<usize>>,
    /// The mark of each function.
    pub mark_of: Vec<usize>,
    /// The marks of which the next one is that of the same functions for the second instance.
    pub pairs: BTreeSet<usize>,
}

/// What is known of functions, in their order, when they get marks.
pub(crate) struct Scheduled<'a> {
    pub runs: &'a [Runs],
    /// The functions that write what each function reads.
    pub triggers: &'a [BTreeSet<usize>],
    /// How much each function computes: the signals that it mentions.
    pub sizes: &'a [usize],
    /// The first functions of pairs.
    pub pairs: &'a BTreeSet<usize>,
}

/// Functions of one instance, or of none, that run together.
struct Side {
    functions: Vec<usize>,
    /// The functions that write what these read.
    triggers: BTreeSet<usize>,
    size: usize,
}

impl Side {
    fn of(function: usize, scheduled: &Scheduled<'_>) -> Self {
        Self {
            functions: vec![function],
            triggers: scheduled.triggers[function].clone(),
            size: scheduled.sizes[function],
        }
    }

    fn push(&mut self, function: usize, scheduled: &Scheduled<'_>) {
        self.functions.push(function);
        self.triggers.extend(&scheduled.triggers[function]);
        self.size += scheduled.sizes[function];
    }

    /// Whether `function` depends on these functions or on what they depend on, and on one other function at most.
    fn is_like(&self, function: usize, scheduled: &Scheduled<'_>) -> bool {
        let triggers = &scheduled.triggers[function];
        let is_common =
            |other: &&usize| self.triggers.contains(other) || self.functions.contains(other);
        let common = triggers.iter().filter(is_common).count();
        common > 0 && triggers.len() - common <= 1
    }

    /// Whether these functions and `function` together compute so little that finding out which of them have to run takes longer.
    fn is_small_with(&self, function: usize, scheduled: &Scheduled<'_>) -> bool {
        self.size + scheduled.sizes[function] <= SMALL
    }

    /// Whether `function` reads nothing that these functions write.
    fn is_apart_from(&self, function: usize, scheduled: &Scheduled<'_>) -> bool {
        let triggers = &scheduled.triggers[function];
        !self.functions.iter().any(|other| triggers.contains(other))
    }
}

/// Gives each function its mark.
pub(crate) fn batches(scheduled: &Scheduled<'_>) -> Batches {
    let count = scheduled.runs.len();
    // A batch has one side, or two that are called one after the other.
    let mut all: Vec<Vec<Side>> = vec![];
    let mut next = 0;
    while next < count {
        let sides = 1 + usize::from(scheduled.pairs.contains(&next));
        let members: Vec<usize> = (next..next + sides).collect();
        next += sides;
        match all.last_mut() {
            Some(batch) if joins(batch, &members, scheduled) => {
                for (side, function) in batch.iter_mut().zip(members) {
                    side.push(function, scheduled);
                }
            }
            _ => {
                let sides = members.into_iter();
                all.push(sides.map(|member| Side::of(member, scheduled)).collect());
            }
        }
    }
    let mut batches = Batches {
        functions: vec![],
        mark_of: vec![0; count],
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

/// Whether `members`, one for each side, run with the functions of `batch`.
fn joins(batch: &[Side], members: &[usize], scheduled: &Scheduled<'_>) -> bool {
    let on_change = |function: usize| scheduled.runs[function] == Runs::OnChange;
    let fits = |(side, &member): (&Side, &usize)| {
        let together = side.is_like(member, scheduled) || side.is_small_with(member, scheduled);
        on_change(member) && on_change(side.functions[0]) && together
    };
    // All functions of the first side run before those of the second one.
    let apart = match (batch, members) {
        ([_, second], [member, _]) => second.is_apart_from(*member, scheduled),
        _ => true,
    };
    batch.len() == members.len() && batch.iter().zip(members).all(fits) && apart
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The marks of combinational functions behind two of registers, which have the numbers 0 and 1.
    fn batches_of(triggers: &[&[usize]], pairs: &[usize]) -> Batches {
        batches_of_sizes(&vec![SMALL; triggers.len() + 2], triggers, pairs)
    }

    /// The same for functions that mention so many signals.
    fn batches_of_sizes(sizes: &[usize], triggers: &[&[usize]], pairs: &[usize]) -> Batches {
        let combinational = triggers.iter().map(|_| Runs::OnChange);
        let runs: Vec<Runs> = [Runs::AtEdges; 2]
            .into_iter()
            .chain(combinational)
            .collect();
        let none: [&[usize]; 2] = [&[], &[]];
        let triggers = none.iter().chain(triggers);
        let triggers: Vec<BTreeSet<usize>> = triggers
            .map(|of_function| of_function.iter().copied().collect())
            .collect();
        batches(&Scheduled {
            runs: &runs,
            triggers: &triggers,
            sizes,
            pairs: &pairs.iter().copied().collect(),
        })
    }

    #[test]
    fn functions_with_nearly_the_same_triggers_have_one_mark() {
        // Function 3 depends on 2 and on another function, 4 on two others, of which 0 is known.
        let batches = batches_of(&[&[0], &[2, 1], &[0, 3, 1]], &[]);
        assert_eq!(batches.functions, [vec![0], vec![1], vec![2, 3, 4]]);
        assert_eq!(batches.mark_of, [0, 1, 2, 2, 2]);
        // Nothing in common, or more than one other function.
        let batches = batches_of(&[&[0], &[1], &[0, 1, 2]], &[]);
        assert_eq!(
            batches.functions,
            [vec![0], vec![1], vec![2], vec![3], vec![4]]
        );
    }

    #[test]
    fn functions_of_registers_have_marks_of_their_own() {
        let runs = [Runs::AtEdges, Runs::AtEdges, Runs::OnChange, Runs::AtEvents];
        let triggers = [[].into(), [0].into(), [0].into(), [0].into()];
        let pairs = BTreeSet::new();
        let batches = batches(&Scheduled {
            runs: &runs,
            triggers: &triggers,
            sizes: &[1; 4],
            pairs: &pairs,
        });
        assert_eq!(batches.mark_of, [0, 1, 2, 3]);
    }

    #[test]
    fn functions_that_compute_little_have_one_mark() {
        let half = SMALL / 2;
        let batches = batches_of_sizes(&[0, 0, half, half, half], &[&[0], &[1], &[]], &[]);
        assert_eq!(batches.functions, [vec![0], vec![1], vec![2, 3], vec![4]]);
        let batches = batches_of_sizes(&[0, 0, half + 1, half], &[&[0], &[1]], &[]);
        assert_eq!(batches.mark_of, [0, 1, 2, 3]);
    }

    #[test]
    fn both_instances_of_a_pair_have_the_same_batches() {
        // 2 and 4 for the first instance, 3 and 5 for the second one.
        let batches = batches_of(&[&[0], &[1], &[2], &[3]], &[2, 4]);
        assert_eq!(
            batches.functions,
            [vec![0], vec![1], vec![2, 4], vec![3, 5]]
        );
        assert_eq!(batches.pairs, [2].into());
        // 4 would run before 3, which writes what it reads.
        let batches = batches_of(&[&[0], &[1], &[2, 3], &[3]], &[2, 4]);
        assert_eq!(batches.mark_of, [0, 1, 2, 3, 4, 5]);
        assert_eq!(batches.pairs, [2, 4].into());
        // A function of no instance does not join those of a pair.
        let batches = batches_of(&[&[0], &[1], &[0, 2]], &[2]);
        assert_eq!(batches.mark_of, [0, 1, 2, 3, 4]);
    }
}
