//! When signals come to the logic of a unit, and when they have to leave it.
//!
//! ABC maps the LUTs of one unit at a time. What it does not see are carries, memories, multipliers and other units, so it does not know how late their outputs come, and how
//! early they need their inputs. Both are known once all units are mapped and joined; another run of ABC hears of them, as Vivado knows the whole card.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::arrival::{Arrival, NEVER};
use crate::cells::LEVEL;
use crate::design::Design;
use crate::graph::{Graph, Net, Scope};
use crate::netlist::{Bit, Netlist};

/// A bit of a port of the unit, or of a pin of a cell that ABC does not see.
#[derive(Serialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Pin {
    /// Yosys' name of the cell. A port of the unit has none.
    pub cell: Option<String>,
    pub port: String,
    pub bit: usize,
}

/// Half levels at the borders of a unit's logic: the worst of its instances.
#[derive(Serialize, Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Times {
    /// When inputs come, if not at once.
    pub arrivals: Vec<(Pin, u32)>,
    /// When outputs are needed, if earlier than at a register.
    pub required: Vec<(Pin, u32)>,
    /// When registers need their inputs.
    pub period: u32,
}

/// ABC is asked for so many half levels less than are there. Times at borders move while the units around are mapped anew, and its recovery of area goes too far at times.
const MARGIN: i32 = LEVEL as i32;

/// The times of each unit that has a LUT on a path of more than `period` half levels.
pub(crate) fn of_units(
    design: &Design,
    graph: &Graph,
    arrival: &Arrival<'_>,
    period: u32,
) -> BTreeMap<usize, Times> {
    let after = arrival.departures();
    let mut late = vec![false; design.units.len()];
    for gate in graph.gates.iter().filter(|gate| gate.is_chosen) {
        let slow = |net: &Net| {
            let net = *net as usize;
            arrival.time[net] + after[net] > period as i32
        };
        late[graph.scopes[gate.scope as usize].unit] |= gate.outputs.iter().any(slow);
    }
    let leaving = Leaving::of(graph, arrival, &after);
    let mut found: BTreeMap<usize, Worst> = BTreeMap::new();
    for (scope, n) in graph.scopes.iter().zip(0..) {
        if late[scope.unit] {
            let netlist = &design.units[scope.unit].netlist;
            let worst = found.entry(scope.unit).or_default();
            for (pin, net, drives) in pins(netlist, scope) {
                let time = arrival.time[net as usize];
                if time == NEVER {
                    continue;
                }
                if drives {
                    worst.arrives(pin, time);
                } else if let Some(rest) = leaving.after(net, n) {
                    // What is early enough stays as early: what is left of the period belongs to the whole path.
                    worst.is_required(pin, time.min(period as i32 - rest) - MARGIN);
                }
            }
        }
    }
    let times = |(unit, worst): (usize, Worst)| (unit, worst.times(period));
    found.into_iter().map(times).collect()
}

/// The pins at the border of a unit's logic with their nets, and whether the net comes from there.
fn pins<'a>(netlist: &'a Netlist, scope: &'a Scope) -> impl Iterator<Item = (Pin, Net, bool)> + 'a {
    let on = move |cell: Option<&'a str>, port: &'a str, bits: &'a [Bit], drives: bool| {
        let bits = bits.iter().enumerate();
        bits.filter_map(move |(bit, wire)| {
            let Bit::Wire(wire) = wire else { return None };
            let pin = Pin {
                cell: cell.map(str::to_owned),
                port: port.to_owned(),
                bit,
            };
            Some((pin, scope.nets[*wire as usize], drives))
        })
    };
    let ports = (netlist.ports.iter()).flat_map(move |p| on(None, &p.name, &p.bits, !p.output));
    let cells = netlist.cells.iter().filter(|cell| cell.key.is_some());
    let pins = cells.flat_map(move |cell| {
        let sides = [(&cell.inputs, false), (&cell.outputs, true)];
        sides.into_iter().flat_map(move |(pins, drives)| {
            pins.iter().flat_map(move |(port, bits)| {
                on(cell.key.as_deref(), netlist.word(*port), bits, drives)
            })
        })
    });
    ports.chain(pins)
}

/// The longest paths from each net through cells that another run of ABC on a unit does not choose anew: the rest of the card.
struct Leaving {
    /// The longest one, and the instance whose LUTs it goes through first.
    longest: Vec<(i32, u32)>,
    /// The longest one that goes through another instance first.
    other: Vec<i32>,
}

/// A path that does not begin in a LUT.
const NO_SCOPE: u32 = u32::MAX;

impl Leaving {
    fn of(graph: &Graph, arrival: &Arrival<'_>, after: &[i32]) -> Self {
        let nets = arrival.time.len();
        let mut found = Self {
            longest: vec![(NEVER, NO_SCOPE); nets],
            other: vec![NEVER; nets],
        };
        for net in graph.ends.iter().flat_map(|end| &end.inputs) {
            found.add(*net, 0, NO_SCOPE);
        }
        for gate in &graph.gates {
            let scope = if gate.is_chosen { gate.scope } else { NO_SCOPE };
            if let Some(rest) = gate.rest(after) {
                for net in &gate.inputs {
                    found.add(*net, rest, scope);
                }
            }
        }
        found
    }

    fn add(&mut self, net: Net, rest: i32, scope: u32) {
        let (longest, other) = (
            &mut self.longest[net as usize],
            &mut self.other[net as usize],
        );
        if scope == longest.1 {
            longest.0 = longest.0.max(rest);
        } else if rest > longest.0 {
            *other = longest.0;
            *longest = (rest, scope);
        } else {
            *other = rest.max(*other);
        }
    }

    /// Half levels from `net` through everything but the LUTs of instance `scope`.
    fn after(&self, net: Net, scope: u32) -> Option<i32> {
        let (longest, first) = self.longest[net as usize];
        let rest = if first == scope {
            self.other[net as usize]
        } else {
            longest
        };
        (rest >= 0).then_some(rest)
    }
}

/// What the instances of a unit ask together.
#[derive(Default)]
struct Worst {
    arrivals: BTreeMap<Pin, u32>,
    required: BTreeMap<Pin, u32>,
}

impl Worst {
    fn arrives(&mut self, pin: Pin, time: i32) {
        if time > 0 {
            let known = self.arrivals.entry(pin).or_default();
            *known = (*known).max(time as u32);
        }
    }

    fn is_required(&mut self, pin: Pin, time: i32) {
        let time = time.max(0) as u32;
        let known = self.required.entry(pin).or_insert(time);
        *known = (*known).min(time);
    }

    fn times(self, period: u32) -> Times {
        Times {
            arrivals: self.arrivals.into_iter().collect(),
            required: self.required.into_iter().collect(),
            period: period - MARGIN as u32,
        }
    }
}
