//! The native part of the Python package `openstellar.cluster`.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sim_cluster::{
    Cluster, ClusterError, ClusterPolicy, FlowResult, QueueSample, Record, Report, RunSpec,
    UplinkResult,
};

/// What a run gives.
struct Results {
    report: Report,
    flows: Vec<FlowResult>,
    uplinks: Vec<UplinkResult>,
    samples: Vec<QueueSample>,
}

/// Runs a cluster. Returns the report and the uplinks as JSON, and the columns of flows and of queue samples: numbers of eight bytes, little-endian.
#[pyfunction]
fn run<'py>(
    py: Python<'py>,
    spec: &str,
) -> PyResult<(String, String, Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let spec: RunSpec = serde_json::from_str(spec).map_err(invalid)?;
    let results = py.detach(|| simulate(&spec))?;
    let report = serde_json::to_string(&results.report).map_err(failed)?;
    let uplinks = serde_json::to_string(&results.uplinks).map_err(failed)?;
    let flows = flow_columns(py, &results.flows)?;
    Ok((
        report,
        uplinks,
        flows,
        sample_columns(py, &results.samples)?,
    ))
}

fn simulate(spec: &RunSpec) -> PyResult<Results> {
    let parts = spec.parts().map_err(invalid)?;
    let cluster = Cluster::<Record>::new(parts.topology, parts.workload, parts.settings);
    let mut cluster = cluster.map_err(invalid)?;
    // Cards and queue pairs are made when their first flow starts.
    cluster.run(|_| {}).map_err(|error| match error {
        ClusterError::Config(_) => invalid(error),
        error => failed(error),
    })?;
    let mut report = cluster.report(None);
    report.uplink_bytes.clear();
    Ok(Results {
        flows: std::mem::take(&mut report.flow_results),
        report,
        uplinks: cluster.uplinks(),
        samples: cluster.queue_samples(),
    })
}

/// Names of the path policies, and what they do.
#[pyfunction]
fn policies() -> Vec<(&'static str, &'static str)> {
    let all = ClusterPolicy::ALL.into_iter();
    all.map(|policy| (policy.name(), policy.help())).collect()
}

/// Digest of the sources that decide a run.
#[pyfunction]
const fn sources() -> &'static str {
    env!("STELLAR_CLUSTER_SOURCES")
}

fn flow_columns<'py>(py: Python<'py>, flows: &[FlowResult]) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let whole = |name, of: fn(&FlowResult) -> u64| {
        columns.set_item(
            name,
            column(py, flows.iter().map(|flow| of(flow).to_le_bytes())),
        )
    };
    whole("id", |flow| flow.id)?;
    whole("src", |flow| flow.src.into())?;
    whole("dst", |flow| flow.dst.into())?;
    whole("bytes", |flow| flow.bytes)?;
    let time = |name, of: fn(&FlowResult) -> Option<f64>| {
        let times = flows.iter().map(|flow| of(flow).unwrap_or(f64::NAN));
        columns.set_item(name, column(py, times.map(f64::to_le_bytes)))
    };
    time("start_us", |flow| flow.start_us)?;
    time("fct_us", |flow| flow.fct_us)?;
    time("received_us", |flow| flow.received_us)?;
    let failed: Vec<_> = flows.iter().map(|flow| flow.failed.as_deref()).collect();
    columns.set_item("failed", failed)?;
    Ok(columns)
}

fn sample_columns<'py>(py: Python<'py>, samples: &[QueueSample]) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let times = samples.iter().map(|sample| sample.time_us.to_le_bytes());
    columns.set_item("time_us", column(py, times))?;
    let whole = |name, of: fn(&QueueSample) -> u64| {
        let values = samples.iter().map(|sample| of(sample).to_le_bytes());
        columns.set_item(name, column(py, values))
    };
    whole("uplink", |sample| sample.uplink as u64)?;
    whole("waiting", |sample| sample.waiting)?;
    whole("with_line", |sample| sample.with_line)?;
    whole("sent_bytes", |sample| sample.sent_bytes)?;
    Ok(columns)
}

fn column(py: Python<'_>, values: impl Iterator<Item = [u8; 8]>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &values.flatten().collect::<Vec<u8>>())
}

/// The Python exception for a description of a run that does not fit.
fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The Python exception for a run that failed.
fn failed(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// `openstellar.cluster._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(policies, module)?)?;
    module.add_function(wrap_pyfunction!(sources, module)?)?;
    Ok(())
}
