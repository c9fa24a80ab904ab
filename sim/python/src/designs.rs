//! The project's hardware by name.

use hdl_designs::DesignError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(designs, module)?)?;
    module.add_function(wrap_pyfunction!(design_verilog, module)?)
}

/// The block `name` as Verilog.
pub fn elaborate(name: &str) -> PyResult<hdl_verilog::Design> {
    hdl_designs::elaborate(name).map_err(answer)
}

/// Names and descriptions of the blocks.
#[pyfunction]
fn designs() -> Vec<(&'static str, &'static str)> {
    let all = hdl_designs::ALL.iter();
    all.map(|known| (known.name, known.what)).collect()
}

/// Names of the top modules of the blocks `names`, and one source text with all of them.
#[pyfunction]
fn design_verilog(py: Python<'_>, names: Vec<String>) -> PyResult<(Vec<String>, String)> {
    py.detach(|| hdl_designs::together(&names)).map_err(answer)
}

fn answer(error: DesignError) -> PyErr {
    match error {
        DesignError::Unknown { .. } => PyValueError::new_err(error.to_string()),
        other => PyRuntimeError::new_err(other.to_string()),
    }
}
