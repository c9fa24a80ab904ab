//! Event-driven simulation of one Verilated model.
//!
//! [`Manifest`] describes the model and the declarations of its signals. [`Hierarchy`] is the tree of its instances and signals. [`Kernel`] advances
//! time and returns the next callback that is due. The order inside a time step is that of cocotb's own main loop for Verilator
//! (`share/lib/verilator/verilator.cpp` of cocotb 2.1), so the same test sees the same values at the same times on either:
//!
//! 1. evaluate, apply the inertial writes, fire value-change callbacks; again while something was written
//! 2. ReadWrite callbacks, writes, value changes; back to 1 while something was written
//! 3. ReadOnly callbacks, waves
//! 4. advance to the next timer or clock edge; NextTimeStep callbacks; then everything due at that time, in the order of registration
//!
//! Value-change callbacks see a write before the model is evaluated with it. So a test that waits for a clock edge reads registers as before the
//! edge, and its writes take effect after it.
//!
//! The kernel does not depend on Python: a callback is any value, and is returned when it is due. Values are two-valued.

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
