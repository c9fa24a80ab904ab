//! Builds models whose parts have clocks of their own.

use sim_on_change::GatePorts;

use super::port_declarations::member_names;
use crate::error::BuildError;
use crate::port::Port;
use crate::spec::ModelSpec;

/// A part of a model with a clock of its own. Both ports belong to the top module, are one bit wide and are not listed in the specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Input that toggles when the part gets an edge: `always @(edge clock)`.
    pub clock: String,
    /// Output that is high before an edge if the edge would change anything in the part. Code that runs on change does not need it.
    pub active: String,
}

/// Inputs that the logic sees through registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldInputs {
    /// The inputs, which are ports of the specification.
    pub ports: Vec<String>,
    /// One-bit input that is the clock of these registers. It toggles when one of the inputs changes. It is not listed in the specification.
    pub event: String,
}

/// How the clock of a model reaches its parts. To the caller, such a model behaves as if every part got every rising edge of `clock`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gating {
    /// The clock that the caller drives, one of the specification's ports. The Verilog itself does not use it.
    pub clock: String,
    /// Every part.
    pub gates: Vec<Gate>,
    /// Every input but the clock.
    pub inputs: Vec<HeldInputs>,
}

/// The C++ tables of a gated model.
pub(crate) struct Tables {
    /// The clock, and the parts.
    pub gates: String,
    /// A use of the macro `INPUT` for each held input.
    pub inputs: String,
}

impl Gating {
    /// Returns the ports of the specification that the gating refers to.
    pub(crate) fn used_ports(&self) -> impl Iterator<Item = &str> {
        let held = self.inputs.iter().flat_map(|held| &held.ports);
        held.chain([&self.clock]).map(String::as_str)
    }

    /// Returns the ports of the top module that exist for the gating alone and are not in the specification.
    pub(crate) fn ports(&self) -> GatePorts {
        let events = self.inputs.iter().map(|held| held.event.clone());
        GatePorts {
            clocks: self.gates.iter().map(|gate| gate.clock.clone()).collect(),
            flags: self.gates.iter().map(|gate| gate.active.clone()).collect(),
            events: events.collect(),
        }
    }

    /// Returns the C++ tables that the shim of a model of `spec` includes. `header` is the text of the model's header.
    pub(crate) fn tables(&self, spec: &ModelSpec, header: &str) -> Result<Tables, BuildError> {
        let member = |port: Port| -> Result<String, BuildError> {
            Ok(member_names(&spec.top, &[port], header)?.concat())
        };
        let clock = member(Port::input(&self.clock, 1))?;
        let mut gates = String::new();
        for gate in &self.gates {
            let clock = member(Port::input(&gate.clock, 1))?;
            let active = member(Port::output(&gate.active, 1))?;
            gates += &format!("{{&top->{clock}, &top->{active}}},\n");
        }
        let mut inputs = String::new();
        for (number, held) in self.inputs.iter().enumerate() {
            let event = member(Port::input(&held.event, 1))?;
            for port in spec.ports.iter().filter(|p| held.ports.contains(&p.name)) {
                let port = member(port.clone())?;
                inputs += &format!("INPUT({port}, {event}, {number})\n");
            }
        }
        let gates = format!(
            "const CData* const clock = &top->{clock};\n\
             const Gate gate_table[] = {{\n{gates}}};\n"
        );
        Ok(Tables { gates, inputs })
    }
}
