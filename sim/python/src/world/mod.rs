//! The simulated world: a receive lane with its MAC, PCIe fabric, memories and reference, for Python without cocotb.

mod arguments;
mod lane;
mod traffic;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<lane::Lane>()?;
    module.add_function(wrap_pyfunction!(traffic::write_frames, module)?)?;
    module.add_function(wrap_pyfunction!(traffic::table_words, module)?)?;
    Ok(())
}

/// The world cannot do what was asked.
fn failed(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// An argument that means nothing.
fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
