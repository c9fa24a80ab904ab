//! The numbers of a group's run.

use std::path::Path;

use serde::Serialize;
use sim_net::{Time, Totals};
use stellar_wire::host::QpCounters;

use super::run::{FlowTimes, RunningTenant, WindowSample};
use super::{jain, GroupNic, GroupPlan};
use crate::report::{
    gigabits_per_second, percentile_ns, requester_sums, write_file, QueueSeries, RequesterSums,
    Series,
};
use crate::samples::Samples;
use crate::{Verified, World, WorldError};

/// What was observed.
pub(super) struct Observed {
    pub verified: Verified,
    pub tenants: Vec<RunningTenant>,
    pub samples: Samples<WindowSample>,
}

/// A flow of the first round of a tenant.
#[derive(Clone, Debug, Serialize)]
pub struct FlowReport {
    /// Host that sends.
    pub from: String,
    /// Host that receives.
    pub to: String,
    /// Queue pair, of the same number at both ends.
    pub qp: u32,
    /// Bytes.
    pub bytes: u64,
    /// Start in nanoseconds.
    pub start_ns: u64,
    /// From the start to the sender's last acknowledgement, in nanoseconds.
    pub fct_ns: u64,
    /// From the start to the arrival of the last byte, in nanoseconds.
    pub received_ns: u64,
    /// Bytes over the time to their arrival, in Gb/s.
    pub goodput_gbps: f64,
    /// Bytes that had arrived when the tenant's first flow was complete.
    pub share_bytes: u64,
    /// First window that was seen, in bytes; 0 without congestion control.
    pub window_first: u32,
    /// Least, mean and greatest window in the last quarter of the time until the tenant's first flow was complete, in bytes.
    pub window_late: [u32; 3],
}

/// The flows of a tenant.
#[derive(Clone, Debug, Serialize)]
pub struct TenantReport {
    /// Name.
    pub name: String,
    /// Pattern.
    pub pattern: &'static str,
    /// Hosts, in the order of the pattern.
    pub hosts: Vec<String>,
    /// Rounds.
    pub rounds: u32,
    /// Bytes of all rounds. Every one was compared.
    pub bytes: u64,
    /// From the first start to the last completion, in nanoseconds.
    pub duration_ns: u64,
    /// All bytes over that time, in Gb/s.
    pub goodput_gbps: f64,
    /// Jain's index of the bytes that had arrived when the first flow was complete, over the flows that had started at the tenant's start; none if there is
    /// one flow.
    pub fairness: Option<f64>,
    /// Jain's index of the late windows of these flows; none without congestion control.
    pub window_fairness: Option<f64>,
    /// Times to the last acknowledgement, of all rounds: median, 99th percentile and longest, in nanoseconds.
    pub fct_ns: [u64; 3],
    /// Flows of the first round.
    pub flows: Vec<FlowReport>,
}

/// Time series.
#[derive(Clone, Debug, Serialize)]
pub struct GroupSeries {
    /// Times of the windows in nanoseconds.
    pub time_ns: Vec<u64>,
    /// By tenant and flow of the first round: window at each time in bytes, 0 while the flow is not under way.
    pub windows: Vec<Vec<Vec<u32>>>,
    /// Times of the queues in nanoseconds.
    pub queue_time_ns: Vec<u64>,
    /// The deepest queues.
    pub queues: Vec<QueueSeries>,
}

/// The numbers of a run. Two runs of one plan give the same report to the byte.
#[derive(Clone, Debug, Serialize)]
pub struct GroupReport {
    /// Hosts with NICs, and the kind of each.
    pub nics: Vec<(String, &'static str)>,
    /// Seed.
    pub seed: u64,
    /// `mrc` or `rc`.
    pub mode: &'static str,
    /// `ipv4`, `ipv6` or `srv6`.
    pub addressing: &'static str,
    /// Path MTU in bytes.
    pub mtu: u32,
    /// Bytes compared. The receivers' NICs wrote all of them.
    pub bytes: u64,
    /// WRITEs that completed with success: all.
    pub completed: u64,
    /// Tenants.
    pub tenants: Vec<TenantReport>,
    /// Requesters of all hosts.
    pub requester: RequesterSums,
    /// The fabric's counters.
    pub fabric: Totals,
    /// Time series.
    pub series: GroupSeries,
}

impl GroupReport {
    pub(super) fn new<N: GroupNic>(plan: &GroupPlan, world: &mut World<N>, seen: Observed) -> Self {
        let base = &plan.base;
        let counters = counters(world, &seen.tenants);
        let queues = Series::of(world.record().samples(), world.fabric());
        let tenants = seen.tenants.iter().enumerate();
        let tenants =
            tenants.map(|(index, tenant)| tenant_report(plan, index, tenant, seen.samples.kept()));
        let flows = |index: usize| seen.tenants[index].workload.flows.len();
        let series = |index: usize, flow: usize| {
            let samples = seen.samples.kept().iter();
            samples.map(|at| at.windows[index][flow]).collect()
        };
        Self {
            nics: plan
                .nics
                .iter()
                .map(|&(host, kind)| (base.host_name(host), kind.name()))
                .collect(),
            seed: base.seed,
            mode: base.transport.name(),
            addressing: base.addressing.name(),
            mtu: 1 << base.mtu_log2,
            bytes: seen.verified.bytes,
            completed: seen.verified.succeeded,
            tenants: tenants.collect(),
            requester: requester_sums(&counters),
            fabric: world.fabric().totals(),
            series: GroupSeries {
                time_ns: seen
                    .samples
                    .kept()
                    .iter()
                    .map(|at| at.time / 1000)
                    .collect(),
                windows: (0..seen.tenants.len())
                    .map(|index| (0..flows(index)).map(|flow| series(index, flow)).collect())
                    .collect(),
                queue_time_ns: queues.time_ns,
                queues: queues.queues,
            },
        }
    }

    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report has string keys and finite numbers")
    }

    /// Writes `report.json` and `report.html` into `directory`.
    ///
    /// # Errors
    /// [`WorldError::Output`], [`WorldError::Plot`].
    pub fn write(&self, directory: &Path) -> Result<(), WorldError> {
        write_file(&directory.join("report.json"), self.json().as_bytes())?;
        write_file(&directory.join("report.html"), self.html()?.as_bytes())
    }
}

/// Counters of all queue pairs at the hosts that send with them.
fn counters<N: GroupNic>(world: &mut World<N>, tenants: &[RunningTenant]) -> Vec<QpCounters> {
    let writes = tenants.iter().flat_map(|tenant| &tenant.writes);
    let mut ends: Vec<(usize, u32)> = writes.map(|write| (write.from, write.qp)).collect();
    ends.sort_unstable();
    ends.dedup();
    let read = |(host, qp)| world.qp_counters(host, qp);
    ends.into_iter().filter_map(read).collect()
}

/// Time from the start to the sender's last acknowledgement, in picoseconds.
fn fct(times: &FlowTimes) -> Time {
    times.sent.unwrap_or(0) - times.started.unwrap_or(0)
}

fn tenant_report(
    plan: &GroupPlan,
    index: usize,
    tenant: &RunningTenant,
    samples: &[WindowSample],
) -> TenantReport {
    let described = &plan.tenants[index];
    let flows = tenant.workload.flows.len();
    let until = tenant.shared_until.unwrap_or(0);
    let late_from = until - until.saturating_sub(described.start) / 4;
    let flow = |number: usize| {
        let (write, times) = (&tenant.writes[number], &tenant.times[number]);
        let started = times.started.unwrap_or(0);
        let received = times.received.unwrap_or(0) - started;
        let windows = samples
            .iter()
            .map(|at| (at.time, at.windows[index][number]));
        let mut seen = windows.filter(|&(_, window)| window > 0);
        let first = seen.clone().next().map_or(0, |(_, window)| window);
        let late: Vec<u32> = seen
            .by_ref()
            .filter(|&(time, _)| (late_from..=until).contains(&time))
            .map(|(_, window)| window)
            .collect();
        let mean =
            late.iter().map(|&window| u64::from(window)).sum::<u64>() / (late.len() as u64).max(1);
        FlowReport {
            from: plan.base.host_name(plan.nics[write.from].0),
            to: plan.base.host_name(plan.nics[write.to].0),
            qp: write.qp,
            bytes: write.length.into(),
            start_ns: started / 1000,
            fct_ns: fct(times) / 1000,
            received_ns: received / 1000,
            goodput_gbps: gigabits_per_second(write.length.into(), received),
            share_bytes: tenant.shares.get(number).copied().unwrap_or(0),
            window_first: first,
            window_late: [
                late.iter().copied().min().unwrap_or(0),
                mean as u32,
                late.iter().copied().max().unwrap_or(0),
            ],
        }
    };
    let reports: Vec<FlowReport> = (0..flows).map(flow).collect();
    let at_start = |report: &&FlowReport| report.start_ns == described.start / 1000;
    let index_of = |value: fn(&FlowReport) -> f64| {
        let shares: Vec<f64> = reports.iter().filter(at_start).map(value).collect();
        (shares.len() > 1).then(|| jain(shares)).flatten()
    };
    let bytes = tenant
        .writes
        .iter()
        .map(|write| u64::from(write.length))
        .sum();
    let end = tenant.times.iter().filter_map(|times| times.sent).max();
    let duration = end.unwrap_or(0) - described.start;
    let mut fcts: Vec<Time> = tenant.times.iter().map(fct).collect();
    fcts.sort_unstable();
    TenantReport {
        name: described.name.clone(),
        pattern: described.pattern.name(),
        hosts: described
            .hosts
            .iter()
            .map(|&host| plan.base.host_name(host))
            .collect(),
        rounds: described.rounds,
        bytes,
        duration_ns: duration / 1000,
        goodput_gbps: gigabits_per_second(bytes, duration),
        fairness: index_of(|flow| flow.share_bytes as f64),
        window_fairness: index_of(|flow| flow.window_late[1].into()),
        fct_ns: [50, 99, 100].map(|percent| percentile_ns(&fcts, percent)),
        flows: reports,
    }
}
