//! Event-driven simulation of one Verilated model.
//!
//! [`Manifest`] says which model and how its signals are declared; [`Hierarchy`] is the tree of its instances and signals; [`Kernel`] advances
//! time and tells its caller which callback is due next. The order inside a time step is that of cocotb's own main loop for Verilator
//! (`share/lib/verilator/verilator.cpp` of cocotb 2.1), so the same test sees the same values at the same times on either:
//!
//! 1. evaluate, apply the inertial writes, fire value-change callbacks; again while something was written
//! 2. ReadWrite callbacks, writes, value changes; back to 1 while something was written
//! 3. ReadOnly callbacks, waves
//! 4. advance to the next timer or clock edge; NextTimeStep callbacks; then what is due at that time, in the order it was asked for
//!
//! A write is seen by value-change callbacks before the model is evaluated with it. A test that waits for a clock edge therefore reads
//! registers as they were before the edge, and what it writes takes effect after it.
//!
//! The kernel knows nothing of Python: a callback is any value, handed back when it is due. Values are two-valued.

mod error;
mod hierarchy;
mod kernel;
mod manifest;
mod step;
mod value;
mod watch;

pub use error::{LoadError, WriteError};
pub use hierarchy::{Access, Hierarchy, NodeId, NodeKind};
pub use kernel::{Action, CallbackKey, ClockError, ClockKey, Kernel};
pub use manifest::Manifest;
pub use step::{Advance, End};
pub use value::{bit_string, parse_bits, ValueError};
pub use watch::Edge;
