//! The native part of the Python package `openstellar`.
//!
//! One shared library contains two modules. `openstellar._native` builds models and simulates the world around a NIC. `simulator` is loaded under the
//! name `cocotb.simulator` (see `openstellar/process.py`) and connects cocotb's own scheduler to a Verilated model.

mod build;
mod designs;
mod records;
mod simulation;
mod simulator;
mod verbs;
mod world;

use pyo3::prelude::*;

/// `openstellar._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    build::register(module)?;
    designs::register(module)?;
    records::register(module)?;
    world::register(module)?;
    verbs::register(module)
}

/// `cocotb.simulator`.
#[pymodule]
#[pyo3(name = "simulator")]
fn simulator_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    simulator::register(module)
}
