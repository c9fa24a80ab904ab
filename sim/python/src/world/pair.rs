//! Two hosts on a fabric, for a whole run in one call.

use pyo3::prelude::*;
use sim_nic::RtlNic;
use sim_world::scenario::{Scenario, Setup};
use sim_world::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{
    check_bytes, lossy_topology, MrcPlan, NicKind, Plan, Recorder, ReferenceNic, TransportPlan,
    WorldError,
};
use stellar_transport::spray::Policy;

use super::arguments::{mtu_log2, Kind};
use super::{failed, invalid};

/// The report as JSON, and a pcapng file per port by the port's name.
pub type Outcome = (String, Vec<(String, Vec<u8>)>);

/// Name and text of a topology file; `None` for the built-in one.
pub type Topology = Option<(String, String)>;

/// Each of `qps` queue pairs writes one message of `bytes` from GPU memory to GPU memory.
#[pyfunction]
#[pyo3(signature = (*, topology, nic, bytes, qps, mode, paths, policy, loss, mtu, seed, captures))]
#[allow(clippy::too_many_arguments)] // keyword arguments of a Python function
pub fn run_pair(
    py: Python<'_>,
    topology: Topology,
    nic: &str,
    bytes: u64,
    qps: u32,
    mode: &str,
    paths: u8,
    policy: Option<&str>,
    loss: Option<(String, f64)>,
    mtu: u32,
    seed: u64,
    captures: bool,
) -> PyResult<Outcome> {
    let kind = Kind::named(nic)?;
    let plan = plan(
        topology, qps, mode, paths, policy, loss, mtu, seed, captures,
    )?;
    let bytes = check_bytes(bytes).map_err(invalid)?;
    py.detach(|| match kind {
        Kind::Reference => transfer::<ReferenceNic>(&plan, bytes),
        Kind::Rtl => transfer::<RtlNic>(&plan, bytes),
    })
    .map_err(failed)
}

fn transfer<N: NicKind>(plan: &Plan, bytes: u32) -> Result<Outcome, WorldError> {
    let run = run::<N>(plan, Transfer::whole(bytes))?;
    Ok((run.report.json(), files(run.world.captures())?))
}

/// The arguments of a run, as types of the world.
#[allow(clippy::too_many_arguments)] // keyword arguments of Python functions
pub fn plan(
    topology: Topology,
    qps: u32,
    mode: &str,
    paths: u8,
    policy: Option<&str>,
    loss: Option<(String, f64)>,
    mtu: u32,
    seed: u64,
    captures: bool,
) -> PyResult<Plan> {
    let (file, text) = topology.unwrap_or_else(|| (LEAF_SPINE_FILE.into(), LEAF_SPINE.into()));
    let loss = loss.as_ref().map(|(link, p)| (link.as_str(), *p));
    let topology = lossy_topology(&file, &text, loss).map_err(invalid)?;
    let mut plan = Plan::new(topology, seed).map_err(invalid)?;
    plan.transport = transport(mode, paths, policy)?;
    plan.qps = qps;
    plan.mtu_log2 = mtu_log2(mtu)?;
    plan.capture = captures;
    plan.check().map_err(invalid)?;
    Ok(plan)
}

/// A named scenario, which has its own topology and traffic. Messages are `shrink` times shorter in scenarios that mean the same with shorter ones.
#[pyfunction]
pub fn run_scenario(
    py: Python<'_>,
    name: &str,
    nic: &str,
    seed: u64,
    shrink: u32,
) -> PyResult<Outcome> {
    let kind = Kind::named(nic)?;
    if !(1..=16).contains(&shrink) {
        return Err(invalid(format!("shrink of {shrink}: use 1 to 16")));
    }
    let setup = Setup::shrunk(seed, shrink);
    match kind {
        Kind::Reference => play::<ReferenceNic>(py, name, &setup),
        Kind::Rtl => play::<RtlNic>(py, name, &setup),
    }
}

fn play<N: NicKind>(py: Python<'_>, name: &str, setup: &Setup) -> PyResult<Outcome> {
    let scenario = Scenario::<N>::find(name).map_err(invalid)?;
    py.detach(|| {
        let mut outcome = scenario.run(setup)?;
        Ok::<_, WorldError>((outcome.report().json(), files(outcome.world.captures())?))
    })
    .map_err(failed)
}

/// Names and descriptions of the scenarios.
#[pyfunction]
pub fn scenarios() -> Vec<(&'static str, &'static str)> {
    let all: [Scenario<ReferenceNic>; 17] = Scenario::ALL;
    all.iter().map(|s| (s.name, s.what)).collect()
}

/// The captures of a world.
pub fn files(captures: Option<&Recorder>) -> Result<Vec<(String, Vec<u8>)>, WorldError> {
    captures.map_or(Ok(vec![]), Recorder::files)
}

fn transport(mode: &str, paths: u8, policy: Option<&str>) -> PyResult<TransportPlan> {
    match mode {
        "rc" => {
            let policy = policy.map(|name| path_policy(Some(name), paths));
            TransportPlan::rc(policy.transpose()?, paths).map_err(invalid)
        }
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

pub fn path_policy(name: Option<&str>, paths: u8) -> PyResult<Policy> {
    match name {
        None if paths == 1 => Ok(Policy::SinglePath),
        None => Ok(Policy::Obs),
        Some(name) => Policy::from_name(name).ok_or_else(|| {
            let names = Policy::ALL.map(Policy::name).join(", ");
            invalid(format!("unknown policy {name:?}: use one of {names}"))
        }),
    }
}
