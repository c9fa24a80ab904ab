//! The longest paths between registers, over the borders of modules.

use std::collections::BTreeMap;

use crate::arrival::{Arrival, NEVER, START};
use crate::cells::LEVEL;
use crate::design::Design;
use crate::graph::{Graph, Net};
use crate::FitError;

/// Paths that begin at one register (or memory, or port) and end in one unit.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// Levels: a LUT is one, a MUXF7 to 9 a half, the start at a block RAM 4, at an UltraRAM 5.
    pub levels: f64,
    /// LUTs among them.
    pub luts: u32,
    /// Multiplexers among them.
    pub muxes: u32,
    /// Carry cells of four bits, which count no level.
    pub carries: u32,
    /// The register where it begins.
    pub from: String,
    /// The register where it ends.
    pub to: String,
    /// Instances of units that it goes through, in order.
    pub through: Vec<String>,
    /// Named nets on it, in order.
    pub nets: Vec<String>,
    /// End points above the budget with this beginning, whose paths end in the same unit.
    pub end_points: usize,
}

/// Levels of all end points.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timing {
    /// The longest path's levels.
    pub worst: f64,
    /// Number of end points by levels, rounded up.
    pub histogram: BTreeMap<u32, usize>,
    /// End points above the budget.
    pub above: usize,
    /// The longest paths, one for each pair of beginning and unit of the end.
    pub paths: Vec<Path>,
    /// The registers with end points above the budget, those with most first.
    pub registers: Vec<Register>,
}

/// A register with end points above the budget.
#[derive(Clone, PartialEq, Debug)]
pub struct Register {
    /// Its name.
    pub name: String,
    /// Its end points above the budget.
    pub end_points: usize,
    /// Levels of the longest path to it.
    pub levels: f64,
}

/// Half levels in levels.
fn in_levels(half: i32) -> f64 {
    f64::from(half) / f64::from(LEVEL)
}

impl Timing {
    /// Measures. `budget` is in levels, and at most `count` paths are listed.
    ///
    /// # Errors
    /// [`FitError::Loop`] if cells form a loop without a register.
    pub(crate) fn measure(
        design: &Design,
        graph: &Graph,
        budget: u32,
        count: usize,
    ) -> Result<Self, FitError> {
        let arrival = Arrival::compute(design, graph)?;
        let mut timing = Self::default();
        let mut families: BTreeMap<(String, usize), (usize, i32, u32, Net)> = BTreeMap::new();
        let mut registers: BTreeMap<String, (usize, i32)> = BTreeMap::new();
        for (end, n) in graph.ends.iter().zip(0..) {
            let Some(net) = arrival.last(end) else {
                continue;
            };
            let half = arrival.time[net as usize];
            if half == NEVER {
                continue;
            }
            let levels = (half as u32).div_ceil(LEVEL);
            *timing.histogram.entry(levels).or_default() += 1;
            timing.worst = timing.worst.max(in_levels(half));
            let is_above = half as u32 > budget * LEVEL;
            timing.above += usize::from(is_above);
            if is_above {
                let name = graph.name(design, end.scope, end.label);
                let register = registers.entry(name).or_default();
                *register = (register.0 + 1, register.1.max(half));
            }
            if half as u32 + 2 * LEVEL >= budget * LEVEL {
                let key = (
                    arrival.begin(design, net),
                    graph.scopes[end.scope as usize].unit,
                );
                let family = families.entry(key).or_insert((0, NEVER, n, net));
                family.0 += usize::from(is_above);
                if half > family.1 {
                    *family = (family.0, half, n, net);
                }
            }
        }
        let mut worst: Vec<_> = families.into_values().collect();
        worst.sort_by_key(|&(points, half, n, _)| (-half, std::cmp::Reverse(points), n));
        worst.truncate(count);
        let path = |(points, half, n, net)| arrival.path(design, (points, half, n, net));
        timing.paths = worst.into_iter().map(path).collect();
        let register = |(name, (end_points, half))| Register {
            name,
            end_points,
            levels: in_levels(half),
        };
        timing.registers = registers.into_iter().map(register).collect();
        let most = |register: &Register| std::cmp::Reverse(register.end_points);
        timing.registers.sort_by_key(most);
        Ok(timing)
    }
}

impl Arrival<'_> {
    /// Name of the register where the longest path to `net` begins.
    fn begin(&self, design: &Design, mut net: Net) -> String {
        while self.by[net as usize].0 != START {
            net = self.by[net as usize].1;
        }
        match self.start[net as usize] {
            START => "a constant".into(),
            n => {
                let start = &self.graph.starts[n as usize];
                self.graph.name(design, start.scope, start.label)
            }
        }
    }

    fn path(&self, design: &Design, (points, half, n, last): (usize, i32, u32, Net)) -> Path {
        let graph = self.graph;
        let end = &graph.ends[n as usize];
        let mut path = Path {
            levels: in_levels(half),
            luts: 0,
            muxes: 0,
            carries: 0,
            from: self.begin(design, last),
            to: graph.name(design, end.scope, end.label),
            through: vec![],
            nets: vec![],
            end_points: points,
        };
        let mut scopes = vec![end.scope];
        let mut net = last;
        while self.by[net as usize].0 != START {
            let (gate, before) = self.by[net as usize];
            let gate = &graph.gates[gate as usize];
            match gate.weight {
                LEVEL => path.luts += 1,
                1 => path.muxes += 1,
                _ => {}
            }
            path.carries += u32::from(gate.is_carry);
            if gate.label.is_some() {
                path.nets.push(graph.name(design, gate.scope, gate.label));
            }
            scopes.push(gate.scope);
            net = before;
        }
        if let Some(start) = graph.starts.get(self.start[net as usize] as usize) {
            scopes.push(start.scope);
        }
        scopes.reverse();
        scopes.dedup();
        path.through = (scopes.into_iter())
            .map(|scope| graph.scopes[scope as usize].path.clone())
            .map(|path| if path.is_empty() { "top".into() } else { path })
            .collect();
        path.nets.reverse();
        path.nets.dedup();
        path
    }
}
