//! The order of the units of a function, and which of them stay together.

use std::collections::{BTreeMap, BTreeSet};

/// Which units have to run before which others, and which have to stay in one part.
pub(crate) struct Order {
    /// For each unit, the units that have to run before it.
    pub before: Vec<BTreeSet<usize>>,
    /// For each unit, the first unit with which it has to stay together.
    pub with: Vec<usize>,
}

impl Order {
    /// Keeps `a` and `b` together.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.with[a], self.with[b]);
        for first in &mut self.with {
            if *first == a.max(b) {
                *first = a.min(b);
            }
        }
    }

    /// Returns the units that have to stay together, as groups. Each group comes behind those that have to run before it.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut before: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (unit, others) in self.before.iter().enumerate() {
            let group = before.entry(self.with[unit]).or_default();
            group.extend(others.iter().map(|&other| self.with[other]));
        }
        let mut sorted = Sorted::default();
        for &group in before.keys() {
            sorted.visit(group, &before);
        }
        let mut groups: Vec<Vec<usize>> = vec![vec![]; sorted.found.len()];
        for unit in 0..self.with.len() {
            groups[sorted.component[&self.with[unit]]].push(unit);
        }
        groups
    }
}

/// Tarjan's search for what depends on each other. Components are found in order: each behind those that have to run before it.
#[derive(Default)]
struct Sorted {
    seen: BTreeMap<usize, usize>,
    open: Vec<usize>,
    component: BTreeMap<usize, usize>,
    found: Vec<usize>,
}

impl Sorted {
    /// Returns the earliest node of the open ones that `node` reaches.
    fn visit(&mut self, node: usize, before: &BTreeMap<usize, BTreeSet<usize>>) -> usize {
        if let Some(&number) = self.seen.get(&node) {
            let closed = self.component.contains_key(&node);
            return if closed { usize::MAX } else { number };
        }
        let number = self.seen.len();
        self.seen.insert(node, number);
        self.open.push(node);
        let reached = before[&node].iter().map(|&other| self.visit(other, before));
        let lowest = reached.fold(number, usize::min);
        if lowest == number {
            while let Some(member) = self.open.pop() {
                self.component.insert(member, self.found.len());
                if member == node {
                    break;
                }
            }
            self.found.push(node);
        }
        lowest
    }
}
