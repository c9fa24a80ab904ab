//! A unit as one of its instances uses it: inputs that are constant there, and outputs that nobody reads. Vivado removes the logic behind both.

use std::collections::BTreeMap;

use crate::cells::{self, Role};
use crate::netlist::{Bit, Cell, Netlist};

/// What an instance leaves out of its module. Ports that are used in full are not listed.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Variant {
    /// For each input with constant bits: `0`, `1` or `x` for those, `-` for the others; bit 0 first.
    pub constants: BTreeMap<String, String>,
    /// For each output with bits that nobody reads: `u` for those, `-` for the others; bit 0 first.
    pub unread: BTreeMap<String, String>,
}

/// The variant of each instance of another unit in `netlist`, in the order of the cells.
pub(crate) fn of_instances(netlist: &Netlist) -> Vec<(&Cell, Variant)> {
    let mut read = vec![false; netlist.wires()];
    let outputs = netlist
        .ports
        .iter()
        .filter(|p| p.output)
        .flat_map(|p| &p.bits);
    let inputs = netlist
        .cells
        .iter()
        .flat_map(|c| &c.inputs)
        .flat_map(|(_, b)| b);
    for bit in outputs.chain(inputs) {
        if let Bit::Wire(wire) = bit {
            read[*wire as usize] = true;
        }
    }
    let is_instance = |cell: &&Cell| cells::role(netlist.kind(cell), false) == Role::Instance;
    let variant = |cell: &Cell| {
        let constant = |bit: &Bit| match bit {
            Bit::Wire(_) => '-',
            Bit::Constant('z') => 'x',
            Bit::Constant(value) => *value,
        };
        let unread = |bit: &Bit| match bit {
            Bit::Wire(wire) if read[*wire as usize] => '-',
            _ => 'u',
        };
        Variant {
            constants: marks(netlist, &cell.inputs, constant),
            unread: marks(netlist, &cell.outputs, unread),
        }
    };
    let instances = netlist.cells.iter().filter(is_instance);
    instances.map(|cell| (cell, variant(cell))).collect()
}

fn marks(
    netlist: &Netlist,
    pins: &[(u32, Vec<Bit>)],
    mark: impl Fn(&Bit) -> char,
) -> BTreeMap<String, String> {
    let port = |(name, bits): &(u32, Vec<Bit>)| {
        let marks: String = bits.iter().map(&mark).collect();
        (netlist.word(*name).to_owned(), marks)
    };
    let all = pins.iter().map(port);
    all.filter(|(_, marks)| marks.chars().any(|m| m != '-'))
        .collect()
}

/// Name of the module around a variant.
pub(crate) const WRAPPER: &str = "fit_variant";

impl Variant {
    pub(crate) fn is_plain(&self) -> bool {
        self.constants.is_empty() && self.unread.is_empty()
    }

    /// A module with the ports of `module`, whose empty form is `shell`: it holds the constants and leaves open what is not read.
    pub(crate) fn wrapper(&self, module: &str, shell: &str) -> String {
        let head = shell.replacen(
            &format!("module {module} "),
            &format!("module {WRAPPER} "),
            1,
        );
        let (head, _) = head.rsplit_once("endmodule").unwrap_or((&head, ""));
        let mut body = String::new();
        let mut pins = vec![];
        for (port, output) in ports(shell) {
            let pin = if let Some(marks) = self.constants.get(port) {
                let value = |(n, m): (usize, char)| match m {
                    '-' if marks.len() == 1 => port.to_owned(),
                    '-' => format!("{port}[{n}]"),
                    constant => format!("1'b{constant}"),
                };
                concatenated(marks, value)
            } else if let (true, Some(marks)) = (output, self.unread.get(port)) {
                body += &format!("  wire [{}:0] fit_{port};\n", marks.len() - 1);
                for (n, _) in marks.char_indices().filter(|(_, m)| *m == '-') {
                    body += &format!("  assign {port}[{n}] = fit_{port}[{n}];\n");
                }
                format!("fit_{port}")
            } else {
                port.to_owned()
            };
            pins.push(format!(".{port}({pin})"));
        }
        format!(
            "{head}{body}  {module} u ({});\nendmodule\n",
            pins.join(", ")
        )
    }
}

impl Netlist {
    /// Takes the name of the wrapper's instance away from the names of the unit.
    pub(crate) fn unwrap(&mut self, variant: &Variant) {
        if variant.is_plain() {
            return;
        }
        let names = self.names.iter_mut().map(|(name, _)| name);
        let cells = self.cells.iter_mut().filter_map(|cell| cell.name.as_mut());
        for name in names.chain(cells) {
            if let Some(inner) = name.strip_prefix("u.") {
                *name = inner.into();
            }
        }
    }
}

fn concatenated(marks: &str, value: impl Fn((usize, char)) -> String) -> String {
    let mut values: Vec<String> = marks.char_indices().map(value).collect();
    values.reverse();
    format!("{{{}}}", values.join(", "))
}

/// Name of each port of an empty module, and whether it is an output.
fn ports(shell: &str) -> impl Iterator<Item = (&str, bool)> {
    shell.lines().filter_map(port)
}

fn port(line: &str) -> Option<(&str, bool)> {
    let line = line.trim().trim_end_matches(");").trim();
    let line = line.trim_end_matches(',');
    let output = line.starts_with("output");
    let name = line.rsplit([' ', ']']).next()?;
    (output || line.starts_with("input")).then_some((name, output))
}
