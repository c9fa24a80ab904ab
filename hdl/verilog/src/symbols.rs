//! The names that the code of a module may use.

use std::collections::BTreeMap;
use std::rc::Rc;

use rust_hdl::core::atom::AtomKind;

use crate::collect::{Enumeration, Instance};
use crate::names::Scope;
use crate::record::Record;

/// The kind of a name. It decides who may assign it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Role {
    Input,
    Output,
    Local,
    Constant,
    /// Input port of a sub-block, which this module drives.
    ChildInput,
    /// Output port of a sub-block, which this module reads.
    ChildOutput,
    /// Next value, current value and clock of a register of this module.
    RegisterNext,
    Register,
    RegisterClock,
    /// Wire for a `let` of the hardware kernel.
    Let,
}

#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub verilog: String,
    pub width: usize,
    pub role: Role,
    /// The fields of a record; `None` for a plain signal.
    pub record: Option<Rc<Record>>,
}

/// The symbols of one module by flat Rust name, and the enumeration values that it can use.
pub(crate) struct Symbols {
    by_name: BTreeMap<String, Symbol>,
    enums: BTreeMap<String, (u64, usize)>,
    enumerations: Vec<Enumeration>,
    pub scope: Scope,
}

impl Symbols {
    /// Collects the signals of `instance` and the ports of its children. `registers` are the names of the children that are flip-flops.
    pub(crate) fn of(instance: &Instance, registers: &[&str]) -> Self {
        let mut symbols = Symbols {
            by_name: BTreeMap::new(),
            enums: BTreeMap::new(),
            enumerations: vec![],
            scope: Scope::default(),
        };
        for signal in &instance.signals {
            let role = match signal.kind {
                AtomKind::InputParameter => Role::Input,
                AtomKind::OutputParameter | AtomKind::OutputPassthrough => Role::Output,
                AtomKind::Constant => Role::Constant,
                _ => Role::Local,
            };
            symbols.add(&signal.name, &signal.wanted, signal.width, role);
            symbols.describe(&signal.name, &signal.record);
            symbols.learn(&signal.enums);
        }
        for child in &instance.children {
            let register = registers.contains(&child.name.as_str());
            for port in &child.signals {
                symbols.learn(&port.enums);
                let name = format!("{}${}", child.name, port.name);
                let wanted = format!("{}_{}", child.name, port.wanted);
                match (register, port.name.as_str(), port.kind) {
                    (true, "d", _) => symbols.add(
                        &name,
                        &format!("{}_next", child.name),
                        port.width,
                        Role::RegisterNext,
                    ),
                    (true, "q", _) => symbols.add(&name, &child.name, port.width, Role::Register),
                    (true, _, _) => symbols.add(&name, &name, port.width, Role::RegisterClock),
                    (_, _, AtomKind::InputParameter) => {
                        symbols.add(&name, &wanted, port.width, Role::ChildInput)
                    }
                    (_, _, AtomKind::OutputParameter | AtomKind::OutputPassthrough) => {
                        symbols.add(&name, &wanted, port.width, Role::ChildOutput)
                    }
                    _ => {}
                }
                symbols.describe(&name, &port.record);
            }
        }
        symbols
    }

    pub(crate) fn add(&mut self, name: &str, wanted: &str, width: usize, role: Role) {
        let verilog = self.scope.claim(wanted);
        self.by_name.insert(
            name.to_string(),
            Symbol {
                verilog,
                width,
                role,
                record: None,
            },
        );
    }

    /// Gives the signal `name` the fields of a record.
    pub(crate) fn describe(&mut self, name: &str, record: &Option<Rc<Record>>) {
        if let (Some(symbol), Some(record)) = (self.by_name.get_mut(name), record) {
            if symbol.record.is_none() && symbol.width == record.width {
                symbol.record = Some(record.clone());
            }
        }
    }

    /// Makes `name` an alias of `of`.
    pub(crate) fn alias(&mut self, name: &str, of: &Symbol) {
        self.by_name.insert(name.to_string(), of.clone());
    }

    pub(crate) fn get(&self, flat: &str) -> Option<&Symbol> {
        self.by_name.get(flat)
    }

    /// Returns the value and width of an enumeration value, by its flat name (`State$Idle`).
    pub(crate) fn enum_value(&self, flat: &str) -> Option<(u64, usize)> {
        self.enums.get(flat).copied()
    }

    /// Returns the number of variants of the enumeration that a value belongs to.
    pub(crate) fn variants_beside(&self, flat_value: &str) -> Option<usize> {
        self.enumerations
            .iter()
            .find(|e| {
                e.variants
                    .iter()
                    .any(|v| crate::names::flat(v) == flat_value)
            })
            .map(|e| e.variants.len())
    }

    fn learn(&mut self, enums: &[Enumeration]) {
        for e in enums {
            if self.enumerations.contains(e) {
                continue;
            }
            for (value, variant) in e.variants.iter().enumerate() {
                self.enums
                    .insert(crate::names::flat(variant), (value as u64, e.width));
            }
            self.enumerations.push(e.clone());
        }
    }
}
