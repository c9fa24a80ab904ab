//! `cocotb.simulator`: the interface that cocotb 2.1 expects of a simulator, as its `simulator.pyi` declares it.

mod callbacks;
mod handle;
mod run;

use pyo3::prelude::*;

use crate::simulation;

/// Numbers of the kinds of objects in cocotb (`gpi.h` of cocotb 2.1).
mod object {
    pub const UNKNOWN: u8 = 0;
    pub const MEMORY: u8 = 1;
    pub const MODULE: u8 = 2;
    pub const NETARRAY: u8 = 6;
    pub const ENUM: u8 = 7;
    pub const STRUCTURE: u8 = 8;
    pub const REAL: u8 = 9;
    pub const INTEGER: u8 = 10;
    pub const STRING: u8 = 11;
    pub const FIXED_STRING: u8 = 12;
    pub const GENARRAY: u8 = 13;
    pub const PACKAGE: u8 = 14;
    pub const PACKED: u8 = 15;
    pub const LOGIC: u8 = 16;
    pub const LOGIC_ARRAY: u8 = 17;
}

const RANGE_UP: i8 = 1;
const RANGE_DOWN: i8 = -1;
const RANGE_NO_DIR: i8 = 0;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for (name, value) in [
        ("UNKNOWN", object::UNKNOWN),
        ("MEMORY", object::MEMORY),
        ("MODULE", object::MODULE),
        ("NETARRAY", object::NETARRAY),
        ("ENUM", object::ENUM),
        ("STRUCTURE", object::STRUCTURE),
        ("REAL", object::REAL),
        ("INTEGER", object::INTEGER),
        ("STRING", object::STRING),
        ("FIXED_STRING", object::FIXED_STRING),
        ("GENARRAY", object::GENARRAY),
        ("PACKAGE", object::PACKAGE),
        ("PACKED", object::PACKED),
        ("LOGIC", object::LOGIC),
        ("LOGIC_ARRAY", object::LOGIC_ARRAY),
        ("OBJECTS", 1),
        ("DRIVERS", 2),
        ("LOADS", 3),
        ("VALUE_CHANGE", callbacks::VALUE_CHANGE),
        ("RISING", callbacks::RISING),
        ("FALLING", callbacks::FALLING),
    ] {
        module.add(name, value)?;
    }
    for (name, value) in [
        ("RANGE_UP", RANGE_UP),
        ("RANGE_DOWN", RANGE_DOWN),
        ("RANGE_NO_DIR", RANGE_NO_DIR),
    ] {
        module.add(name, value)?;
    }
    handle::register(module)?;
    callbacks::register(module)?;
    run::register(module)?;
    for function in [
        wrap_pyfunction!(is_running, module)?,
        wrap_pyfunction!(get_precision, module)?,
        wrap_pyfunction!(get_sim_time, module)?,
        wrap_pyfunction!(get_simulator_product, module)?,
        wrap_pyfunction!(get_simulator_version, module)?,
        wrap_pyfunction!(get_simulator_args, module)?,
        wrap_pyfunction!(set_sim_event_callback, module)?,
        wrap_pyfunction!(stop_simulator, module)?,
        wrap_pyfunction!(initialize_logger, module)?,
        wrap_pyfunction!(set_gpi_log_level, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}

#[pyfunction]
fn is_running() -> bool {
    simulation::exists()
}

/// Length of a time step as an exponent of ten, in seconds.
#[pyfunction]
fn get_precision() -> PyResult<i8> {
    simulation::with(|s| s.manifest.precision)
}

/// Steps since the start: the high 32 bits, then the low ones.
#[pyfunction]
fn get_sim_time() -> PyResult<(u32, u32)> {
    simulation::with(|s| ((s.kernel.now() >> 32) as u32, s.kernel.now() as u32))
}

/// Tests and libraries use the name Verilator to find out which features it lacks, such as four-valued logic. This simulator lacks the same features.
#[pyfunction]
fn get_simulator_product() -> &'static str {
    "Verilator (OpenStellar)"
}

#[pyfunction]
fn get_simulator_version() -> PyResult<String> {
    simulation::with(|s| s.manifest.verilator.clone())
}

#[pyfunction]
fn get_simulator_args() -> PyResult<Vec<String>> {
    simulation::with(|s| s.arguments.clone())
}

/// `callback` is called when the simulation ends for another reason than `stop_simulator`.
#[pyfunction]
fn set_sim_event_callback(callback: Bound<'_, PyAny>) -> PyResult<()> {
    let replaced = simulation::with(|s| s.on_end.replace(callback.unbind()))?;
    // The value is dropped here, outside the lock, because dropping may run Python code.
    drop(replaced);
    Ok(())
}

#[pyfunction]
fn stop_simulator() -> PyResult<()> {
    simulation::with(|s| s.kernel.stop())
}

/// This simulator has no C++ layer that logs messages.
#[pyfunction]
#[pyo3(signature = (_log_func, _get_logger))]
fn initialize_logger(_log_func: Bound<'_, PyAny>, _get_logger: Bound<'_, PyAny>) {}

/// Does nothing: see [`initialize_logger`].
#[pyfunction]
fn set_gpi_log_level(_level: i32) {}
