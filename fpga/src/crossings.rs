//! Every crossing between clocks of a design, found in its Verilog by the names of `hdl/crossings` (`docs/crossings.md`).

use std::collections::{BTreeMap, BTreeSet};

use crate::netlist::{Instance, Module};

/// A register that sends to another clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The path of the block that contains `source_crossing`.
    pub path: String,
    /// The input of the top that is its clock.
    pub clock: String,
}

/// What crosses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Levels, or a number in gray code, of this many bits, through flip-flops.
    Levels {
        /// Bits.
        bits: usize,
    },
    /// A reset, through a chain that is set asynchronously.
    Reset,
    /// Words of a LUT RAM that is written on one clock and read on another.
    Memory,
}

/// A crossing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// What crosses.
    pub kind: Kind,
    /// The register that sends. None: something that is no register of a crossing, such as a pin.
    pub from: Option<Source>,
    /// The path of the block that receives.
    pub to: String,
    /// The input of the top that is the receiver's clock.
    pub clock: String,
    /// Of [`Kind::Memory`], the clock that writes.
    pub write_clock: Option<String>,
}

/// Finds the crossings of `top`, in the order of its instances.
///
/// # Panics
/// If a module is missing.
pub fn find(modules: &[Module], top: &str) -> Vec<Crossing> {
    let by_name: BTreeMap<&str, &Module> = modules
        .iter()
        .map(|module| (module.name.as_str(), module))
        .collect();
    let design = Design {
        relevant: relevant(&by_name),
        by_name,
    };
    let module = design.module(top);
    let clocks = module.ports.iter().filter(|port| !port.is_output);
    let scope = Scope {
        path: String::new(),
        clocks: clocks
            .map(|port| (port.name.clone(), port.name.clone()))
            .collect(),
        drivers: BTreeMap::new(),
    };
    let mut found = vec![];
    design.visit(module, scope, &mut found);
    found
}

/// Where a module stands: its path with a `/` at its end, and what its own names are at the top.
#[derive(Clone)]
struct Scope {
    path: String,
    clocks: BTreeMap<String, String>,
    drivers: BTreeMap<String, Source>,
}

struct Design<'a> {
    by_name: BTreeMap<&'a str, &'a Module>,
    /// Modules with a crossing in them or below.
    relevant: BTreeSet<&'a str>,
}

/// The register of a module has this name: it is assigned in its text.
fn has(module: &Module, register: &str) -> bool {
    module.text.contains(&format!(" {register} <= "))
}

fn is_lut_ram(module: &Module) -> bool {
    let has_port = |name| module.ports.iter().any(|port| port.name == name);
    has_port("write_clock")
        && has_port("read_clock")
        && module.text.contains("ram_style = \"distributed\"")
}

fn is_crossing(module: &Module) -> bool {
    ["source_crossing", "first_crossing", "chain_crossing"]
        .iter()
        .any(|name| has(module, name))
        || is_lut_ram(module)
}

fn relevant<'a>(modules: &BTreeMap<&'a str, &'a Module>) -> BTreeSet<&'a str> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    loop {
        let before = found.len();
        for (name, module) in modules {
            let below = module
                .instances
                .iter()
                .any(|instance| found.contains(instance.module.as_str()));
            if below || is_crossing(module) {
                found.insert(name);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

impl<'a> Design<'a> {
    fn module(&self, name: &str) -> &'a Module {
        self.by_name
            .get(name)
            .unwrap_or_else(|| panic!("there is no module {name}"))
    }

    /// The scope of a sub-module.
    fn below(&self, scope: &Scope, instance: &Instance) -> Scope {
        let mut below = Scope {
            path: format!("{}{}/", scope.path, instance.name),
            clocks: BTreeMap::new(),
            drivers: BTreeMap::new(),
        };
        for (port, net) in &instance.connections {
            if let Some(clock) = scope.clocks.get(net) {
                below.clocks.insert(port.clone(), clock.clone());
            }
            if let Some(driver) = scope.drivers.get(net) {
                below.drivers.insert(port.clone(), driver.clone());
            }
        }
        below
    }

    fn children(&self, module: &'a Module) -> impl Iterator<Item = &'a Instance> + '_ {
        let is_relevant = |instance: &&Instance| self.relevant.contains(instance.module.as_str());
        module.instances.iter().filter(is_relevant)
    }

    /// The registers that drive nets of a module, those of its inputs included.
    fn drivers(&self, module: &'a Module, scope: &Scope) -> BTreeMap<String, Source> {
        let mut drivers = scope.drivers.clone();
        for instance in self.children(module) {
            let kind = self.module(&instance.module);
            let below = self.below(scope, instance);
            if has(kind, "source_crossing") {
                let source = Source {
                    path: below.path.trim_end_matches('/').into(),
                    clock: below.clocks["clock"].clone(),
                };
                drivers.insert(instance.connections["q"].clone(), source);
                continue;
            }
            let inner = self.drivers(kind, &below);
            for port in kind.ports.iter().filter(|port| port.is_output) {
                if let Some(source) = inner.get(&port.name) {
                    drivers.insert(instance.connections[&port.name].clone(), source.clone());
                }
            }
        }
        for (to, from) in &module.aliases {
            if let Some(source) = drivers.get(from).cloned() {
                drivers.insert(to.clone(), source);
            }
        }
        drivers
    }

    fn visit(&self, module: &'a Module, mut scope: Scope, found: &mut Vec<Crossing>) {
        scope.drivers = self.drivers(module, &scope);
        for instance in self.children(module) {
            let kind = self.module(&instance.module);
            let below = self.below(&scope, instance);
            let mut crossing = |what, input: &str, clock: &str, write_clock: Option<&str>| {
                found.push(Crossing {
                    kind: what,
                    from: below.drivers.get(input).cloned(),
                    to: below.path.trim_end_matches('/').into(),
                    clock: below.clocks[clock].clone(),
                    write_clock: write_clock.map(|clock| below.clocks[clock].clone()),
                });
            };
            if has(kind, "first_crossing") {
                let bits = kind.ports.iter().find(|port| port.name == "level");
                let bits = bits.map_or(1, |port| port.width);
                crossing(Kind::Levels { bits }, "level", "clock", None);
            } else if has(kind, "chain_crossing") {
                crossing(Kind::Reset, "asynchronous", "clock", None);
            } else if is_lut_ram(kind) {
                crossing(Kind::Memory, "", "read_clock", Some("write_clock"));
            } else if !has(kind, "source_crossing") {
                self.visit(kind, below, found);
            }
        }
    }
}
