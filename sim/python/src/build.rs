//! Building models from Python.

use std::path::PathBuf;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sim_kernel::Manifest;
use sim_models::DesignModels;
use sim_verilated::{default_cache, ModelSpec, Sources, Toolchain, TopModule};

use crate::designs;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(build_sources, module)?,
        wrap_pyfunction!(build_design, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}

fn failed(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Builds a model of Verilog files, or finds it in the cache, and describes it in the file `manifest`.
///
/// `short_run` compiles it in a third of the time, to run at two thirds of the speed. `signals` keeps every signal accessible by name instead of the ports only. `precision` is the time step as an exponent of ten, in seconds,
/// and goes with `timescale`.
#[pyfunction]
#[pyo3(signature = (manifest, *, top, sources, includes, defines, parameters, timescale, precision, signals, waves, coverage, assertions, short_run, verilator_arguments))]
#[allow(clippy::too_many_arguments)] // keyword arguments of a Python function
fn build_sources(
    py: Python<'_>,
    manifest: PathBuf,
    top: String,
    sources: Vec<PathBuf>,
    includes: Vec<PathBuf>,
    defines: Vec<(String, String)>,
    parameters: Vec<(String, String)>,
    timescale: Option<String>,
    precision: i8,
    signals: bool,
    waves: bool,
    coverage: bool,
    assertions: bool,
    short_run: bool,
    verilator_arguments: Vec<String>,
) -> PyResult<()> {
    py.detach(|| {
        let tools = Toolchain::find().map_err(failed)?;
        let sources = Sources {
            top,
            files: sources,
            includes,
            defines,
        };
        // The top module is described before the build, because the messages of this step name files and lines.
        let placed = sources.preprocess(tools, true).map_err(failed)?;
        let interface =
            TopModule::describe(&sources.top, &placed, &parameters, tools).map_err(failed)?;
        let text = sources.preprocess(tools, false).map_err(failed)?;
        let mut spec = ModelSpec::new(sources.top, text, vec![]);
        spec.parameters = parameters;
        spec.timescale = timescale;
        spec.signals = signals;
        spec.trace = waves;
        spec.coverage = coverage;
        spec.assertions = assertions;
        spec.short_run = short_run;
        spec.verilator_arguments = verilator_arguments;
        if !spec.signals {
            spec.ports = interface.model_ports();
        }
        build(spec, interface, tools, precision, &manifest)?;
        Ok(())
    })
}

/// Builds `spec` and writes its description. Returns the name of the top module.
fn build(
    spec: ModelSpec,
    interface: TopModule,
    tools: &Toolchain,
    precision: i8,
    manifest: &std::path::Path,
) -> PyResult<String> {
    let library = spec.build_file(tools, &default_cache()).map_err(failed)?;
    let description = Manifest {
        library,
        top: spec.top,
        interface,
        trace: spec.trace,
        coverage: spec.coverage,
        signals: spec.signals,
        precision,
        verilator: tools.version().to_owned(),
    };
    description.write(manifest).map_err(failed)?;
    Ok(description.top)
}

/// Builds the block `name` of the project from its Verilog as emitted, and describes it in the file `manifest`. Without waves it is the model that
/// every other command uses in mode plain (`--sim-mode plain`). Returns the name of the top module.
#[pyfunction]
#[pyo3(signature = (manifest, name, *, waves=false, wave_levels=None, short_run=false))]
fn build_design(
    py: Python<'_>,
    manifest: PathBuf,
    name: &str,
    waves: bool,
    wave_levels: Option<u32>,
    short_run: bool,
) -> PyResult<String> {
    py.detach(|| {
        let tools = Toolchain::find().map_err(failed)?;
        let mut spec = designs::elaborate(name)?.model();
        if waves {
            spec = spec.with_trace_of(wave_levels);
        }
        spec.short_run = short_run;
        let interface = TopModule::describe(&spec.top, &spec.verilog, &spec.parameters, tools)
            .map_err(failed)?;
        // Other ports, or another order of them, would make it another model.
        if interface.model_ports() != spec.ports {
            let top = &spec.top;
            return Err(failed(format!(
                "the ports of `{top}` in its Verilog are not those that the emitter lists"
            )));
        }
        build(spec, interface, tools, -12, &manifest)
    })
}
