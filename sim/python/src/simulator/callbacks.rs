//! Callbacks and clocks.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sim_kernel::{CallbackKey, ClockKey, Edge, Kernel};
use sim_verilated::PortId;

use crate::simulation::{self, Callback};
use crate::simulator::handle::{action, Handle};

pub const VALUE_CHANGE: u8 = 0;
pub const RISING: u8 = 1;
pub const FALLING: u8 = 2;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SimCallback>()?;
    module.add_class::<CppClock>()?;
    for function in [
        wrap_pyfunction!(register_timed_callback, module)?,
        wrap_pyfunction!(register_readonly_callback, module)?,
        wrap_pyfunction!(register_rwsynch_callback, module)?,
        wrap_pyfunction!(register_nextstep_callback, module)?,
        wrap_pyfunction!(register_value_change_callback, module)?,
        wrap_pyfunction!(clock_create, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}

/// A registered callback.
#[pyclass(name = "sim_callback", module = "cocotb.simulator", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
struct SimCallback(CallbackKey);

#[pymethods]
impl SimCallback {
    /// Cancels the callback. It has no effect if the callback was called already.
    fn deregister(&self) -> PyResult<()> {
        let cancelled = simulation::with(|s| s.kernel.cancel(self.0))?;
        // The value is dropped here, outside the lock, because dropping may run Python code.
        drop(cancelled);
        Ok(())
    }
}

/// Registers `function` with the kernel by the method `ask`.
fn ask(
    function: Bound<'_, PyAny>,
    arguments: Bound<'_, PyTuple>,
    ask: impl FnOnce(&mut Kernel<Callback>, Callback) -> CallbackKey,
) -> PyResult<SimCallback> {
    let callback = Callback {
        function: function.unbind(),
        arguments: arguments.unbind(),
    };
    simulation::with(|s| SimCallback(ask(&mut s.kernel, callback)))
}

/// Calls `func` after `time` steps.
#[pyfunction]
#[pyo3(signature = (time, func, *args))]
fn register_timed_callback(
    time: u64,
    func: Bound<'_, PyAny>,
    args: Bound<'_, PyTuple>,
) -> PyResult<SimCallback> {
    ask(func, args, |kernel, callback| kernel.after(time, callback))
}

/// Calls `func` in the next ReadOnly phase.
#[pyfunction]
#[pyo3(signature = (func, *args))]
fn register_readonly_callback(
    func: Bound<'_, PyAny>,
    args: Bound<'_, PyTuple>,
) -> PyResult<SimCallback> {
    ask(func, args, Kernel::at_read_only)
}

/// Calls `func` in the next ReadWrite phase.
#[pyfunction]
#[pyo3(signature = (func, *args))]
fn register_rwsynch_callback(
    func: Bound<'_, PyAny>,
    args: Bound<'_, PyTuple>,
) -> PyResult<SimCallback> {
    ask(func, args, Kernel::at_read_write)
}

/// Calls `func` at the start of the next time step.
#[pyfunction]
#[pyo3(signature = (func, *args))]
fn register_nextstep_callback(
    func: Bound<'_, PyAny>,
    args: Bound<'_, PyTuple>,
) -> PyResult<SimCallback> {
    ask(func, args, Kernel::at_next_step)
}

/// Calls `func` when `signal` has a change of the kind `edge`.
#[pyfunction]
#[pyo3(signature = (signal, func, edge, *args))]
fn register_value_change_callback(
    signal: &Bound<'_, Handle>,
    func: Bound<'_, PyAny>,
    edge: u8,
    args: Bound<'_, PyTuple>,
) -> PyResult<SimCallback> {
    let edge = match edge {
        VALUE_CHANGE => Edge::Any,
        RISING => Edge::Rising,
        FALLING => Edge::Falling,
        other => return Err(PyValueError::new_err(format!("{other} is no kind of edge"))),
    };
    let signal = signal.get().signal()?;
    ask(func, args, |kernel, callback| {
        kernel.at_change(signal, edge, callback)
    })
}

/// A clock that the simulator toggles without Python.
#[pyclass(name = "cpp_clock", module = "cocotb.simulator")]
struct CppClock {
    signal: PortId,
    running: Option<ClockKey>,
}

#[pymethods]
impl CppClock {
    /// Sets the clock now and then toggles it.
    fn start(
        &mut self,
        period_steps: u64,
        high_steps: u64,
        start_high: bool,
        set_action: u8,
    ) -> PyResult<()> {
        if self.running.is_some() {
            return Err(PyRuntimeError::new_err("Clock already started!"));
        }
        let action = action(set_action)?;
        let started = simulation::with(|s| {
            s.kernel
                .start_clock(self.signal, period_steps, high_steps, start_high, action)
        })?;
        self.running = Some(started.map_err(|error| PyValueError::new_err(error.to_string()))?);
        Ok(())
    }

    /// Stops the clock at its present level.
    fn stop(&mut self) -> PyResult<()> {
        match self.running.take() {
            Some(key) => simulation::with(|s| s.kernel.stop_clock(key)),
            None => Ok(()),
        }
    }
}

/// A clock for `hdl`, not yet started.
#[pyfunction]
fn clock_create(hdl: &Bound<'_, Handle>) -> PyResult<CppClock> {
    Ok(CppClock {
        signal: hdl.get().writable()?,
        running: None,
    })
}
