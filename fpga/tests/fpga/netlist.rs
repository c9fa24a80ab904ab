//! The crossing checker: every path from a register of one clock to a register of another goes through a synchroniser of `hdl/crossings`. It reads the netlist
//! that Yosys makes, so it does not depend on how `stellar_fpga::crossings` reads Verilog.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::process::Command;

use serde_json::Value;

/// What the checker found.
#[derive(Debug, Default)]
pub struct Found {
    /// Register pairs through a synchroniser: `u_a/source_crossing` and `u_b/first_crossing`.
    pub crossings: BTreeSet<(String, String)>,
    /// Paths that are no crossing.
    pub wrong: BTreeSet<String>,
}

/// A sequential element: a register, or a port of a memory.
#[derive(Clone)]
struct Element {
    name: String,
    clock: u64,
    /// Bits that it reads, and whether asynchronously.
    reads: Vec<(u64, bool)>,
}

struct Netlist {
    elements: Vec<Element>,
    /// The elements that drive bits.
    registered: HashMap<u64, usize>,
    /// The inputs of the logic that drives a bit.
    logic: HashMap<u64, Vec<u64>>,
    names: HashMap<u64, String>,
}

/// Synthesises to registers, memories and logic without hierarchy.
fn synthesise(verilog: &str, top: &str) -> Value {
    let mut file = tempfile::Builder::new().suffix(".v").tempfile().unwrap();
    file.write_all(verilog.as_bytes()).unwrap();
    let json = tempfile::NamedTempFile::new().unwrap();
    let script = format!(
        "read_verilog -DSYNTHESIS {}; hierarchy -check -top {top}; proc; flatten; opt_expr; opt_dff; opt_clean; memory -nomap; opt_clean; write_json {}",
        file.path().display(),
        json.path().display()
    );
    let done = Command::new("yosys").args(["-q", "-p", &script]).status();
    assert!(done
        .expect("yosys runs; `./stellar setup` installs it")
        .success());
    let mut netlist: Value =
        serde_json::from_reader(std::fs::File::open(json.path()).unwrap()).unwrap();
    netlist["modules"][top].take()
}

fn bits(value: &Value) -> Vec<u64> {
    let bits = value.as_array().map(Vec::as_slice).unwrap_or_default();
    bits.iter().filter_map(Value::as_u64).collect()
}

/// In the place of a constant bit.
const CONSTANT: u64 = u64::MAX;
/// Cells of which one output bit depends on one bit of each word.
const BITWISE: &[&str] = &["$not", "$and", "$or", "$xor", "$mux"];

/// All bits, with their places.
fn bits_and_constants(value: &Value) -> Vec<u64> {
    let bits = value.as_array().map(Vec::as_slice).unwrap_or_default();
    bits.iter()
        .map(|bit| bit.as_u64().unwrap_or(CONSTANT))
        .collect()
}

/// A bit field of a parameter, which Yosys prints in binary, highest bit first.
fn parameter_bit(cell: &Value, name: &str) -> bool {
    cell["parameters"][name]
        .as_str()
        .is_some_and(|bits| bits.ends_with('1'))
}

impl Netlist {
    fn new(module: &Value) -> Self {
        // A register's own name has its initial value; nets behind it have other names of the same bits.
        let mut names = HashMap::new();
        for (name, net) in module["netnames"].as_object().unwrap() {
            if net["attributes"]["init"].is_string() {
                names.extend(
                    bits(&net["bits"])
                        .into_iter()
                        .map(|bit| (bit, name.replace('.', "/"))),
                );
            }
        }
        let mut netlist = Self {
            elements: vec![],
            registered: HashMap::new(),
            logic: HashMap::new(),
            names,
        };
        for (name, cell) in module["cells"].as_object().unwrap() {
            netlist.add(name, cell);
        }
        netlist
    }

    fn add(&mut self, name: &str, cell: &Value) {
        let kind = cell["type"].as_str().unwrap();
        let connections = &cell["connections"];
        let port = |name: &str| bits(&connections[name]);
        if kind.contains("dff") {
            let mut reads: Vec<(u64, bool)> = vec![];
            for (pin, value) in connections.as_object().unwrap() {
                if !matches!(pin.as_str(), "CLK" | "Q") {
                    reads.extend(bits(value).into_iter().map(|bit| (bit, pin == "ARST")));
                }
            }
            let out = port("Q");
            self.element(
                self.names.get(&out[0]).cloned().unwrap_or(name.into()),
                port("CLK")[0],
                reads,
                &out,
            );
        } else if kind.starts_with("$mem") {
            let of = |pins: &[&str]| {
                pins.iter()
                    .flat_map(|pin| port(pin))
                    .map(|bit| (bit, false))
                    .collect()
            };
            assert!(
                parameter_bit(cell, "RD_CLK_ENABLE"),
                "{name}: a memory with an output register"
            );
            let path = name.replace('.', "/");
            self.element(
                format!("{path} write"),
                port("WR_CLK")[0],
                of(&["WR_ADDR", "WR_DATA", "WR_EN"]),
                &[],
            );
            let data = port("RD_DATA");
            self.element(
                format!("{path} read"),
                port("RD_CLK")[0],
                of(&["RD_ADDR", "RD_EN"]),
                &data,
            );
        } else {
            let is_output = |pin: &str| cell["port_directions"][pin] == "output";
            let pins: Vec<(&String, Vec<u64>)> = connections
                .as_object()
                .unwrap()
                .iter()
                .map(|(pin, value)| (pin, bits_and_constants(value)))
                .collect();
            let outputs = pins.iter().filter(|(pin, _)| is_output(pin));
            for (place, out) in outputs.flat_map(|(_, bits)| bits.iter().enumerate()) {
                let inputs = pins.iter().filter(|(pin, _)| !is_output(pin));
                let inputs = inputs.flat_map(|(pin, bits)| {
                    // One bit of a word depends on the same bit of others.
                    let one = BITWISE.contains(&kind) && pin.as_str() != "S";
                    let bits = if one { &bits[place..=place] } else { &bits[..] };
                    bits.iter().copied().filter(|bit| *bit != CONSTANT)
                });
                self.logic.insert(*out, inputs.collect());
            }
        }
    }

    fn element(&mut self, name: String, clock: u64, reads: Vec<(u64, bool)>, out: &[u64]) {
        for bit in out {
            self.registered.insert(*bit, self.elements.len());
        }
        self.elements.push(Element { name, clock, reads });
    }

    /// The bits from which logic computes `bit`: outputs of registers, and inputs of the design.
    fn sources(&self, bit: u64) -> BTreeSet<u64> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![bit];
        while let Some(bit) = open.pop() {
            if !seen.insert(bit) {
                continue;
            }
            match self.logic.get(&bit) {
                Some(inputs) if !self.registered.contains_key(&bit) => open.extend(inputs),
                _ => {
                    found.insert(bit);
                }
            }
        }
        found
    }
}

/// Checks a design. `inputs` gives the clock of each input, by names of ports.
pub fn check(verilog: &str, top: &str, inputs: &BTreeMap<&str, &str>) -> Found {
    let module = synthesise(verilog, top);
    let netlist = Netlist::new(&module);
    let clock_of = |port: &str| bits(&module["ports"][port]["bits"])[0];
    let mut arrives: HashMap<u64, (String, u64)> = HashMap::new();
    for (port, clock) in inputs {
        for bit in bits(&module["ports"][*port]["bits"]) {
            arrives.insert(bit, ((*port).into(), clock_of(clock)));
        }
    }
    let mut known: HashMap<u64, BTreeSet<u64>> = HashMap::new();
    let mut found = Found::default();
    for element in &netlist.elements {
        for (bit, asynchronous) in &element.reads {
            let direct = netlist.registered.contains_key(bit);
            let sources = known.entry(*bit).or_insert_with(|| netlist.sources(*bit));
            for source in sources.iter() {
                let (from, clock) = match (netlist.registered.get(source), arrives.get(source)) {
                    (Some(index), _) => (
                        netlist.elements[*index].name.clone(),
                        netlist.elements[*index].clock,
                    ),
                    (None, Some((port, clock))) => (port.clone(), *clock),
                    _ => continue,
                };
                let sends = direct && from.ends_with("/source_crossing");
                let takes = element.name.ends_with(if *asynchronous {
                    "/chain_crossing"
                } else {
                    "/first_crossing"
                });
                if sends && takes {
                    found.crossings.insert((from, element.name.clone()));
                } else if clock != element.clock || *asynchronous {
                    found.wrong.insert(format!("{from} to {}", element.name));
                }
            }
        }
    }
    found
}
