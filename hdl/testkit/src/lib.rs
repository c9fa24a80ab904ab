//! Support for the tests of hardware blocks.
//!
//! [`library`] is the Verilated model of a block, and [`Dut`] an instance of it with ports by name; [`stream`] has the two ends of a stream.
//! [`equivalence`] compares a block's own rust-hdl simulation with its model; [`tools`] runs Verilator's lint, Icarus and Yosys over a
//! design.

mod dut;
pub mod equivalence;
mod library;
pub mod stream;
pub mod tools;

pub use dut::Dut;
pub use library::{library, library_of};
