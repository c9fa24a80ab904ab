//! Registers and sub-blocks of a module. The nets that connect them are declared first, because a net must be declared before its use.

use std::collections::BTreeMap;
use std::fmt::Write;

use rust_hdl::core::atom::AtomKind;

use crate::assign::Driver;
use crate::collect::Instance;
use crate::error::EmitError;
use crate::expression::bare;
use crate::module::{range, register_init, Driven};
use crate::names;
use crate::skeleton::instance_name;
use crate::symbols::Symbols;

/// The parts of a module besides its own logic.
pub(crate) struct Parts<'a> {
    pub instance: &'a Instance,
    /// The module name of each child that is not a register.
    pub kinds: &'a BTreeMap<String, String>,
    pub symbols: &'a Symbols,
    pub driven: &'a BTreeMap<String, Driven>,
}

impl Parts<'_> {
    fn driven(&self, key: &str) -> Result<&Driven, EmitError> {
        self.driven.get(key).ok_or_else(|| EmitError::Undriven {
            module: self.instance.path.clone(),
            signal: key.to_string(),
        })
    }

    fn registers(&self) -> impl Iterator<Item = (&Instance, String)> {
        let children = self.instance.children.iter();
        children.filter_map(|child| Some((child, register_init(child)?)))
    }

    fn sub_blocks(&self) -> impl Iterator<Item = (&Instance, &String)> {
        let children = self.instance.children.iter();
        children.filter_map(|child| Some((child, self.kinds.get(&child.name)?)))
    }

    /// Declares registers with their initial values, their next values where these have a block of their own, and the nets of sub-blocks.
    pub(crate) fn declare(&self, out: &mut String) -> Result<(), EmitError> {
        for (child, init) in self.registers() {
            let q = self
                .symbols
                .get(&format!("{}$q", child.name))
                .expect("register output");
            // rust-hdl prints enumeration values with 64 bits, whatever their width.
            let digits = init.split_once("'h").map_or(&*init, |(_, digits)| digits);
            let range = range(q.width);
            let _ = writeln!(out, "  reg{range} {} = {}'h{digits};", q.verilog, q.width);
            let d = self.driven(&format!("{}$d", child.name))?;
            if let Driver::Block(_) = d.driver {
                let _ = writeln!(out, "  reg{range} {};", d.symbol.verilog);
            }
        }
        for (child, _) in self.sub_blocks() {
            for port in child.signals.iter().filter(|s| s.kind.is_parameter()) {
                let key = format!("{}${}", child.name, port.name);
                let kind = match port.kind {
                    AtomKind::InputParameter => match self.driven(&key)?.driver {
                        Driver::Expression(_) => continue,
                        Driver::Block(_) => "reg",
                    },
                    _ => "wire",
                };
                let name = &self.net(&key);
                let _ = writeln!(out, "  {kind}{} {name};", range(port.width));
            }
        }
        Ok(())
    }

    fn net(&self, key: &str) -> &str {
        let symbol = self.symbols.get(key);
        &symbol.expect("ports of children are symbols").verilog
    }

    /// Prints the clocked blocks. Returns, for each clock, the conditions under which its edge changes a register.
    pub(crate) fn print_registers(
        &self,
        out: &mut String,
    ) -> Result<BTreeMap<String, Vec<String>>, EmitError> {
        let mut by_clock: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for (child, _) in self.registers() {
            let clock_name = format!("{}$clock", child.name);
            let Driver::Expression(clock) = &self.driven(&clock_name)?.driver else {
                return Err(EmitError::Undriven {
                    module: self.instance.path.clone(),
                    signal: clock_name,
                });
            };
            let d = self.driven(&format!("{}$d", child.name))?;
            let next = match &d.driver {
                Driver::Expression(text) => bare(text),
                Driver::Block(_) => &d.symbol.verilog,
            };
            let q = self.net(&format!("{}$q", child.name));
            by_clock.entry(clock).or_default().push((q, next));
        }
        let mut changes = BTreeMap::new();
        for (clock, registers) in by_clock {
            let _ = writeln!(out, "  always @(posedge {clock}) begin");
            for (register, next) in &registers {
                let _ = writeln!(out, "    {register} <= {next};");
            }
            *out += "  end\n";
            let conditions = registers.iter().map(|(register, next)| {
                crate::annotation::plain(&format!("({register} != ({next}))"))
            });
            changes.insert(clock.to_string(), conditions.collect());
        }
        Ok(changes)
    }

    /// Prints the sub-blocks with their connections.
    pub(crate) fn print_sub_blocks(&self, out: &mut String) -> Result<(), EmitError> {
        for (child, kind) in self.sub_blocks() {
            let mut connections = vec![];
            for port in child.signals.iter().filter(|s| s.kind.is_parameter()) {
                let key = format!("{}${}", child.name, port.name);
                let connected = match (port.kind, self.driven.get(&key).map(|d| &d.driver)) {
                    (AtomKind::InputParameter, Some(Driver::Expression(text))) => bare(text),
                    _ => self.net(&key),
                };
                connections.push(format!(
                    "    .{}({connected})",
                    port_name(child, &port.name)
                ));
            }
            let _ = writeln!(
                out,
                "  {kind} {} (\n{}\n  );",
                instance_name(child),
                connections.join(",\n")
            );
        }
        Ok(())
    }
}

/// Returns the Verilog name of a child's port.
fn port_name(child: &Instance, port: &str) -> String {
    let names = names::of_signals(child.signals.iter().map(|s| s.wanted.as_str()));
    let at = child.signals.iter().position(|s| s.name == port);
    names[at.expect("the port was found among the child's signals")].clone()
}
