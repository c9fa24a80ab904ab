//! The netlists of all instances, joined over their ports: every net of the card, and every cell on it.

use std::collections::HashMap;

use crate::cells::{self, Driver, Role, LEVEL, MUXF};
use crate::design::Design;
use crate::netlist::{Bit, Cell, Netlist};
use crate::variant;

pub(crate) type Net = u32;

/// The name of a net, or of a cell: unit, and the number of the name in it. Names of cells follow those of wires.
pub(crate) type Label = Option<(u32, u32)>;

/// A cell whose outputs follow its inputs.
pub(crate) struct Gate {
    pub inputs: Vec<Net>,
    pub outputs: Vec<Net>,
    /// Half levels.
    pub weight: u32,
    pub is_carry: bool,
    /// ABC chose it.
    pub is_chosen: bool,
    pub driver: Driver,
    pub scope: u32,
    pub label: Label,
}

impl Gate {
    /// Half levels from its inputs to the end of the longest path through it, given those from each net. None if nothing follows.
    pub(crate) fn rest(&self, after: &[i32]) -> Option<i32> {
        let behind = self.outputs.iter().map(|&net| after[net as usize]).max()?;
        (behind >= 0).then(|| behind + self.weight as i32)
    }
}

/// Where paths begin: a net behind a register, a memory or a port.
pub(crate) struct Start {
    pub net: Net,
    /// Half levels that the start counts.
    pub weight: u32,
    pub driver: Driver,
    pub scope: u32,
    pub label: Label,
}

/// Where paths end: a register, a memory or a port.
pub(crate) struct End {
    pub inputs: Vec<Net>,
    pub scope: u32,
    pub label: Label,
}

/// An instance of a unit.
pub(crate) struct Scope {
    /// Path of instances from the top, in Yosys' form: `u_a.u_b`.
    pub path: String,
    /// Its number in [`Design::units`].
    pub unit: usize,
    /// The net of each of its wires.
    pub nets: Vec<Net>,
}

/// The joined netlists.
#[derive(Default)]
pub(crate) struct Graph {
    pub scopes: Vec<Scope>,
    pub gates: Vec<Gate>,
    pub starts: Vec<Start>,
    pub ends: Vec<End>,
    /// Number of pins that each net drives, clocks left out.
    pub loads: Vec<u32>,
}

impl Graph {
    /// Joins the netlists. A multiplexer beside the LUTs that drives more than `loads` pins is a LUT here, as the project's scripts have it (`fpga/tcl/place.tcl`), because only
    /// registers and LUTs are replicated.
    pub(crate) fn join(design: &Design, loads: u32) -> Self {
        let mut joiner = Joiner {
            design,
            graph: Self::default(),
            same: vec![],
        };
        joiner.top();
        let mut graph = joiner.finish();
        let Self {
            gates,
            loads: all_loads,
            ..
        } = &mut graph;
        let is_wide = |net: &Net| all_loads[*net as usize] > loads;
        for gate in gates.iter_mut().filter(|gate| gate.weight == MUXF) {
            if gate.outputs.iter().any(is_wide) {
                gate.weight = LEVEL;
                gate.driver = Driver::Lut;
            }
        }
        graph
    }
}

struct Joiner<'a> {
    design: &'a Design,
    graph: Graph,
    /// Union-find: a net that another unit's port joins with an older one points to it.
    same: Vec<Net>,
}

/// The nets of the ports of an instance: those of its parent. Constants and open ports are `None`.
type Ports<'a> = HashMap<&'a str, Vec<Option<Net>>>;

impl<'a> Joiner<'a> {
    fn net(&mut self) -> Net {
        self.same.push(self.same.len() as Net);
        self.graph.loads.push(0);
        self.same.len() as Net - 1
    }

    fn root(&mut self, mut net: Net) -> Net {
        while self.same[net as usize] != net {
            let next = self.same[net as usize];
            self.same[net as usize] = self.same[next as usize];
            net = next;
        }
        net
    }

    fn union(&mut self, a: Net, b: Net) {
        let (a, b) = (self.root(a), self.root(b));
        let (old, new) = (a.min(b), a.max(b));
        self.same[new as usize] = old;
    }

    fn top(&mut self) {
        let design = self.design;
        let netlist = &design.units[0].netlist;
        let named = Named::of(0, netlist);
        let mut bound = Ports::new();
        for port in &netlist.ports {
            let mut nets = vec![];
            for bit in &port.bits {
                let net = self.net();
                let label = named.bit(bit);
                nets.push(Some(net));
                if port.output {
                    self.graph.ends.push(End {
                        inputs: vec![net],
                        scope: 0,
                        label,
                    });
                } else {
                    self.graph.starts.push(Start {
                        net,
                        weight: 0,
                        driver: Driver::Other,
                        scope: 0,
                        label,
                    });
                }
            }
            bound.insert(&port.name, nets);
        }
        self.instance(0, String::new(), &bound);
    }

    fn instance(&mut self, unit: usize, path: String, bound: &Ports<'_>) {
        let design = self.design;
        let netlist = &design.units[unit].netlist;
        let scope = self.graph.scopes.len() as u32;
        self.graph.scopes.push(Scope {
            path: path.clone(),
            unit,
            nets: vec![],
        });
        let nets = self.bind(netlist, bound);
        let here = Here {
            netlist,
            nets,
            scope,
            named: Named::of(unit as u32, netlist),
        };
        for (n, cell) in netlist.cells.iter().enumerate() {
            self.cell(&here, n, cell);
        }
        for ((cell, _), &below) in variant::of_instances(netlist)
            .iter()
            .zip(&design.units[unit].below)
        {
            let pins = cell.inputs.iter().chain(&cell.outputs);
            let ports: Ports<'_> = pins
                .map(|(name, bits)| (netlist.word(*name), here.on(bits)))
                .collect();
            let name = cell.name.as_deref().unwrap_or("?");
            self.instance(below, joined(&path, name), &ports);
        }
        self.graph.scopes[scope as usize].nets = here.nets;
    }

    /// The net of each wire of an instance: that of the parent for a port, a new one for the others.
    fn bind(&mut self, netlist: &Netlist, bound: &Ports<'_>) -> Vec<Net> {
        let mut nets: Vec<Option<Net>> = vec![None; netlist.wires()];
        for port in &netlist.ports {
            let outside = bound.get(port.name.as_str());
            for (n, bit) in port.bits.iter().enumerate() {
                let outside = outside.and_then(|nets| nets.get(n).copied().flatten());
                let (Bit::Wire(wire), Some(outside)) = (bit, outside) else {
                    continue;
                };
                match nets[*wire as usize] {
                    Some(known) => self.union(known, outside),
                    None => nets[*wire as usize] = Some(outside),
                }
            }
        }
        nets.into_iter()
            .map(|net| net.unwrap_or_else(|| self.net()))
            .collect()
    }

    fn cell(&mut self, here: &Here<'_>, number: usize, cell: &Cell) {
        let kind = here.netlist.kind(cell);
        let is_clock = |pin: &str| cells::is_clock(kind, pin);
        let scope = here.scope;
        let outputs = here.all(&cell.outputs, |_| true);
        let inputs = here.all(&cell.inputs, |pin| !is_clock(pin));
        let role = cells::role(kind, cell.registered);
        if matches!(role, Role::Nothing | Role::Instance) {
            return;
        }
        for net in &inputs {
            self.graph.loads[*net as usize] += 1;
        }
        let label = here.named.cell(number, cell);
        let driver = cells::driver(kind);
        let graph = &mut self.graph;
        let start = |(net, weight)| Start {
            net,
            weight,
            driver,
            scope,
            label,
        };
        let gate = |inputs, outputs, weight| Gate {
            inputs,
            outputs,
            weight,
            is_carry: kind.starts_with("CARRY"),
            is_chosen: cells::is_chosen(kind),
            driver,
            scope,
            label,
        };
        match role {
            Role::Nothing | Role::Instance => {}
            Role::Through(weight) => graph.gates.push(gate(inputs, outputs, weight)),
            Role::Register(weight) => {
                graph
                    .starts
                    .extend(outputs.into_iter().map(|net| start((net, weight))));
                graph.ends.push(End {
                    inputs,
                    scope,
                    label,
                });
            }
            Role::LutRam => {
                for (pin, bits) in &cell.outputs {
                    let of = here.netlist.word(*pin);
                    let address = here.all(&cell.inputs, |pin| cells::selects(pin, of));
                    let nets: Vec<Net> = here.on(bits).into_iter().flatten().collect();
                    // A written word appears behind the clock as well.
                    graph
                        .starts
                        .extend(nets.iter().map(|net| start((*net, LEVEL))));
                    graph.gates.push(gate(address, nets, LEVEL));
                }
                graph.ends.push(End {
                    inputs,
                    scope,
                    label,
                });
            }
        }
    }

    fn finish(mut self) -> Graph {
        let roots: Vec<Net> = (0..self.same.len() as Net).map(|n| self.root(n)).collect();
        let root = |net: &mut Net| *net = roots[*net as usize];
        let mut graph = self.graph;
        for gate in &mut graph.gates {
            gate.inputs
                .iter_mut()
                .chain(&mut gate.outputs)
                .for_each(root);
        }
        for start in &mut graph.starts {
            root(&mut start.net);
        }
        graph
            .scopes
            .iter_mut()
            .flat_map(|scope| &mut scope.nets)
            .for_each(root);
        for end in &mut graph.ends {
            end.inputs.iter_mut().for_each(root);
        }
        let mut loads = vec![0; roots.len()];
        for (net, pins) in graph.loads.iter().enumerate() {
            loads[roots[net] as usize] += pins;
        }
        graph.loads = loads;
        graph
    }
}

/// An instance while it is joined.
struct Here<'a> {
    netlist: &'a Netlist,
    nets: Vec<Net>,
    scope: u32,
    named: Named,
}

impl Here<'_> {
    fn on(&self, bits: &[Bit]) -> Vec<Option<Net>> {
        let net = |bit: &Bit| match bit {
            Bit::Wire(wire) => Some(self.nets[*wire as usize]),
            Bit::Constant(_) => None,
        };
        bits.iter().map(net).collect()
    }

    fn all(&self, pins: &[(u32, Vec<Bit>)], keep: impl Fn(&str) -> bool) -> Vec<Net> {
        let kept = pins.iter().filter(|(pin, _)| keep(self.netlist.word(*pin)));
        kept.flat_map(|(_, bits)| self.on(bits).into_iter().flatten())
            .collect()
    }
}

/// The number of the name of each wire of a unit.
struct Named {
    unit: u32,
    names: u32,
    of_wire: HashMap<u32, u32>,
}

impl Named {
    fn of(unit: u32, netlist: &Netlist) -> Self {
        let bits = netlist.names.iter().zip(0..);
        let of_wire = bits.flat_map(|((_, bits), n)| bits.iter().map(move |bit| (*bit, n)));
        Self {
            unit,
            names: netlist.names.len() as u32,
            of_wire: of_wire.collect(),
        }
    }

    fn bit(&self, bit: &Bit) -> Label {
        match bit {
            Bit::Wire(wire) => self.of_wire.get(wire).map(|n| (self.unit, *n)),
            Bit::Constant(_) => None,
        }
    }

    /// The name of the cell, or of what it drives.
    fn cell(&self, number: usize, cell: &Cell) -> Label {
        if cell.name.is_some() {
            return Some((self.unit, self.names + number as u32));
        }
        let outputs = cell.outputs.iter().flat_map(|(_, bits)| bits);
        outputs.filter_map(|bit| self.bit(bit)).next()
    }
}

impl Graph {
    /// The path of what has a label, in Yosys' form. A bit of a vector has the vector's name.
    pub(crate) fn name(&self, design: &Design, scope: u32, label: Label) -> String {
        let path = &self.scopes[scope as usize].path;
        let Some((unit, n)) = label else {
            return joined(path, "?");
        };
        let netlist = &design.units[unit as usize].netlist;
        let n = n as usize;
        let name = match n.checked_sub(netlist.names.len()) {
            None => netlist.names[n].0.as_str(),
            Some(cell) => netlist.cells[cell].name.as_deref().unwrap_or("?"),
        };
        joined(path, name)
    }
}

/// The path of `name` below `path`.
pub(crate) fn joined(path: &str, name: &str) -> String {
    match path {
        "" => name.into(),
        _ => format!("{path}.{name}"),
    }
}
