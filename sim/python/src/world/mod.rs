//! The simulated world for Python without cocotb: a receive lane with its MAC, PCIe fabric, memories and reference; and two hosts on a fabric.

mod arguments;
mod hosts;
mod lane;
mod pair;
mod traffic;

pub use arguments::{mtu_log2, owner, page_size};
pub use pair::path_policy;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<lane::Lane>()?;
    module.add_class::<hosts::Hosts>()?;
    module.add_function(wrap_pyfunction!(traffic::write_frames, module)?)?;
    module.add_function(wrap_pyfunction!(pair::run_pair, module)?)?;
    module.add_function(wrap_pyfunction!(pair::run_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(pair::scenarios, module)?)?;
    module.add_function(wrap_pyfunction!(traffic::table_words, module)?)?;
    Ok(())
}

/// The Python exception for a call that the world cannot execute.
pub fn failed(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// The Python exception for an argument that is not valid.
pub fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
