//! The order of the units of a function, and which of them stay together.

use std::collections::BTreeSet;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use petgraph::unionfind::UnionFind;

/// Which units have to run before which others, and which have to stay in one part.
pub(crate) struct Order {
    /// For each unit, the units that have to run before it.
    pub before: Vec<BTreeSet<usize>>,
    together: UnionFind<usize>,
}

impl Order {
    /// Any order of this number of units, of which each is alone.
    pub fn any(units: usize) -> Self {
        Self {
            before: vec![BTreeSet::new(); units],
            together: UnionFind::new(units),
        }
    }

    /// Keeps `a` and `b` together.
    pub fn join(&mut self, a: usize, b: usize) {
        self.together.union(a, b);
    }

    /// Returns the units that have to stay together, as groups. Each group comes behind those that have to run before it.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let label_of = self.together.clone().into_labeling();
        let mut before: DiGraphMap<usize, ()> = DiGraphMap::new();
        for (&label, others) in label_of.iter().zip(&self.before) {
            before.add_node(label);
            for &other in others {
                before.add_edge(label, label_of[other], ());
            }
        }
        // What depends on each other is one component, and each comes behind those to which its edges lead.
        let components = tarjan_scc(&before);
        let units_of = |labels: &Vec<usize>| {
            let units = 0..label_of.len();
            units
                .filter(|&unit| labels.contains(&label_of[unit]))
                .collect()
        };
        components.iter().map(units_of).collect()
    }
}
