//! Builds and drives Verilated models from Rust.
//!
//! A [`ModelSpec`] is Verilog text plus the ports of its top module. [`ModelSpec::build`] runs Verilator and g++ once per distinct
//! source, options and tool versions (the result is cached on disk, see [`ModelSpec::build`]) and returns a [`Library`], from which any
//! number of independent [`Model`] instances are made. Ports are read and written in place, through pointers into the model, so a
//! 1024-bit port costs a 128-byte copy and no call.
//!
//! ```no_run
//! use sim_verilated::{Dir, ModelSpec, Port};
//!
//! let verilog = "module counter(input clk, input enable, output reg [7:0] count);
//!                  always @(posedge clk) if (enable) count <= count + 1;
//!                endmodule";
//! let ports = vec![Port::input("clk", 1), Port::input("enable", 1), Port::output("count", 8)];
//! let mut model = ModelSpec::new("counter", verilog, ports).build()?.instantiate();
//! let (clk, enable, count) = (model.port("clk")?, model.port("enable")?, model.port("count")?);
//! model.set_u64(enable, 1);
//! model.clock(clk);
//! assert_eq!(model.get_u64(count), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Time
//! One [`Model::clock`] is one full cycle: clock low with the inputs set before the call, then the rising edge. It returns with the clock
//! high and every output settled for the state after the edge. In a wave file, inputs therefore change on the falling edge before the
//! rising edge that samples them.
//!
//! # Modes
//! A [`SimMode`] says how Verilog becomes a model. A model in another mode than [`SimMode::Plain`] has Verilog with clocks for its parts
//! ([`Gating`], which `hdl_verilog::Design::gated` prepares). In mode [`SimMode::Gated`] a part gets an edge only when that would change
//! something in it, and Verilator leaves out what is behind the edges that do not come. In mode [`SimMode::OnChange`] the crate
//! `sim_on_change` rewrites Verilator's C++ before it is compiled, and code runs when something that it reads has changed. Callers see no
//! difference but the speed; waves and coverage show what was evaluated. [`Model::start_profile`] shows which blocks take the time.
//!
//! # Determinism
//! Registers without an initial value start at zero, and nothing in a run depends on the machine, the time or other instances.
//!
//! # Failures inside the model
//! `$stop`, `$fatal`, `$finish`, a failed assertion (with [`ModelSpec::with_assertions`]) and a combinational loop that does not settle
//! panic in [`Model::eval`] or [`Model::clock`] with the Verilog location: a check in the hardware must not pass unseen.

mod build;
mod cache;
pub mod coverage;
mod error;
mod library;
mod mode;
mod model;
pub mod overlay;
mod port;
mod profile;
pub mod recording;
mod signal;
mod slot;
mod sources;
mod spec;
mod toolchain;

#[cfg(test)]
mod rewriting_tests;

pub use build::{Gate, Gating, HeldInputs};
pub use cache::default_directory as default_cache;
pub use error::{BuildError, ModelError, SourceError, Stopped};
pub use library::Library;
pub use mode::{ModeVariableError, SimMode, UnknownMode};
pub use model::{Model, PortId, DEFAULT_CLOCK_PERIOD_PS};
pub use port::{Dir, Port};
pub use profile::Profile;
pub use signal::{Signal, SignalKind};
pub use slot::Words;
pub use sources::{Parameter, Sources, TopModule, TopPort};
pub use spec::ModelSpec;
pub use toolchain::Toolchain;
