//! The Verilog of a design, as far as the mapping needs to know it: who instantiates whom, ports, memories.

use std::collections::{BTreeMap, BTreeSet};

use crate::design::Division;
use crate::FitError;

/// A module of Verilog in the emitter's form: a line for each port, an instance and a memory begin on lines of their own.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// Its text, without the modules below.
    pub text: String,
}

/// A memory that a module declares.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Memory {
    /// The value of `ram_style`: `block`, `distributed` or `ultra`.
    pub style: String,
    /// Bits of a word.
    pub width: u64,
    /// Words.
    pub depth: u64,
    /// The name of the variable.
    pub name: String,
}

impl Memory {
    /// UltraRAMs of 4,096 words of 72 bits that Vivado builds the memory from (UG573: the shape of the primitive is fixed).
    pub const fn ultra_rams(&self) -> u64 {
        self.depth.div_ceil(4_096) * self.width.div_ceil(72)
    }

    /// Block RAMs of 36 Kib that Vivado builds the memory from, in halves, each with one port that writes and one that reads (UG573: shapes of a RAMB18).
    pub fn block_rams(&self) -> f64 {
        let shapes = [
            (36, 512),
            (18, 1_024),
            (9, 2_048),
            (4, 4_096),
            (2, 8_192),
            (1, 16_384),
        ];
        let halves =
            shapes.map(|(width, depth)| self.width.div_ceil(width) * self.depth.div_ceil(depth));
        halves.into_iter().min().unwrap_or(0) as f64 / 2.0
    }
}

/// All modules of a design by name.
pub(crate) struct Sources {
    texts: BTreeMap<String, String>,
    children: BTreeMap<String, Vec<(String, String)>>,
    weights: BTreeMap<String, usize>,
    division: Division,
}

impl Sources {
    pub(crate) fn new(modules: &[Module], division: Division) -> Self {
        let texts: BTreeMap<String, String> = (modules.iter())
            .map(|m| (m.name.clone(), without_comments(&m.text)))
            .collect();
        let children = (texts.iter())
            .map(|(name, text)| (name.clone(), instances(text, &texts)))
            .collect();
        let mut sources = Self {
            texts,
            children,
            weights: BTreeMap::new(),
            division,
        };
        for module in modules {
            sources.weigh(&module.name);
        }
        sources
    }

    pub(crate) fn text(&self, module: &str) -> Result<&str, FitError> {
        let text = self.texts.get(module).map(String::as_str);
        text.ok_or_else(|| FitError::NoModule(module.into()))
    }

    /// Name and module of each instance in `module`.
    pub(crate) fn children(&self, module: &str) -> &[(String, String)] {
        self.children.get(module).map_or(&[], Vec::as_slice)
    }

    /// Lines of the module with everything below it.
    pub(crate) fn weight(&self, module: &str) -> usize {
        self.weights.get(module).copied().unwrap_or(0)
    }

    fn weigh(&mut self, module: &str) -> usize {
        if let Some(&known) = self.weights.get(module) {
            return known;
        }
        let children: Vec<String> = (self.children(module).iter())
            .map(|(_, kind)| kind.clone())
            .collect();
        let below: usize = children.iter().map(|kind| self.weigh(kind)).sum();
        let own = self.texts.get(module).map_or(0, |t| t.lines().count());
        self.weights.insert(module.into(), own + below);
        own + below
    }

    /// Memories that the module itself declares with a style.
    pub(crate) fn memories(&self, module: &str) -> Vec<Memory> {
        let text = self.texts.get(module).map_or("", String::as_str);
        for_synthesis(text).filter_map(memory).collect()
    }

    /// The module's ports alone, as an empty module.
    pub(crate) fn shell(&self, module: &str) -> Result<String, FitError> {
        let text = self.text(module)?;
        let begin = text.find("module ").unwrap_or(0);
        let end = text[begin..]
            .find(");")
            .map_or(text.len(), |n| begin + n + 2);
        Ok(format!("{}\nendmodule\n", &text[begin..end]))
    }
}

/// A change of a comment alone maps nothing again.
fn without_comments(text: &str) -> String {
    let lines = text.lines().filter(|l| !l.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The lines that are read with `SYNTHESIS` defined.
fn for_synthesis(text: &str) -> impl Iterator<Item = &str> {
    // For each condition that is open, whether its present branch is read.
    let mut branches: Vec<bool> = vec![];
    text.lines().filter(move |line| {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("`ifdef"), Some(name)) => branches.push(name == "SYNTHESIS"),
            (Some("`ifndef"), Some(name)) => branches.push(name != "SYNTHESIS"),
            (Some("`else"), _) => {
                if let Some(branch) = branches.last_mut() {
                    *branch = !*branch;
                }
            }
            (Some("`endif"), _) => {
                branches.pop();
            }
            _ => return branches.iter().all(|&read| read),
        }
        false
    })
}

fn instances(text: &str, texts: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let instance = |line: &str| {
        let mut words = line.split_whitespace();
        let (kind, name, bracket) = (words.next()?, words.next()?, words.next()?);
        (texts.contains_key(kind) && bracket.starts_with('('))
            .then(|| (name.to_owned(), kind.to_owned()))
    };
    text.lines().filter_map(instance).collect()
}

/// Reads `(* ram_style = "block" *) reg [71:0] memory [0:511];`.
fn memory(line: &str) -> Option<Memory> {
    let rest = line.trim().strip_prefix("(* ram_style = \"")?;
    let (style, rest) = rest.split_once('"')?;
    let (_, rest) = rest.split_once("reg [")?;
    let (top, rest) = rest.split_once(":0]")?;
    let (name, rest) = rest.split_once("[0:")?;
    let (last, _) = rest.split_once(']')?;
    Some(Memory {
        style: style.into(),
        width: top.trim().parse::<u64>().ok()? + 1,
        depth: last.trim().parse::<u64>().ok()? + 1,
        name: name.trim().into(),
    })
}

/// What Yosys maps in one run: a module, and the modules below that are mapped together with it.
pub(crate) struct Unit {
    /// The modules of the run, the unit's own last.
    pub inside: Vec<String>,
    /// Modules that are mapped on their own, of which only the ports are known here.
    pub outside: BTreeSet<String>,
}

impl Sources {
    /// The unit whose top is `module`. A module below is another unit if it has a block RAM or an UltraRAM, because those are slow to map and shared, and
    /// if it contains or is one that is too large, or has to stay a module. Everything else is flattened, as Vivado does.
    pub(crate) fn unit(&self, module: &str) -> Unit {
        let mut unit = Unit {
            inside: vec![],
            outside: BTreeSet::new(),
        };
        let large = self.weight(module) > self.division.largest;
        self.gather(module, large, &mut unit);
        unit
    }

    fn gather(&self, module: &str, large: bool, unit: &mut Unit) {
        for (_, kind) in self.children(module) {
            let limit = match large {
                true => self.division.smallest,
                false => self.division.largest,
            };
            if self.has_large_memory(kind) || self.stays(kind) || self.weight(kind) > limit {
                unit.outside.insert(kind.clone());
            } else if !unit.inside.contains(kind) {
                self.gather(kind, large, unit);
            }
        }
        unit.inside.push(module.into());
    }

    /// Synthesis leaves the module as it is: a register of a reset tree.
    fn stays(&self, module: &str) -> bool {
        let text = self.texts.get(module);
        text.is_some_and(|text| text.contains("(* keep_hierarchy"))
    }

    fn has_large_memory(&self, module: &str) -> bool {
        self.memories(module)
            .iter()
            .any(|m| m.style != "distributed")
    }

    /// The module is a block RAM: its outputs come as late as a path that begins there ([`crate::cells::BLOCK_RAM_START`]).
    pub(crate) fn is_block_ram(&self, module: &str) -> bool {
        self.memories(module).iter().any(|m| m.style == "block")
    }

    /// Memories of the unit whose top is `module`, with the path of the instance that declares each, in Yosys' form (`u_a.u_b`).
    pub(crate) fn memories_inside(&self, module: &str) -> Vec<(String, Memory)> {
        let unit = self.unit(module);
        let mut found = vec![];
        self.memories_below(module, "", &unit, &mut found);
        found
    }

    fn memories_below(
        &self,
        module: &str,
        path: &str,
        unit: &Unit,
        found: &mut Vec<(String, Memory)>,
    ) {
        found.extend(
            self.memories(module)
                .into_iter()
                .map(|m| (path.to_owned(), m)),
        );
        for (name, kind) in self.children(module) {
            if unit.inside.contains(kind) {
                let path = match path {
                    "" => name.clone(),
                    _ => format!("{path}.{name}"),
                };
                self.memories_below(kind, &path, unit, found);
            }
        }
    }
}
