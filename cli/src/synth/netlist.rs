//! A synthesised module as Yosys writes it (`write_json`): the number of cells by type, and the longest path between registers.

use std::collections::{BTreeMap, HashMap};

use anyhow::Context;
use serde::Deserialize;
use stellar_fit::Cells;

/// The parts of the file that are used.
#[derive(Deserialize)]
struct File {
    modules: BTreeMap<String, Netlist>,
}

/// One flattened module of technology cells.
#[derive(Deserialize)]
pub struct Netlist {
    cells: BTreeMap<String, Cell>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(rename = "type")]
    kind: String,
    port_directions: BTreeMap<String, String>,
    connections: BTreeMap<String, Vec<Bit>>,
}

/// A wire's number, or a constant.
#[derive(Deserialize, Clone, PartialEq, Eq, Hash)]
#[serde(untagged)]
enum Bit {
    Wire(u32),
    Constant(String),
}

/// The longest paths from one register, memory or port to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// LUTs on the path that has most of them: logic levels. Carry chains and wide multiplexers do not count.
    pub luts: u32,
    /// Carry cells on the path that has most of them.
    pub carries: u32,
}

/// The weight of a cell on a path through it; `None`: paths end and begin there.
fn weight(kind: &str) -> Option<Depth> {
    let level = |luts, carries| Some(Depth { luts, carries });
    match kind {
        _ if kind.starts_with("LUT") => level(1, 0),
        // This memory is read without a clock, so it lies on the path of its address.
        _ if kind.starts_with("RAM") && !kind.starts_with("RAMB") => level(1, 0),
        _ if kind.starts_with("CARRY") => level(0, 1),
        "INV" | "BUF" | "MUXF5" | "MUXF6" | "MUXF7" | "MUXF8" | "MUXF9" => level(0, 0),
        _ => None,
    }
}

/// Inputs from which an output of the cell changes without a clock edge.
fn is_through(kind: &str, port: &str) -> bool {
    !kind.starts_with("RAM")
        || port.starts_with("ADDR")
        || port.starts_with("DPRA")
        || port.starts_with('A')
}

impl Netlist {
    /// Reads the module `top`.
    pub fn parse(json: &str, top: &str) -> anyhow::Result<Self> {
        let mut file: File = serde_json::from_str(json).context("cannot read Yosys' netlist")?;
        file.modules
            .remove(top)
            .with_context(|| format!("Yosys' netlist has no module {top}"))
    }

    /// The cells by type.
    pub fn cells(&self) -> Cells {
        self.cells.values().map(|cell| cell.kind.as_str()).collect()
    }

    /// The longest paths.
    ///
    /// # Errors
    /// If cells form a loop without a register.
    pub fn depth(&self) -> anyhow::Result<Depth> {
        let passing: Vec<(&str, &Cell, Depth)> = self
            .cells
            .iter()
            .filter_map(|(name, cell)| Some((name.as_str(), cell, weight(&cell.kind)?)))
            .collect();
        let mut driver: HashMap<&Bit, usize> = HashMap::new();
        for (n, (_, cell, _)) in passing.iter().enumerate() {
            for bit in cell.bits("output", |_| true) {
                driver.insert(bit, n);
            }
        }
        let sources = |n: usize| -> Vec<usize> {
            let (_, cell, _) = passing[n];
            cell.bits("input", |port| is_through(&cell.kind, port))
                .filter_map(|bit| driver.get(bit).copied())
                .collect()
        };
        // Kahn's order: a cell is done when all its sources are.
        let mut readers: Vec<Vec<usize>> = vec![vec![]; passing.len()];
        let mut missing: Vec<usize> = vec![0; passing.len()];
        for (n, missing) in missing.iter_mut().enumerate() {
            let sources = sources(n);
            *missing = sources.len();
            for source in sources {
                readers[source].push(n);
            }
        }
        let mut before = vec![Depth::default(); passing.len()];
        let mut ready: Vec<usize> = (0..passing.len()).filter(|&n| missing[n] == 0).collect();
        let (mut deepest, mut done) = (Depth::default(), 0);
        while let Some(n) = ready.pop() {
            done += 1;
            let own = passing[n].2;
            let through = Depth {
                luts: before[n].luts + own.luts,
                carries: before[n].carries + own.carries,
            };
            deepest = deepest.max_each(through);
            for &reader in &readers[n] {
                before[reader] = before[reader].max_each(through);
                missing[reader] -= 1;
                if missing[reader] == 0 {
                    ready.push(reader);
                }
            }
        }
        let stuck = (0..passing.len()).find(|&n| missing[n] > 0);
        anyhow::ensure!(
            done == passing.len(),
            "cell {} lies on a loop without a register",
            stuck.map_or("?", |n| passing[n].0)
        );
        Ok(deepest)
    }
}

impl Depth {
    fn max_each(self, other: Self) -> Self {
        Self {
            luts: self.luts.max(other.luts),
            carries: self.carries.max(other.carries),
        }
    }
}

impl Cell {
    fn bits<'a>(
        &'a self,
        direction: &'a str,
        keep: impl Fn(&str) -> bool + 'a,
    ) -> impl Iterator<Item = &'a Bit> {
        self.port_directions
            .iter()
            .filter(move |(port, d)| *d == direction && keep(port))
            .filter_map(|(port, _)| self.connections.get(port))
            .flatten()
            .filter(|bit| matches!(bit, Bit::Wire(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn netlist(cells: &str) -> Netlist {
        let json = format!(r#"{{"modules": {{"m": {{"cells": {{{cells}}}}}}}}}"#);
        Netlist::parse(&json, "m").expect("a netlist")
    }

    fn cell(name: &str, kind: &str, inputs: &[(&str, u32)], output: u32) -> String {
        let directions: String = inputs
            .iter()
            .map(|(p, _)| format!(r#""{p}": "input", "#))
            .collect();
        let wires: String = inputs
            .iter()
            .map(|(p, w)| format!(r#""{p}": [{w}, "0"], "#))
            .collect();
        format!(
            r#""{name}": {{"type": "{kind}", "port_directions": {{{directions}"O": "output"}}, "connections": {{{wires}"O": [{output}]}}}}"#
        )
    }

    #[test]
    fn paths_end_at_registers_and_count_luts_and_carries() {
        let cells = [
            cell("q", "FDRE", &[("D", 5)], 1),
            cell("a", "LUT6", &[("I0", 1)], 2),
            cell("c", "CARRY4", &[("S", 2)], 3),
            cell("m", "MUXF7", &[("I0", 3)], 4),
            cell("b", "LUT2", &[("I0", 4), ("I1", 1)], 5),
        ];
        let found = netlist(&cells.join(", "));
        let depth = found.depth().expect("no loop");
        assert_eq!(
            depth,
            Depth {
                luts: 2,
                carries: 1
            }
        );
        assert_eq!(found.cells().counts().luts, 2);
    }

    #[test]
    fn a_lut_memory_is_in_the_path_of_its_address_not_of_its_data() {
        let memory = |port| {
            let cells = [
                cell("a", "LUT1", &[("I0", 1)], 2),
                cell("r", "RAM32M", &[(port, 2)], 3),
            ];
            netlist(&cells.join(", ")).depth().expect("no loop").luts
        };
        assert_eq!(memory("ADDRA"), 2);
        assert_eq!(memory("DIA"), 1);
    }

    #[test]
    fn a_loop_is_an_error() {
        let cells = [
            cell("a", "LUT1", &[("I0", 2)], 1),
            cell("b", "LUT1", &[("I0", 1)], 2),
        ];
        let error = netlist(&cells.join(", ")).depth().expect_err("a loop");
        assert!(error.to_string().contains("loop"), "{error}");
    }
}
