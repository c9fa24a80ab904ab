//! When the longest path comes to each net, and how long the longest one from it is.

use std::collections::BTreeMap;

use crate::design::Design;
use crate::graph::{End, Graph, Net};
use crate::FitError;

/// No path arrives at the net.
pub(crate) const NEVER: i32 = -1;
/// The longest path to a net begins there, or at a constant.
pub(crate) const START: u32 = u32::MAX;

/// The longest paths to all nets.
pub(crate) struct Arrival<'a> {
    pub graph: &'a Graph,
    /// Half levels of the longest path to each net.
    pub time: Vec<i32>,
    /// The gate that drives the net on it, and the input by which the path comes. [`START`]: the net is behind a register.
    pub by: Vec<(u32, Net)>,
    /// The start of each net that has one.
    pub start: Vec<u32>,
    /// Gates, each behind those that drive it.
    order: Vec<u32>,
}

impl<'a> Arrival<'a> {
    /// The input of an end point to which the longest path comes.
    pub(crate) fn last(&self, end: &End) -> Option<Net> {
        let time = |net: &&Net| self.time[**net as usize];
        end.inputs.iter().max_by_key(time).copied()
    }

    /// # Errors
    /// [`FitError::Loop`] if cells form a loop without a register.
    pub(crate) fn compute(design: &Design, graph: &'a Graph) -> Result<Self, FitError> {
        let nets = graph.loads.len();
        let mut found = Self {
            graph,
            time: vec![NEVER; nets],
            by: vec![(START, 0); nets],
            start: vec![START; nets],
            order: Vec::with_capacity(graph.gates.len()),
        };
        for (start, n) in graph.starts.iter().zip(0..) {
            let net = start.net as usize;
            if start.weight as i32 > found.time[net] {
                found.time[net] = start.weight as i32;
                found.start[net] = n;
            }
        }
        // Kahn's order: a gate is done when all gates before it are. A memory of LUTs drives a net as a register and as a gate.
        let mut readers = Readers::of(graph, nets);
        let mut ready = readers.without_driver();
        while let Some(n) = ready.pop() {
            found.order.push(n);
            let gate = &graph.gates[n as usize];
            let time = |net: &&Net| found.time[**net as usize];
            let last = gate.inputs.iter().max_by_key(time).copied();
            let at = last.map_or(NEVER, |net| found.time[net as usize]);
            for &output in &gate.outputs {
                let out = output as usize;
                if at != NEVER && at + gate.weight as i32 >= found.time[out] {
                    found.time[out] = at + gate.weight as i32;
                    found.by[out] = (n, last.unwrap_or(0));
                }
                readers.driven(output, &mut ready);
            }
        }
        if found.order.len() < graph.gates.len() {
            return Err(FitError::Loop(readers.a_loop(design, graph)));
        }
        Ok(found)
    }

    /// Half levels of the longest path from each net to a register, a memory or a port.
    pub(crate) fn departures(&self) -> Vec<i32> {
        let mut after = vec![NEVER; self.time.len()];
        for &net in self.graph.ends.iter().flat_map(|end| &end.inputs) {
            after[net as usize] = 0;
        }
        for &n in self.order.iter().rev() {
            let gate = &self.graph.gates[n as usize];
            if let Some(rest) = gate.rest(&after) {
                for &net in &gate.inputs {
                    after[net as usize] = after[net as usize].max(rest);
                }
            }
        }
        after
    }
}

/// Which gates read a net, and for how many drivers each still waits.
struct Readers {
    /// Gates by net, one list after the other.
    gates: Vec<u32>,
    /// Where the list of each net begins.
    first: Vec<u32>,
    /// Drivers of each net that are not done.
    drivers: Vec<u32>,
    /// Inputs of each gate whose drivers are not done.
    missing: Vec<u32>,
}

impl Readers {
    fn of(graph: &Graph, nets: usize) -> Self {
        let mut drivers = vec![0; nets];
        let mut first = vec![0_u32; nets + 1];
        for gate in &graph.gates {
            for &net in &gate.outputs {
                drivers[net as usize] += 1;
            }
            for &net in &gate.inputs {
                first[net as usize + 1] += 1;
            }
        }
        for net in 0..nets {
            first[net + 1] += first[net];
        }
        let mut next = first.clone();
        let mut gates = vec![0; first[nets] as usize];
        let mut missing = vec![0; graph.gates.len()];
        for (gate, n) in graph.gates.iter().zip(0..) {
            for &net in &gate.inputs {
                gates[next[net as usize] as usize] = n;
                next[net as usize] += 1;
                missing[n as usize] += u32::from(drivers[net as usize] > 0);
            }
        }
        Self {
            gates,
            first,
            drivers,
            missing,
        }
    }

    fn without_driver(&self) -> Vec<u32> {
        let all = (0..self.missing.len() as u32).rev();
        all.filter(|&n| self.missing[n as usize] == 0).collect()
    }

    /// One driver of `net` is done.
    fn driven(&mut self, net: Net, ready: &mut Vec<u32>) {
        let net = net as usize;
        self.drivers[net] -= 1;
        if self.drivers[net] > 0 {
            return;
        }
        for at in self.first[net]..self.first[net + 1] {
            let gate = self.gates[at as usize];
            self.missing[gate as usize] -= 1;
            if self.missing[gate as usize] == 0 {
                ready.push(gate);
            }
        }
    }

    /// Names on one loop, after the order has found no more gates.
    fn a_loop(&self, design: &Design, graph: &Graph) -> Vec<String> {
        let mut driver: BTreeMap<Net, u32> = BTreeMap::new();
        let stuck = (0..self.missing.len() as u32).filter(|&n| self.missing[n as usize] > 0);
        let mut at = None;
        for n in stuck {
            for &net in &graph.gates[n as usize].outputs {
                driver.insert(net, n);
            }
            at = Some(n);
        }
        // From any gate that waits, backwards over gates that wait: after as many steps as there are, the walk is on a loop.
        let mut walk: Vec<u32> = vec![];
        while let Some(n) = at {
            if let Some(begin) = walk.iter().position(|&w| w == n) {
                walk.drain(..begin);
                break;
            }
            walk.push(n);
            let inputs = &graph.gates[n as usize].inputs;
            at = inputs.iter().find_map(|net| driver.get(net).copied());
        }
        walk.reverse();
        let name = |n: &u32| {
            let gate = &graph.gates[*n as usize];
            graph.name(design, gate.scope, gate.label)
        };
        let mut names: Vec<String> = walk.iter().map(name).collect();
        names.dedup();
        names
    }
}
