//! The one simulation of this process.

use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sim_kernel::{Hierarchy, Kernel, Manifest};

/// A Python function with its arguments, to be called at its time.
pub struct Callback {
    pub function: Py<PyAny>,
    pub arguments: Py<PyTuple>,
}

/// A loaded model in simulated time.
pub struct Simulation {
    pub kernel: Kernel<Callback>,
    pub hierarchy: Hierarchy,
    pub manifest: Manifest,
    /// Arguments of the simulator, including plusargs.
    pub arguments: Vec<String>,
    /// Called when the simulation ends by itself.
    pub on_end: Option<Py<PyAny>>,
}

/// Locked only inside calls from Python and while time advances: never while Python code runs.
static SIMULATION: Mutex<Option<Simulation>> = Mutex::new(None);

/// Makes `simulation` the one of this process.
pub fn install(simulation: Simulation) -> PyResult<()> {
    let mut installed = lock();
    if let Some(running) = &*installed {
        return Err(PyRuntimeError::new_err(format!(
            "a simulation of `{}` exists in this process already, and cocotb keeps global state: run each in a process of its own, as Runner.test() does",
            running.manifest.top
        )));
    }
    *installed = Some(simulation);
    Ok(())
}

/// Whether there is a simulation.
pub fn exists() -> bool {
    lock().is_some()
}

fn lock() -> MutexGuard<'static, Option<Simulation>> {
    // A panic under the lock leaves the simulation in the state of that point. The panic itself was reported where it happened.
    SIMULATION
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Calls `action` with the simulation. It must not run Python code.
pub fn with<R>(action: impl FnOnce(&mut Simulation) -> R) -> PyResult<R> {
    match &mut *lock() {
        Some(simulation) => Ok(action(simulation)),
        None => Err(PyRuntimeError::new_err(
            "no simulation is running: start it through openstellar.cocotb.Runner",
        )),
    }
}
