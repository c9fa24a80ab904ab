//! A block's own rust-hdl simulation against its Verilated Verilog: same random inputs, every output, each cycle.

use hdl_verilog::{emit, literal_value, Design, EmitError, PortDirection, IGNORE_RULES};
use num_bigint::BigUint;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::core::atom::Atom;
use rust_hdl::core::probe::Probe;
use rust_hdl::prelude::*;
use sim_models::DesignModels;
use sim_verilated::{Model, ModelSpec, PortId, SimMode, Toolchain};
use thiserror::Error;

use crate::tools;

/// The generator that drives inputs: seeded, the same on every machine.
pub type TestRng = ChaCha8Rng;

/// Why the two simulations were not shown equal.
#[derive(Debug, Error)]
pub enum EquivalenceError {
    #[error(transparent)]
    Emit(#[from] EmitError),
    #[error(transparent)]
    Tool(#[from] tools::ToolError),
    #[error("building the model: {0}")]
    Build(String),
    #[error("{top}, clock {clock}, {phase}: {port} is {native:#x} in rust-hdl and {verilated:#x} in Verilog (seed {seed})",
        native = .native.as_ref(), verilated = .verilated.as_ref())]
    Differs {
        top: String,
        clock: u64,
        phase: &'static str,
        port: String,
        native: Box<BigUint>,
        verilated: Box<BigUint>,
        seed: u64,
    },
    #[error(
        "{top}, clock {clock}: the rust-hdl simulation does not settle (a combinational loop)"
    )]
    Unstable { top: String, clock: u64 },
}

/// Random values of hardware types, with the corners (all zeros, all ones) more likely than chance.
pub trait Random {
    /// One value.
    fn random(rng: &mut TestRng) -> Self;
}

impl Random for bool {
    fn random(rng: &mut TestRng) -> Self {
        rng.random()
    }
}

impl<const N: usize> Random for Bits<N> {
    fn random(rng: &mut TestRng) -> Self {
        let corner = rng.random_range(0..16);
        let mut out = Bits::<N>::default();
        for i in 0..N {
            let bit = match corner {
                0 => false,
                1 => true,
                _ => rng.random(),
            };
            out = out.replace_bit(i, bit);
        }
        out
    }
}

/// Gives access to the clock input of a block.
pub type ClockOf<B> = fn(&mut B) -> &mut Signal<In, Clock>;

/// Drives `clocks` cycles of random input through both simulations of the block that `make` builds and compares every output
/// before and after each rising edge. `drive` sets the inputs' `next` once per cycle; `clock` gives access to the clock input,
/// or `None` for combinational blocks. The design must also pass [`tools::check`].
pub fn check<B: Block>(
    make: impl Fn() -> B,
    clock: Option<ClockOf<B>>,
    drive: impl FnMut(&mut B, &mut TestRng),
    clocks: u64,
    seed: u64,
) -> Result<Design, EquivalenceError> {
    let model = |design: &Design| {
        tools::check(design)?;
        Ok(design.model())
    };
    compare(make, model, clock, drive, clocks, seed)
}

/// [`check`] with the design's models in the modes that have gating, and without the tools. `drive` runs in one cycle of four: between, inputs
/// stay as they are, so that parts of the design come to rest. Mode [`SimMode::OnChange`] is left out with a Verilator that it does not support.
pub fn check_gated<B: Block>(
    make: impl Fn() -> B,
    clock: ClockOf<B>,
    mut drive: impl FnMut(&mut B, &mut TestRng),
    clocks: u64,
    seed: u64,
) -> Result<Design, EquivalenceError> {
    let mut drive_at_times = |uut: &mut B, rng: &mut TestRng| {
        if rng.random_ratio(1, 4) {
            drive(uut, rng);
        }
    };
    let mut check_in = |mode| {
        let model = |design: &Design| Ok(design.model_in(mode)?);
        compare(&make, model, Some(clock), &mut drive_at_times, clocks, seed)
    };
    let tools = Toolchain::find().map_err(|e| EquivalenceError::Build(e.to_string()))?;
    if tools.runs_on_change() {
        check_in(SimMode::OnChange)?;
    }
    check_in(SimMode::Gated)
}

fn compare<B: Block>(
    make: impl Fn() -> B,
    model: impl Fn(&Design) -> Result<ModelSpec, EquivalenceError>,
    clock: Option<ClockOf<B>>,
    mut drive: impl FnMut(&mut B, &mut TestRng),
    clocks: u64,
    seed: u64,
) -> Result<Design, EquivalenceError> {
    let mut uut = make();
    uut.connect_all();
    let design = emit(&uut)?;
    let library = model(&design)?
        .for_short_run()
        .build_exactly()
        .map_err(|e| EquivalenceError::Build(e.to_string()))?;
    let mut model = library.instantiate();
    // Random inputs keep no rule of any bundle, so outputs need not keep theirs.
    model.plus_argument(IGNORE_RULES);
    let mut bench = Bench {
        ports: Ports::of(&uut, &design),
        model,
        seed,
        top: design.top.clone(),
    };
    let ids: Vec<PortId> = bench
        .ports
        .0
        .iter()
        .map(|p| {
            bench
                .model
                .port(&p.verilog)
                .expect("the model has the design's ports")
        })
        .collect();
    let mut rng = TestRng::seed_from_u64(seed);
    for n in 0..clocks {
        drive(&mut uut, &mut rng);
        if let Some(clock) = clock {
            clock(&mut uut).next.clk = false;
        }
        bench.step(&mut uut, &ids, n, "before the edge")?;
        if let Some(clock) = clock {
            clock(&mut uut).next.clk = true;
            bench.step(&mut uut, &ids, n, "after the edge")?;
        }
    }
    Ok(design)
}

struct Bench {
    ports: Ports,
    model: Model,
    seed: u64,
    top: String,
}

impl Bench {
    fn step<B: Block>(
        &mut self,
        uut: &mut B,
        ids: &[PortId],
        clock: u64,
        phase: &'static str,
    ) -> Result<(), EquivalenceError> {
        if !simulate(uut, 200) {
            return Err(EquivalenceError::Unstable {
                top: self.top.clone(),
                clock,
            });
        }
        let values = Values::of(uut);
        for (port, id) in self.ports.0.iter().zip(ids) {
            if port.input {
                self.model
                    .set(*id, &words(&values.0[port.index], port.width));
            }
        }
        self.model.eval();
        for (port, id) in self.ports.0.iter().zip(ids) {
            if port.input {
                continue;
            }
            let mut out = vec![0; port.width.div_ceil(32)];
            self.model.get(*id, &mut out);
            let verilated = BigUint::new(out);
            if verilated != values.0[port.index] {
                return Err(EquivalenceError::Differs {
                    top: self.top.clone(),
                    clock,
                    phase,
                    port: port.verilog.clone(),
                    native: Box::new(values.0[port.index].clone()),
                    verilated: Box::new(verilated),
                    seed: self.seed,
                });
            }
        }
        Ok(())
    }
}

fn words(value: &BigUint, width: usize) -> Vec<u32> {
    let mut words = value.to_u32_digits();
    words.resize(width.div_ceil(32), 0);
    words
}

struct TopPort {
    verilog: String,
    width: usize,
    input: bool,
    /// Position among the signals of the top scope.
    index: usize,
}

struct Ports(Vec<TopPort>);

impl Ports {
    fn of<B: Block>(uut: &B, design: &Design) -> Self {
        let mut top = TopSignals::default();
        uut.accept("top", &mut top);
        let ports = design.ports.iter().map(|port| TopPort {
            verilog: port.name.clone(),
            width: port.width,
            input: port.direction == PortDirection::Input,
            index: (top
                .signals
                .iter()
                .position(|(name, _)| *name == port.source))
            .expect("a port is a signal of the block"),
        });
        Ports(ports.collect())
    }
}

struct Values(Vec<BigUint>);

impl Values {
    fn of<B: Block>(uut: &B) -> Self {
        let mut top = TopSignals::default();
        uut.accept("top", &mut top);
        Values(
            top.signals
                .iter()
                .map(|(_, value)| literal_value(value))
                .collect(),
        )
    }
}

/// Signals of the outermost scope only.
#[derive(Default)]
struct TopSignals {
    depth: usize,
    namespace: Vec<String>,
    signals: Vec<(String, VerilogLiteral)>,
}

impl Probe for TopSignals {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth += 1;
    }
    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth -= 1;
    }
    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.namespace.push(name.to_string());
    }
    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespace.pop();
    }
    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        if self.depth == 1 {
            let mut parts = self.namespace.clone();
            parts.push(name.to_string());
            self.signals.push((parts.join("$"), atom.verilog()));
        }
    }
}
