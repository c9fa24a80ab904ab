//! Cells by block, and memories against what they were mapped to.

use std::collections::BTreeMap;

use crate::cells::{self, Area};
use crate::design::{Design, MappedUnit};
use crate::graph::Graph;

/// A memory that became something else than it was declared to be.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WrongMemory {
    /// Path of the instance that declares it.
    pub path: String,
    /// The value of `ram_style`.
    pub declared: String,
    /// What it was mapped to: a value of `ram_style`, or `registers`.
    pub mapped: String,
    /// Words and bits.
    pub shape: (u64, u64),
}

/// What a unit has.
struct Content {
    area: Area,
    wrong: Vec<WrongMemory>,
}

/// The cells of the design, and of its parts.
pub(crate) struct Blocks {
    pub total: Area,
    /// Cells of each instance down to `depth` instances below the top, everything below included. A unit's cells are not divided.
    pub by_path: BTreeMap<String, Area>,
    pub wrong: Vec<WrongMemory>,
}

impl Blocks {
    pub(crate) fn measure(design: &Design, graph: &Graph, depth: usize) -> Self {
        let contents: Vec<Content> = design.units.iter().map(content).collect();
        let mut found = Self {
            total: Area::default(),
            by_path: BTreeMap::new(),
            wrong: vec![],
        };
        for scope in &graph.scopes {
            let content = &contents[scope.unit];
            found.total.add(&content.area);
            let parts: Vec<&str> = scope.path.split('.').collect();
            for end in 1..=parts.len().min(depth) {
                let path = parts[..end].join(".");
                found.by_path.entry(path).or_default().add(&content.area);
            }
            found
                .wrong
                .extend(content.wrong.iter().map(|wrong| WrongMemory {
                    path: crate::graph::joined(&scope.path, &wrong.path),
                    ..wrong.clone()
                }));
        }
        // What stands beside the instances of the top module itself.
        if let Some(own) = found.by_path.remove("") {
            found.by_path.insert("(top)".into(), own);
        }
        found
    }
}

fn content(unit: &MappedUnit) -> Content {
    let netlist = &unit.netlist;
    let mut area = Area::default();
    let mut styles: BTreeMap<&str, &str> = BTreeMap::new();
    for cell in &netlist.cells {
        let kind = netlist.kind(cell);
        area.add(&cells::area(kind));
        if let (Some(name), Some(style)) = (&cell.name, cells::style(kind)) {
            styles.insert(name, style);
        }
    }
    let mut wrong = vec![];
    for (path, memory) in &unit.memories {
        let name = crate::graph::joined(path, &memory.name);
        // Yosys names the cells of a memory `memory.0.0`, and its registers `memory[0]`.
        let of = |text: &str, sign: char| {
            let rest = text.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.starts_with(sign))
        };
        let mapped: Vec<&str> = (styles.iter())
            .filter(|(cell, _)| of(cell, '.'))
            .map(|(_, style)| *style)
            .collect();
        let registers = netlist.names.iter().any(|(n, _)| of(n, '['));
        // A memory that nobody reads is gone.
        if mapped.contains(&"ultra") && mapped.iter().all(|m| *m == "ultra") {
            area.uram += memory.ultra_rams();
        }
        let other = mapped.iter().copied().find(|m| *m != memory.style);
        if let Some(mapped) = other.or((mapped.is_empty() && registers).then_some("registers")) {
            wrong.push(WrongMemory {
                path: name.clone(),
                declared: memory.style.clone(),
                mapped: mapped.into(),
                shape: (memory.depth, memory.width),
            });
        }
    }
    Content { area, wrong }
}
