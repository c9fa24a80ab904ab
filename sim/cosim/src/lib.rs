//! Co-simulation of the Verilated receive lane, a MAC that feeds it at line rate, and the PCIe fabric, with one clock.
//!
//! [`LaneWorld`] connects them: each cycle of the lane is 4 ns of fabric time. [`Session`] runs it together with the reference model of
//! `stellar-transport`, and compares verdicts, acknowledgement requests, TLPs and every byte of memory. The simulation is deterministic: the same
//! frames, tables and seeds give the same run, cycle by cycle.

mod acks;
mod capture;
pub mod fuzz;
mod lane;
mod memory_map;
mod mutate;
mod session;
mod table;
pub mod traffic;
mod world;

pub use capture::{Buffer, Capture, CaptureError, CAPTURE_PD};
pub use lane::{LaneInputs, LaneModel, LaneOutputs, LaneWidth};
pub use memory_map::{MemoryMap, Mismatch, Placed, RegionSpec, NIC};
pub use mutate::mutate;
pub use session::{Session, SessionConfig, SessionError};
pub use sim_bfm::{Pacing, CLOCK_PS, WIRE_OVERHEAD};
pub use table::pack;
pub use world::{LaneWorld, WorldError, WorldStats};
