//! Verilated models of emitted designs: where the emitter (`hdl-verilog`), which only writes text, meets the simulator (`sim-verilated`),
//! which reads any Verilog.

use hdl_verilog::{Design, EmitError, GatedDesign, PortDirection};
use sim_verilated::{Dir, Gate, Gating, HeldInputs, ModelSpec, Port, SimMode};

/// Verilator unrolls no loop with statements: those of emitted designs clear memories once, and unrolled they are a twentieth of a card's C++. Loops
/// of `generate` are unrolled all the same.
const NO_UNROLLING: [&str; 2] = ["--unroll-stmts", "1"];

/// The models of a design. All behave the same in every cycle.
pub trait DesignModels {
    /// The specification to Verilate the design as it is emitted.
    fn model(&self) -> ModelSpec;

    /// The specification of a model of the design in `mode`. A design without a clock has nothing to gate: its model is the plain one in
    /// every mode.
    ///
    /// # Errors
    /// The errors of [`Design::gated`].
    fn model_in(&self, mode: SimMode) -> Result<ModelSpec, EmitError>;
}

impl DesignModels for Design {
    fn model(&self) -> ModelSpec {
        let ports = self.ports.iter().map(|port| Port {
            name: port.name.clone(),
            width: port.width,
            dir: match port.direction {
                PortDirection::Input => Dir::In,
                PortDirection::Output => Dir::Out,
            },
        });
        let mut spec = ModelSpec::new(self.top.clone(), self.model_text(), ports.collect());
        spec.verilator_arguments = NO_UNROLLING.map(str::to_owned).into();
        spec
    }

    fn model_in(&self, mode: SimMode) -> Result<ModelSpec, EmitError> {
        let mut spec = self.model();
        if mode == SimMode::Plain {
            return Ok(spec);
        }
        let Some(gated) = self.gated()? else {
            return Ok(spec);
        };
        let gating = gating(&gated);
        spec.verilog = gated.text;
        Ok(spec.with_gating(mode, gating))
    }
}

fn gating(gated: &GatedDesign) -> Gating {
    let gates = gated.gates.iter().map(|gate| Gate {
        clock: gate.clock.clone(),
        active: gate.active.clone(),
    });
    let inputs = gated.inputs.iter().map(|held| HeldInputs {
        ports: held.ports.clone(),
        event: held.event.clone(),
    });
    Gating {
        clock: gated.clock.clone(),
        gates: gates.collect(),
        inputs: inputs.collect(),
    }
}
