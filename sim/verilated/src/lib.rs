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
//! # Gating
//! The Verilog may have clocks for its parts ([`Gating`], which `hdl_verilog::Design::gated_model` prepares): code then runs
//! when something that it reads has changed: Verilator's C++ is changed for that before it is compiled. Where that is not possible, a part gets an edge
//! only when that would change something in it, and Verilator leaves out what is behind the edges that do not come. Callers see no difference but the
//! speed; waves and coverage show what was evaluated. [`Model::start_profile`] shows which blocks take the time.
//!
//! # Determinism
//! Registers without an initial value start at zero, and nothing in a run depends on the machine, the time or other instances.
//!
//! # Failures inside the model
//! `$stop`, `$fatal`, `$finish`, a failed assertion (with [`ModelSpec::with_assertions`]) and a combinational loop that does not settle
//! panic in [`Model::eval`] or [`Model::clock`] with the Verilog location: a check in the hardware must not pass unseen.

mod activity;
mod cache;
mod compile;
pub mod coverage;
mod error;
mod gating;
mod library;
mod model;
pub mod overlay;
mod port;
mod port_declarations;
mod profile;
mod signal;
mod slot;
mod sources;
mod spec;
mod toolchain;

pub use cache::default_directory as default_cache;
pub use error::{BuildError, ModelError, SourceError, Stopped};
pub use gating::{Gate, Gating, HeldInputs};
pub use library::Library;
pub use model::{Model, PortId, DEFAULT_CLOCK_PERIOD_PS};
pub use port::{Dir, Port};
pub use profile::Profile;
pub use signal::{Signal, SignalKind};
pub use slot::Words;
pub use sources::{Parameter, Sources, TopModule, TopPort};
pub use spec::ModelSpec;
pub use toolchain::Toolchain;
