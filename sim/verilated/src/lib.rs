//! Builds and drives Verilated models from Rust.
//!
//! A [`ModelSpec`] consists of Verilog text and the ports of its top module. [`ModelSpec::build`] returns a [`Library`], from which any number of
//! independent [`Model`] instances can be made. It runs Verilator and g++ once for each combination of source, options and tool versions, and caches
//! the result on disk. Ports are read and written in place through pointers into the model, so an access to a 1024-bit port is a copy of 128 bytes
//! without a function call.
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
//! One [`Model::clock`] is one full cycle. First the clock is low with the inputs set before the call; then it rises. The call returns with the clock
//! high and every output settled for the state after the edge. In a wave file, inputs therefore change at the falling edge before the rising edge
//! that samples them.
//!
//! # Modes
//! A [`SimMode`] is the way in which Verilog becomes a model. [`SimMode::Plain`] uses the Verilog as it is. The other two modes need Verilog in which
//! parts of the design have their own clocks ([`Gating`], which `hdl_verilog::Design::gated` prepares). In mode [`SimMode::Gated`] a part gets an
//! edge only if that would change a register in it, and Verilator's code does not run without an edge. In mode [`SimMode::OnChange`] the crate
//! `sim_on_change` also rewrites Verilator's C++, so that code runs only when something that it reads has changed. Outputs are the same in all modes
//! and only the speed differs. Waves and coverage would differ, so only plain models have them. [`Model::start_profile`] measures how much time each
//! block takes.
//!
//! # Determinism
//! Registers without an initial value start at zero. A run does not depend on the machine, the time or other instances.
//!
//! # Failures inside the model
//! `$stop`, `$fatal`, `$finish`, a failed assertion (with [`ModelSpec::with_assertions`]) and a combinational loop that does not settle cause a panic
//! in [`Model::eval`] or [`Model::clock`], with the place in the Verilog. So a failed check in the hardware cannot go unnoticed.

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
