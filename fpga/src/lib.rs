//! Vivado projects for boards (`docs/boards.md`).
//!
//! | module | what |
//! |---|---|
//! | [`project`] | the files of a project: Verilog, constraints, scripts |
//! | [`platform`] | what boards with the same hard blocks share |
//! | [`netlist`] | instances and connections of emitted Verilog |
//! | [`crossings`] | every crossing between clocks, found in the Verilog |
//! | [`crossing_constraints`] | the XDC lines that they need |
//! | [`xdc`] | reads constraints |
//! | [`pins`] | what is known of the boards' pins |
//! | [`lint`] | checks constraints against pins, ports and crossings |
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod crossing_constraints;
pub mod crossings;
mod error;
pub mod lint;
pub mod netlist;
pub mod pins;
pub mod platform;
mod problem;
pub mod project;
mod settings;
pub mod xdc;

pub use error::ProjectError;
pub use problem::Problem;
pub use project::Project;
pub use settings::MAX_LOADS;
