//! Nets with many loads, counted over the borders of modules.

use crate::cells::Driver;
use crate::design::Design;
use crate::graph::{Graph, Label};

/// A net with many loads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Net {
    /// The register, or the net behind a LUT, that drives it.
    pub name: String,
    /// The cell that drives it.
    pub driver: Driver,
    /// Pins that it drives, clocks left out.
    pub loads: u32,
}

impl Net {
    /// Cells that drive the net, if each has at most `most` loads: one is there, the placer adds the others.
    pub fn copies(&self, most: u32) -> u32 {
        self.loads.div_ceil(most)
    }
}

/// All nets with more than `most` loads, those with most first.
pub(crate) fn measure(design: &Design, graph: &Graph, most: u32) -> Vec<Net> {
    let mut wide: Vec<Net> = vec![];
    let mut add = |net: u32, scope: u32, label: Label, driver: Driver| {
        wide.push(Net {
            name: graph.name(design, scope, label),
            driver,
            loads: graph.loads[net as usize],
        });
    };
    let is_wide = |net: u32| graph.loads[net as usize] > most;
    for start in graph.starts.iter().filter(|start| is_wide(start.net)) {
        add(start.net, start.scope, start.label, start.driver);
    }
    for gate in &graph.gates {
        for &net in gate.outputs.iter().filter(|net| is_wide(**net)) {
            add(net, gate.scope, gate.label, gate.driver);
        }
    }
    wide.sort_by(|a, b| (b.loads, &a.name).cmp(&(a.loads, &b.name)));
    wide
}
