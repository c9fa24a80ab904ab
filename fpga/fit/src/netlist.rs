//! A mapped unit: what is kept of Yosys' netlist. It is small enough to be cached for each unit and joined over a whole card.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::cells;

/// A wire's number within its unit, or a constant.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[serde(untagged)]
pub(crate) enum Bit {
    Wire(u32),
    Constant(char),
}

/// A mapped unit.
#[derive(Serialize, Deserialize, Default, Debug)]
pub(crate) struct Netlist {
    pub ports: Vec<Port>,
    /// Types of cells and names of their pins.
    pub words: Vec<String>,
    pub cells: Vec<Cell>,
    /// Names of wires that the Verilog gave, with their bits.
    pub names: Vec<(String, Vec<u32>)>,
}

#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Port {
    pub name: String,
    pub output: bool,
    pub bits: Vec<Bit>,
}

/// A cell of the device, or an instance of another unit.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Cell {
    /// Number of its type in [`Netlist::words`].
    pub kind: u32,
    /// Its name, if the Verilog gave it: instances and memories.
    pub name: Option<String>,
    /// Yosys' name of it, which another run finds again: cells at the border of ABC's logic have one ([`cells::is_border`]).
    pub key: Option<String>,
    /// Whether a register stands on the way through the cell (DSP).
    pub registered: bool,
    pub inputs: Vec<(u32, Vec<Bit>)>,
    pub outputs: Vec<(u32, Vec<Bit>)>,
}

/// Yosys' file.
#[derive(Deserialize)]
pub(crate) struct File {
    pub modules: BTreeMap<String, Wanted>,
}

#[derive(Deserialize)]
pub(crate) struct Wanted {
    pub ports: BTreeMap<String, RawPort>,
    #[serde(default)]
    pub cells: BTreeMap<String, RawCell>,
    #[serde(default)]
    pub netnames: BTreeMap<String, RawName>,
}

#[derive(Deserialize)]
pub(crate) struct RawPort {
    direction: String,
    pub bits: Vec<RawBit>,
}

#[derive(Deserialize)]
pub(crate) struct RawCell {
    hide_name: u8,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    parameters: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    port_directions: BTreeMap<String, String>,
    pub connections: BTreeMap<String, Vec<RawBit>>,
}

#[derive(Deserialize)]
pub(crate) struct RawName {
    hide_name: u8,
    pub bits: Vec<RawBit>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum RawBit {
    Wire(u32),
    Constant(String),
}

impl RawBit {
    fn read(&self) -> Bit {
        match self {
            Self::Wire(wire) => Bit::Wire(*wire),
            Self::Constant(value) => Bit::Constant(value.chars().next().unwrap_or('x')),
        }
    }
}

impl Netlist {
    /// Reads the module `top` of Yosys' file.
    pub(crate) fn read(json: &str, top: &str) -> Result<Self, String> {
        let mut file: File = serde_json::from_str(json).map_err(|e| e.to_string())?;
        let module = file.modules.remove(top).ok_or("the module is missing")?;
        let mut words = Words::default();
        let cells = (module.cells.iter())
            .map(|(name, cell)| cell.read(name, &mut words))
            .collect();
        let port = |(name, port): (String, RawPort)| Port {
            name,
            output: port.direction == "output",
            bits: port.bits.iter().map(RawBit::read).collect(),
        };
        Ok(Self {
            cells,
            ports: module.ports.into_iter().map(port).collect(),
            words: words.list,
            names: names(module.netnames),
        })
    }

    pub(crate) fn kind(&self, cell: &Cell) -> &str {
        &self.words[cell.kind as usize]
    }

    /// LUTs, without those of memories and shift registers.
    pub(crate) fn luts(&self) -> usize {
        let kinds = self.cells.iter().map(|cell| self.kind(cell));
        kinds.filter(|kind| kind.starts_with("LUT")).count()
    }

    pub(crate) fn word(&self, number: u32) -> &str {
        &self.words[number as usize]
    }

    /// One more than the largest number of a wire.
    pub(crate) fn wires(&self) -> usize {
        let pins = self
            .cells
            .iter()
            .flat_map(|c| c.inputs.iter().chain(&c.outputs));
        let bits = pins.flat_map(|(_, bits)| bits);
        let bits = bits.chain(self.ports.iter().flat_map(|p| &p.bits));
        let most = bits.filter_map(|bit| match bit {
            Bit::Wire(wire) => Some(*wire as usize + 1),
            Bit::Constant(_) => None,
        });
        most.max().unwrap_or(0)
    }
}

#[derive(Default)]
struct Words {
    list: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Words {
    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = self.list.len() as u32;
        self.list.push(word.into());
        self.numbers.insert(word.into(), number);
        number
    }
}

impl RawCell {
    pub(crate) fn is_output(&self, port: &str) -> bool {
        let direction = self.port_directions.get(port);
        direction.is_some_and(|d| d == "output")
    }

    fn read(&self, name: &str, words: &mut Words) -> Cell {
        let (mut ins, mut outs) = (vec![], vec![]);
        for (port, bits) in &self.connections {
            let side = if self.is_output(port) {
                &mut outs
            } else {
                &mut ins
            };
            side.push((words.number(port), bits.iter().map(RawBit::read).collect()));
        }
        let on = |(key, value): (&String, &serde_json::Value)| {
            let text = value.as_str().map_or(value.to_string(), str::to_owned);
            key.ends_with("REG") && text.contains('1')
        };
        Cell {
            kind: words.number(&self.kind),
            name: (self.hide_name == 0).then(|| name.to_owned()),
            key: cells::is_border(&self.kind).then(|| name.to_owned()),
            registered: self.parameters.iter().any(on),
            inputs: ins,
            outputs: outs,
        }
    }
}

/// The visible names. Yosys repeats a wire under the name of every port that it passes; each wire keeps its shortest.
fn names(raw: BTreeMap<String, RawName>) -> Vec<(String, Vec<u32>)> {
    let visible = raw.into_iter().filter(|(_, n)| n.hide_name == 0);
    let mut sorted: Vec<(String, RawName)> = visible.collect();
    sorted.sort_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
    let mut named = std::collections::HashSet::new();
    let mut kept = vec![];
    for (name, raw) in sorted {
        let new = |bit: &RawBit| match bit {
            RawBit::Wire(wire) if named.insert(*wire) => Some(*wire),
            _ => None,
        };
        let bits: Vec<u32> = raw.bits.iter().filter_map(new).collect();
        if !bits.is_empty() {
            kept.push((name, bits));
        }
    }
    kept
}
