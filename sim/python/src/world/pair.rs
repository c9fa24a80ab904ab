//! Two hosts on a fabric, their NICs being the software reference of the transport.

use pyo3::prelude::*;
use sim_world::scenario::{Scenario, Setup};
use sim_world::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{
    check_bytes, lossy_topology, policy_name, MrcPlan, Plan, Recorder, ReferenceNic, TransportPlan,
    WorldError,
};
use stellar_transport::spray::Policy;

use super::{failed, invalid};

/// The report as JSON, and a pcapng file per port by the port's name.
type Outcome = (String, Vec<(String, Vec<u8>)>);

/// Each of `qps` queue pairs writes one message of `bytes` from GPU memory to GPU memory.
#[pyfunction]
#[pyo3(signature = (*, topology, bytes, qps, mode, paths, policy, loss, seed, captures))]
#[allow(clippy::too_many_arguments)] // keyword arguments of a Python function
pub fn run_pair(
    py: Python<'_>,
    topology: Option<(String, String)>,
    bytes: u64,
    qps: u32,
    mode: &str,
    paths: u8,
    policy: Option<&str>,
    loss: Option<(String, f64)>,
    seed: u64,
    captures: bool,
) -> PyResult<Outcome> {
    let (file, text) = topology.unwrap_or_else(|| (LEAF_SPINE_FILE.into(), LEAF_SPINE.into()));
    let loss = loss.as_ref().map(|(link, p)| (link.as_str(), *p));
    let topology = lossy_topology(&file, &text, loss).map_err(invalid)?;
    let mut plan = Plan::new(topology, seed).map_err(invalid)?;
    plan.transport = transport(mode, paths, policy)?;
    plan.qps = qps;
    plan.capture = captures;
    let bytes = check_bytes(bytes).map_err(invalid)?;
    plan.check().map_err(invalid)?;
    py.detach(|| {
        let run = run::<ReferenceNic>(&plan, Transfer::whole(bytes))?;
        Ok((run.report.json(), files(run.world.captures())?))
    })
    .map_err(|error: WorldError| failed(error))
}

/// A named scenario, which brings its own topology and traffic.
#[pyfunction]
pub fn run_scenario(py: Python<'_>, name: &str, seed: u64) -> PyResult<Outcome> {
    let scenario = Scenario::<ReferenceNic>::find(name).map_err(invalid)?;
    py.detach(|| {
        let outcome = scenario.run(&Setup::full(seed))?;
        Ok((outcome.report().json(), files(outcome.world.captures())?))
    })
    .map_err(|error: WorldError| failed(error))
}

/// Names of the scenarios, and what each is.
#[pyfunction]
pub fn scenarios() -> Vec<(&'static str, &'static str)> {
    let all: [Scenario<ReferenceNic>; 17] = Scenario::ALL;
    all.iter().map(|s| (s.name, s.what)).collect()
}

fn files(captures: Option<&Recorder>) -> Result<Vec<(String, Vec<u8>)>, WorldError> {
    captures.map_or(Ok(vec![]), Recorder::files)
}

fn transport(mode: &str, paths: u8, policy: Option<&str>) -> PyResult<TransportPlan> {
    match mode {
        "rc" if policy.is_some() => Err(invalid("policy with mode \"rc\": RC has one path")),
        "rc" => Ok(TransportPlan::Rc),
        "mrc" => Ok(TransportPlan::Mrc(MrcPlan {
            policy: path_policy(policy, paths)?,
            paths,
            ..MrcPlan::default()
        })),
        other => Err(invalid(format!(
            "unknown mode {other:?}: use \"rc\" or \"mrc\""
        ))),
    }
}

fn path_policy(name: Option<&str>, paths: u8) -> PyResult<Policy> {
    let all = [
        Policy::SinglePath,
        Policy::RoundRobin,
        Policy::Obs,
        Policy::EvState,
    ];
    match name {
        None if paths == 1 => Ok(Policy::SinglePath),
        None => Ok(Policy::Obs),
        Some(name) => all
            .into_iter()
            .find(|&policy| policy_name(policy) == name)
            .ok_or_else(|| {
                let names = all.map(policy_name).join(", ");
                invalid(format!("unknown policy {name:?}: use one of {names}"))
            }),
    }
}
