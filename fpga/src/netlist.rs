//! Instances and connections of Verilog in the form that `hdl-verilog` emits, which the hand-written tops have too: one port and one connection per line.

use std::collections::BTreeMap;

/// A port of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// It is an output.
    pub is_output: bool,
    /// Its width in bits.
    pub width: usize,
}

/// A sub-module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The name of its module.
    pub module: String,
    /// Its name in Vivado's paths.
    pub name: String,
    /// For each port, what is connected to it, as it is written.
    pub connections: BTreeMap<String, String>,
}

/// What a module contains.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// Its ports, in their order.
    pub ports: Vec<Port>,
    /// Its sub-modules, in their order.
    pub instances: Vec<Instance>,
    /// Widths of its wires.
    pub wires: BTreeMap<String, usize>,
    /// `assign` of a name to a name.
    pub aliases: BTreeMap<String, String>,
    /// Its text.
    pub text: String,
}

impl Module {
    /// The width of one of its ports or wires.
    pub fn width(&self, name: &str) -> Option<usize> {
        let port = self.ports.iter().find(|port| port.name == name);
        port.map(|port| port.width)
            .or_else(|| self.wires.get(name).copied())
    }

    /// Reads the modules of a text.
    pub fn read_all(text: &str) -> Vec<Self> {
        let mut modules = vec![];
        let mut lines = vec![];
        for line in text.lines() {
            if line.starts_with("module ") {
                lines.clear();
            }
            lines.push(line);
            if line.starts_with("endmodule") && lines[0].starts_with("module ") {
                modules.push(Self::read(&lines));
            }
        }
        modules
    }

    fn read(lines: &[&str]) -> Self {
        let mut module = Self {
            name: word(lines[0], 1).into(),
            text: lines.join("\n"),
            ..Self::default()
        };
        let mut open: Option<Instance> = None;
        for line in lines.iter().map(|line| line.trim()) {
            if let Some(mut instance) = open.take() {
                if line == ");" {
                    module.instances.push(instance);
                    continue;
                }
                if let Some((port, value)) = connection(line) {
                    instance.connections.insert(port.into(), value.into());
                }
                // Parameters of a primitive end with `) name (`.
                let name = line
                    .strip_prefix(") ")
                    .and_then(|rest| rest.strip_suffix(" ("));
                if let Some(name) = name {
                    instance.name = name.into();
                    instance.connections.clear();
                }
                open = Some(instance);
            } else if let Some(port) = port(line) {
                module.ports.push(port);
            } else if let Some(rest) = line.strip_prefix("wire ") {
                let rest = rest.trim_end_matches(';');
                let names = rest.rsplit_once("] ").map_or(rest, |(_, names)| names);
                for name in names.split(", ") {
                    module.wires.insert(name.into(), width(rest));
                }
            } else if let Some(rest) = line.strip_prefix("assign ") {
                let rest = rest.trim_end_matches(';');
                if let Some((to, from)) = rest
                    .split_once(" = ")
                    .filter(|(to, from)| is_name(to) && is_name(from))
                {
                    module.aliases.insert(to.into(), from.into());
                }
            } else if line.ends_with('(') && !line.starts_with("module ") {
                let kind = word(line, 0);
                if is_name(kind) && kind != "if" && kind != "always" {
                    open = Some(Instance {
                        module: kind.into(),
                        name: word(line, 1)
                            .trim_start_matches('#')
                            .trim_end_matches('(')
                            .into(),
                        connections: BTreeMap::new(),
                    });
                }
            }
        }
        module
    }
}

/// Reads `.port(value),`.
fn connection(line: &str) -> Option<(&str, &str)> {
    let (port, value) = line.strip_prefix('.')?.split_once('(')?;
    let value = value.trim_end_matches(',');
    Some((port, value.strip_suffix(')').unwrap_or(value)))
}

fn word(line: &str, index: usize) -> &str {
    line.split_whitespace().nth(index).unwrap_or("")
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Reads `input wire [7:0] name,`, with attributes in front of it.
fn port(line: &str) -> Option<Port> {
    let line = line.rsplit_once("*) ").map_or(line, |(_, rest)| rest);
    let is_output = line.starts_with("output ");
    if !is_output && !line.starts_with("input ") {
        return None;
    }
    let name = line.trim_end_matches(',').split_whitespace().last()?;
    Some(Port {
        name: name.into(),
        is_output,
        width: width(line),
    })
}

/// The width of a declaration: `[7:0]`, or 1.
fn width(declaration: &str) -> usize {
    let range = declaration
        .split_once('[')
        .and_then(|(_, range)| range.split_once(':'));
    range
        .and_then(|(top, _)| top.parse::<usize>().ok())
        .map_or(1, |top| top + 1)
}
