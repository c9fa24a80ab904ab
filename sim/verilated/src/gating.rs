//! Models whose parts have clocks of their own.

use crate::error::BuildError;
use crate::port::Port;
use crate::port_declarations::member_names;
use crate::spec::ModelSpec;

/// A part of a model with a clock of its own. Both ports belong to the top module, are one bit wide and are not listed in the specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Input that toggles when the part gets an edge: `always @(edge clock)`.
    pub clock: String,
    /// Output that says, before an edge, whether the edge would change anything in the part.
    pub active: String,
}

/// An input that logic sees through a register of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldInput {
    /// The input, one of the specification's ports.
    pub port: String,
    /// Input of one bit, not listed in the specification, that toggles when the value of `port` is another: the register's clock.
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
    pub inputs: Vec<HeldInput>,
}

impl Gating {
    /// The ports of the specification that it needs.
    pub(crate) fn used_ports(&self) -> impl Iterator<Item = &str> {
        let inputs = self.inputs.iter().map(|input| input.port.as_str());
        inputs.chain([self.clock.as_str()])
    }

    /// The tables that the shim includes, of a model of `spec` with the header text `header`.
    pub(crate) fn tables(&self, spec: &ModelSpec, header: &str) -> Result<String, BuildError> {
        let members = |ports: &[Port]| member_names(&spec.top, ports, header);
        let inputs = |names: &mut dyn Iterator<Item = &String>| -> Vec<Port> {
            names.map(|name| Port::input(name, 1)).collect()
        };
        let clocks = members(&inputs(&mut self.gates.iter().map(|gate| &gate.clock)))?;
        let active: Vec<Port> = self
            .gates
            .iter()
            .map(|gate| Port::output(&gate.active, 1))
            .collect();
        let active = members(&active)?;
        let events = members(&inputs(&mut self.inputs.iter().map(|input| &input.event)))?;
        let ports: Vec<Port> = self
            .inputs
            .iter()
            .filter_map(|input| spec.ports.iter().find(|port| port.name == input.port))
            .cloned()
            .collect();
        let ports = members(&ports)?;
        let clock = members(&[Port::input(&self.clock, 1)])?.concat();
        let gates: String = clocks
            .iter()
            .zip(&active)
            .map(|(clock, active)| format!("{{&top->{clock}, &top->{active}}},\n"))
            .collect();
        let inputs: String = ports
            .iter()
            .zip(&events)
            .map(|(port, event)| format!("{{&top->{port}, sizeof top->{port}, &top->{event}}},\n"))
            .collect();
        Ok(format!(
            "CData* const clock = &top->{clock};\nconst Gate gate_table[] = {{\n{gates}}};\nconst Input input_table[] = {{\n{inputs}}};\n"
        ))
    }
}
