//! Loading a model and running it.

use std::path::PathBuf;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sim_kernel::{Advance, End, Hierarchy, Kernel, Manifest};

use crate::simulation::{self, Simulation};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(load, module)?,
        wrap_pyfunction!(run, module)?,
        wrap_pyfunction!(has_coverage, module)?,
        wrap_pyfunction!(write_coverage, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}

/// Number of steps without a callback after which other Python threads may run and Ctrl-C is checked.
const BUDGET: u32 = 1 << 16;
/// Number of steps after which letting other threads run is worth its cost.
const SHORT: u32 = 64;

/// Makes the model described by `manifest` the simulation of this process. `waves` names a wave file to write.
#[pyfunction]
#[pyo3(signature = (manifest, arguments, waves=None))]
fn load(manifest: PathBuf, arguments: Vec<String>, waves: Option<PathBuf>) -> PyResult<()> {
    let failed = |error: &dyn std::fmt::Display| PyRuntimeError::new_err(error.to_string());
    let manifest = Manifest::read(&manifest).map_err(|error| failed(&error))?;
    let library = manifest.load().map_err(|error| failed(&error))?;
    let mut model = library.instantiate();
    let hierarchy = Hierarchy::new(&manifest, &mut model);
    if let Some(waves) = waves {
        model.open_trace(waves).map_err(|error| failed(&error))?;
    }
    simulation::install(Simulation {
        kernel: Kernel::new(model),
        hierarchy,
        manifest,
        arguments,
        on_end: None,
    })
}

/// Runs until the simulation ends, and finishes its waves. Returns the reason if the Verilog stopped itself.
#[pyfunction]
fn run(py: Python<'_>) -> PyResult<Option<String>> {
    let ended = event_loop(py);
    simulation::with(|s| s.kernel.model_mut().close_trace())?;
    let end = ended?;
    if end == End::Requested {
        return Ok(None);
    }
    let on_end = simulation::with(|s| s.on_end.take())?;
    if let Some(on_end) = on_end {
        on_end.call0(py)?;
    }
    Ok(match end {
        End::Stopped(reason) => Some(reason),
        _ => None,
    })
}

fn event_loop(py: Python<'_>) -> PyResult<End> {
    loop {
        let advanced = match simulation::with(|s| s.kernel.advance(SHORT))? {
            Advance::Busy => {
                py.check_signals()?;
                py.detach(|| simulation::with(|s| s.kernel.advance(BUDGET)))?
            }
            other => other,
        };
        match advanced {
            Advance::Call(callback) => {
                callback
                    .function
                    .bind(py)
                    .call1(callback.arguments.bind(py))?;
            }
            Advance::Busy => {}
            Advance::Ended(end) => return Ok(end),
        }
    }
}

/// Whether the model was built with line coverage.
#[pyfunction]
fn has_coverage() -> PyResult<bool> {
    simulation::with(|s| s.manifest.coverage)
}

/// Writes the line coverage counted so far, for a model built with it.
#[pyfunction]
fn write_coverage(path: PathBuf) -> PyResult<()> {
    let written = simulation::with(|s| s.kernel.model_mut().write_coverage(&path))?;
    written.map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
