//! Gated models: a changed text of a design whose simulation evaluates only what changes.
//!
//! A Verilated model runs all of its code in every cycle, although most of a card is idle in most cycles. In a gated design, each larger module has
//! its own clock. It also has an output that is high before an edge if the edge would change the module, that is, if any of its registers differs
//! from its next value. The model gives an edge only to the modules whose output is high, and Verilator runs only the code that depends on their
//! clocks. An edge that is left out would have changed nothing, so the outputs are the same in every cycle. Waves would differ, so models with waves
//! are built from the unchanged design.
//!
//! Inputs are treated in the same way: the logic that depends on the inputs of an interface runs only when one of them changes.
//!
//! A gated clock has an event at both of its edges, so the model only has to toggle it. A hand-written primitive needs lines for gated models that
//! assign to `gate_active` when an edge matters; a primitive that has a clock and no such lines is refused. These lines may also replace the
//! primitive's own lines with equivalent ones that Verilator evaluates faster. They come from `hdl_primitives::sim`.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::design::{Design, Module, PortDirection};
use crate::error::EmitError;
use crate::skeleton::{GatedText, CLOCK};

/// A module with at least this many lines has its own clock. For a smaller one, the condition would cost more than the evaluation that it saves.
const LINES: usize = 100;

/// A part with a clock of its own. Both ports are ports of the top module, one bit wide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gate {
    /// Input that toggles when the part gets an edge.
    pub clock: String,
    /// Output that is high before an edge if the edge would change anything in the part.
    pub active: String,
}

/// Inputs that the logic sees through registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeldInputs {
    /// The inputs, which are ports of the design.
    pub ports: Vec<String>,
    /// One-bit input of the top module that is the clock of these registers. It toggles when one of the inputs changes.
    pub event: String,
}

/// The text of a gated model, and the description of its clocks. The text has the ports of the design and those of the gates and held inputs.
#[derive(Clone, Debug)]
pub struct GatedDesign {
    pub text: String,
    /// The clock port of the design. The text itself does not use it.
    pub clock: String,
    pub gates: Vec<Gate>,
    /// Every input but the clock.
    pub inputs: Vec<HeldInputs>,
}

impl Design {
    /// Returns the text of a gated model of this design, which behaves as [`Self::plain_text`] does and simulates faster. Returns `None` for a design
    /// without a clock, because it has nothing to gate.
    ///
    /// # Errors
    /// [`EmitError::Unsupported`] if a module has another clock than `clock`, or if a primitive does not say when an edge matters.
    pub fn gated(&self) -> Result<Option<GatedDesign>, EmitError> {
        let top = self.modules.last().expect("the top is the last module");
        if !top.skeleton.clocked {
            return Ok(None);
        }
        let mut gated = Gated::default();
        let mut text = String::new();
        for module in &self.modules {
            text += &gated.module(module)?;
            text.push('\n');
        }
        let inner = format!("{}_inner", self.top);
        let (head, tail) = text
            .rsplit_once(&format!("module {} (", self.top))
            .expect("the top is in the text");
        let gates = 1 + gated.of(&self.top).inside;
        let mut design = self.wrapper(&inner, gates);
        design.text = format!("{head}module {inner} ({tail}{}", design.text);
        Ok(Some(design))
    }

    /// Writes the module around the gated design. It has the design's ports, the clocks as additional ports, and the registers of held inputs.
    fn wrapper(&self, inner: &str, gates: usize) -> GatedDesign {
        let mut ports = vec![];
        let mut held = String::new();
        let mut connections = vec![format!(".{CLOCK}(gate_clock_0)")];
        let mut inputs: Vec<HeldInputs> = vec![];
        for (i, port) in self.ports.iter().enumerate() {
            let (name, last) = (&port.name, port.width - 1);
            if port.direction == PortDirection::Output {
                ports.push(format!("  output wire [{last}:0] {name}"));
                connections.push(format!(".{name}({name})"));
                continue;
            }
            ports.push(format!("  input wire [{last}:0] {name}"));
            if name == CLOCK {
                continue;
            }
            let event = format!("gate_input_{}", bundle(name));
            match inputs.iter_mut().find(|held| held.event == event) {
                Some(held) => held.ports.push(name.clone()),
                None => {
                    ports.push(format!("  input wire {event}"));
                    inputs.push(HeldInputs {
                        ports: vec![name.clone()],
                        event: event.clone(),
                    });
                }
            }
            let _ = writeln!(
                held,
                "  reg [{last}:0] gate_held_{i} = 0;\n  always @(edge {event}) gate_held_{i} <= {name};"
            );
            connections.push(format!(".{name}(gate_held_{i})"));
        }
        connections.push(".gate_active(gate_active_0)".into());
        connections.extend((1..gates).map(|i| sub_gate(i - 1, i)));
        ports.extend((0..gates).map(gate_ports));
        let text = format!(
            "// Generated around {inner}\nmodule {} (\n{}\n);\n{held}  {inner} u_inner (\n    {}\n  );\nendmodule\n",
            self.top,
            ports.join(",\n"),
            connections.join(",\n    "),
        );
        GatedDesign {
            text,
            clock: CLOCK.into(),
            gates: (0..gates)
                .map(|i| Gate {
                    clock: format!("gate_clock_{i}"),
                    active: format!("gate_active_{i}"),
                })
                .collect(),
            inputs,
        }
    }
}

/// Properties of a gated module.
#[derive(Clone, Copy, Default)]
struct Known {
    clocked: bool,
    /// The module has a clock of its own.
    gate: bool,
    /// Number of gates in its sub-modules.
    inside: usize,
}

/// The modules that have been gated so far.
#[derive(Default)]
struct Gated {
    modules: BTreeMap<String, Known>,
}

impl Gated {
    fn of(&self, module: &str) -> Known {
        self.modules.get(module).copied().unwrap_or_default()
    }

    /// Returns the gated text of `module`. Its sub-modules must already have been gated.
    fn module(&mut self, module: &Module) -> Result<String, EmitError> {
        let skeleton = &module.skeleton;
        let own = own_lines(module);
        let unsupported = |what: String| EmitError::Unsupported {
            module: module.name.clone(),
            what,
        };
        if !skeleton.clocked {
            let is_clocked = |(_, kind): &(String, String)| self.of(kind).clocked;
            if !skeleton.changes.is_empty() || skeleton.children.iter().any(is_clocked) {
                return Err(unsupported(format!(
                    "gating a module whose clocks are not `{CLOCK}`"
                )));
            }
            return Ok(match &skeleton.gated {
                Some(gated) => with_logic(&own, &gated.lines),
                None => own,
            });
        }
        if let Some(other) = skeleton.changes.keys().find(|clock| *clock != CLOCK) {
            return Err(unsupported(format!("gating registers clocked by {other}")));
        }
        let is_primitive = skeleton.changes.is_empty() && skeleton.children.is_empty();
        if is_primitive && skeleton.gated.is_none() {
            return Err(unsupported(
                "gating a primitive without lines for gated models".into(),
            ));
        }
        let mut text = own.replace(&format!("@(posedge {CLOCK})"), &format!("@(edge {CLOCK})"));
        let mut conditions = skeleton.changes.get(CLOCK).cloned().unwrap_or_default();
        let mut declared = String::new();
        let mut gates = 0;
        for (name, kind) in &skeleton.children {
            let child = self.of(kind);
            if !child.clocked {
                continue;
            }
            let mut added = vec![];
            let mut clock = CLOCK.to_string();
            if child.gate {
                clock = format!("gate_clock_{gates}");
                added.push(format!(".gate_active(gate_active_{gates})"));
                gates += 1;
            } else {
                let active = format!("gate_active_of_{name}");
                let _ = writeln!(declared, "  wire {active};");
                added.push(format!(".gate_active({active})"));
                conditions.push(active);
            }
            added.extend((0..child.inside).map(|i| sub_gate(i, gates + i)));
            gates += child.inside;
            text = connect(&text, name, kind, &clock, &added)
                .ok_or_else(|| unsupported(format!("gating {name}, whose clock is another")))?;
        }
        let counters = take_free_counters(&mut conditions);
        if !counters.is_empty() {
            text = with_clock_of_its_own(&text, &counters, gates);
            let _ = writeln!(declared, "  assign gate_active_{gates} = 1'b1;");
            gates += 1;
        }
        let known = Known {
            clocked: true,
            gate: module.plain.lines().count() > LINES,
            inside: gates,
        };
        self.modules.insert(module.name.clone(), known);
        let mut ports: Vec<String> = (0..gates).map(gate_ports).collect();
        ports.push("  output wire gate_active".into());
        let active = if let Some(gated) = &skeleton.gated {
            gated.lines.clone()
        } else if conditions.is_empty() {
            "  assign gate_active = 1'b0;\n".into()
        } else {
            format!("  assign gate_active = {};\n", conditions.join(" | "))
        };
        let (head, rest) = text.split_once("\n);\n").expect("a module has ports");
        let text = format!("{head},\n{}\n);\n{declared}{rest}", ports.join(",\n"));
        Ok(with_logic(&text, &active))
    }
}

/// Removes the conditions of free counters, whose next value depends on nothing but themselves, and returns the assignments to these counters. An edge
/// always changes such a counter. With the clock of the module, it would make all other registers of the module run in every cycle, so it gets a clock of
/// its own.
fn take_free_counters(conditions: &mut Vec<String>) -> Vec<String> {
    let counter = |condition: &mut String| {
        let inner = condition.strip_prefix('(')?.strip_suffix("))")?;
        let (register, next) = inner.split_once(" != (")?;
        let step = next.strip_prefix(register)?.strip_prefix(" + ")?;
        let is_literal = step.starts_with(|c: char| c.is_ascii_digit()) && !step.contains(' ');
        is_literal.then(|| format!("    {register} <= {next};\n"))
    };
    let mut counters = vec![];
    conditions.retain_mut(|condition| {
        let assignment = counter(condition);
        let stays = assignment.is_none();
        counters.extend(assignment);
        stays
    });
    counters
}

/// Moves the assignments to free counters to clock `gate` of the module.
fn with_clock_of_its_own(text: &str, counters: &[String], gate: usize) -> String {
    let mut text = text.to_owned();
    for counter in counters {
        text = text.replacen(counter, "", 1);
    }
    let empty = format!("  always @(edge {CLOCK}) begin\n  end\n");
    let text = text.replacen(&empty, "", 1);
    let block = counters.concat();
    with_logic(
        &text,
        &format!("  always @(edge gate_clock_{gate}) begin\n{block}  end\n"),
    )
}

/// Returns the text of a module without the lines that its gated text replaces.
fn own_lines(module: &Module) -> String {
    let replaces = |gated: &GatedText| gated.replaces;
    if !module.skeleton.gated.as_ref().is_some_and(replaces) {
        return module.plain.clone();
    }
    module.with_lines("")
}

/// Returns the text of a module with `logic` inserted at its end.
fn with_logic(text: &str, logic: &str) -> String {
    let (before, end) = text.rsplit_once("endmodule").expect("a module ends");
    format!("{before}{logic}endmodule{end}")
}

/// Returns the common prefix of the ports of one interface, which is the name up to the first underscore.
fn bundle(port: &str) -> &str {
    port.split('_').next().unwrap_or(port)
}

/// Returns the declarations of a module's ports for a gate in it.
fn gate_ports(i: usize) -> String {
    format!("  input wire gate_clock_{i},\n  output wire gate_active_{i}")
}

/// Returns the connections of gate `inner` of an instance with gate `outer` of the module that contains it.
fn sub_gate(inner: usize, outer: usize) -> String {
    format!(
        ".gate_clock_{inner}(gate_clock_{outer}),\n    .gate_active_{inner}(gate_active_{outer})"
    )
}

/// Connects instance `name` of module `kind` to `clock` and adds the connections `added`. Returns `None` if the instance's clock is not that of the
/// module.
fn connect(text: &str, name: &str, kind: &str, clock: &str, added: &[String]) -> Option<String> {
    let (before, after) = text.split_once(&format!("  {kind} {name} (\n"))?;
    let (connections, after) = after.split_once("\n  );\n")?;
    let own = format!("    .{CLOCK}({CLOCK})");
    if !connections.contains(&own) {
        return None;
    }
    let connections = connections.replacen(&own, &format!("    .{CLOCK}({clock})"), 1);
    Some(format!(
        "{before}  {kind} {name} (\n{connections},\n    {}\n  );\n{after}",
        added.join(",\n    ")
    ))
}
