//! The results of a run: numbers as JSON, a page with plots, captures.

mod html;
mod plots;
mod series;
mod table;

use std::path::Path;

use serde::Serialize;
use sim_net::{Fabric, Time, Totals, FCS, GAP, PREAMBLE};
use stellar_transport::requester::RequesterCounters;
use stellar_wire::host::{QpCounters, WcStatus};
use stellar_wire::mrc::Meth;
use stellar_wire::{icrc, Bth, Ethernet, Header, Ipv4, Reth, Udp};

use crate::config::TransportPlan;
use crate::pair::{RECEIVER, SENDER};
use crate::{
    ArrivalOrder, Completed, NicKind, PcieReads, Plan, Record, Verified, World, WorldError,
};

pub(crate) use html::{escape, line, page, TIME};
pub(crate) use plots::{lines, Labels, Line};
pub use series::{QueueSeries, Series};

/// Bytes an RC WRITE Middle packet takes on the line besides its payload: Ethernet, IPv4, UDP, BTH, iCRC, FCS, preamble and
/// gap.
pub const RC_OVERHEAD: u64 =
    (Ethernet::LEN + Ipv4::LEN + Udp::LEN + Bth::LEN + icrc::LEN + FCS + PREAMBLE + GAP) as u64;

/// Overhead of an MRC packet, which always has METH and RETH. A TSETH is optional and not included: its 4 bytes lower the ratio to the wire limit.
pub const MRC_OVERHEAD: u64 = RC_OVERHEAD + (Meth::LEN + Reth::LEN) as u64;

/// Latencies of work requests, from posting to completion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Completions {
    /// Completed with success, in posting order on every queue pair.
    pub succeeded: u64,
    /// Completed with an error.
    pub failed: u64,
    /// Median time in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile in nanoseconds.
    pub p99_ns: u64,
    /// Longest in nanoseconds.
    pub max_ns: u64,
}

/// Sums over the sender's queue pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RequesterSums {
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Timers that expired.
    pub timeouts: u64,
    /// Packets that early loss detection found.
    pub early_losses: u64,
    /// Packets marked as lost that had arrived.
    pub spurious_losses: u64,
    /// SACKs processed, or RC ACKs.
    pub acknowledgements: u64,
    /// SACKs with a congestion mark.
    pub ecn_marks: u64,
    /// NACKs, or RC NAKs.
    pub negative_acknowledgements: u64,
}

/// The numbers of a run. Two runs of one plan give the same report to the byte.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Kind of both NICs.
    pub nics: &'static str,
    /// Names of sender and receiver.
    pub hosts: [String; 2],
    /// Seed.
    pub seed: u64,
    /// `mrc` or `rc`.
    pub mode: &'static str,
    /// `ipv4`, `ipv6` or `srv6`.
    pub addressing: &'static str,
    /// Path policy; none in RC.
    pub policy: Option<&'static str>,
    /// Paths of a queue pair.
    pub paths: u8,
    /// Queue pairs.
    pub qps: u32,
    /// Path MTU in bytes.
    pub mtu: u32,
    /// Cost of reading payload.
    pub pcie: PcieReads,
    /// Bytes compared. The receiver's NIC wrote all of them.
    pub bytes: u64,
    /// From the first post to the last completion, in nanoseconds.
    pub duration_ns: u64,
    /// Payload over that time in Gb/s.
    pub goodput_gbps: f64,
    /// Payload the planes in use could carry in Gb/s, at [`MRC_OVERHEAD`] or [`RC_OVERHEAD`].
    pub wire_limit_gbps: f64,
    /// Goodput over limit.
    pub ratio: f64,
    /// Completions.
    pub completions: Completions,
    /// The sender's requesters.
    pub requester: RequesterSums,
    /// How far out of order packets arrived at the receiver.
    pub out_of_order: ArrivalOrder,
    /// Data packets of all queue pairs by entropy value index; even indices are plane 0. RC has one path.
    pub path_loads: Vec<u64>,
    /// The fabric's counters.
    pub fabric: Totals,
    /// Time series.
    pub series: Series,
}

/// Observations of two NICs that executed a [`Plan`].
pub struct Observed<'a> {
    /// Kind of both NICs.
    pub nics: &'static str,
    /// Results of the checks.
    pub verified: Verified,
    /// From the first post to the last completion, in picoseconds.
    pub duration: Time,
    /// From post to completion of each work request that succeeded, in picoseconds.
    pub latencies: Vec<Time>,
    /// Counters of the sender's queue pairs, as its software reads them.
    pub counters: &'a [QpCounters],
    /// Data packets by entropy value index.
    pub path_loads: Vec<u64>,
    /// Arrivals and samples.
    pub record: &'a Record,
    /// The fabric.
    pub fabric: &'a Fabric,
}

impl Report {
    /// Makes the report of what was observed.
    pub fn new(plan: &Plan, seen: Observed) -> Self {
        let goodput = gigabits_per_second(seen.verified.bytes, seen.duration);
        let mtu = 1u64 << plan.mtu_log2;
        let (policy, paths, overhead) = match &plan.transport {
            TransportPlan::Mrc(mrc) => (Some(mrc.policy.name()), mrc.paths, MRC_OVERHEAD),
            TransportPlan::Rc => (None, 1, RC_OVERHEAD),
            &TransportPlan::RcPaths { policy, paths } => (Some(policy.name()), paths, RC_OVERHEAD),
        };
        let overhead = overhead + plan.addressing.extra_bytes();
        let limit = line_rate_gbps(plan) * mtu as f64 / (mtu + overhead) as f64;
        Self {
            nics: seen.nics,
            hosts: [plan.host_name(plan.sender), plan.host_name(plan.receiver)],
            seed: plan.seed,
            mode: plan.transport.name(),
            addressing: plan.addressing.name(),
            policy,
            paths,
            qps: plan.qps,
            mtu: mtu as u32,
            pcie: plan.pcie.reads,
            bytes: seen.verified.bytes,
            duration_ns: seen.duration / 1000,
            goodput_gbps: goodput,
            wire_limit_gbps: limit,
            ratio: goodput / limit,
            completions: completions(seen.latencies, seen.verified),
            requester: requester_sums(seen.counters),
            out_of_order: seen.record.arrival_order(RECEIVER),
            path_loads: seen.path_loads,
            fabric: seen.fabric.totals(),
            series: Series::of(seen.record.samples(), seen.fabric),
        }
    }

    /// The report of a world of two hosts whose run has ended.
    pub fn of<N: NicKind>(plan: &Plan, world: &mut World<N>, verified: Verified) -> Self {
        let counters = qp_counters(plan, world);
        let start = world.posted().iter().map(|posted| posted.time).min();
        let sent = world.host(SENDER).completions();
        let end = sent.iter().map(|done| done.time).max();
        let succeeded = sent
            .iter()
            .filter(|done| done.cqe.status == WcStatus::Success && !done.cqe.opcode.is_receive());
        let latency = |done: &Completed| done.time - world.posted()[done.cqe.wr_id as usize].time;
        let seen = Observed {
            nics: N::KIND,
            verified,
            duration: end.unwrap_or(0).saturating_sub(start.unwrap_or(0)),
            latencies: succeeded.map(latency).collect(),
            counters: &counters,
            path_loads: path_loads(plan, world),
            record: world.record(),
            fabric: world.fabric(),
        };
        Self::new(plan, seen)
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

pub(crate) fn gigabits_per_second(bytes: u64, duration: Time) -> f64 {
    if duration == 0 {
        0.0
    } else {
        (bytes * 8) as f64 * 1e3 / duration as f64
    }
}

/// Rate of the sender's ports that the queue pairs can use. An RC queue pair uses one, and they alternate.
fn line_rate_gbps(plan: &Plan) -> f64 {
    let ports = &plan.topology.hosts()[plan.sender.0 as usize].ports;
    let rates = ports.iter().map(|port| {
        let link = &plan.topology.links()[port.link.0 as usize];
        link.params.rate_mbps as f64 / 1e3
    });
    let planes = plan.transport.planes() * u64::from(plan.qps);
    rates.take(planes.min(2) as usize).sum()
}

fn completions(mut latencies: Vec<Time>, verified: Verified) -> Completions {
    latencies.sort_unstable();
    Completions {
        succeeded: verified.succeeded,
        failed: verified.failed,
        p50_ns: percentile_ns(&latencies, 50),
        p99_ns: percentile_ns(&latencies, 99),
        max_ns: percentile_ns(&latencies, 100),
    }
}

/// A percentile of times in order, by the nearest rank: nanoseconds, 0 if there are none.
pub(crate) fn percentile_ns(times: &[Time], percent: usize) -> u64 {
    let rank = (times.len() * percent).div_ceil(100).max(1);
    times.get(rank - 1).map_or(0, |time| time / 1000)
}

fn qp_counters<N: NicKind>(plan: &Plan, world: &mut World<N>) -> Vec<QpCounters> {
    let nic = &mut world.host_mut(SENDER).nic;
    let qps = plan.numbers();
    qps.filter_map(|qp| nic.qp_counters(qp)).collect()
}

pub(crate) fn requester_sums(counters: &[QpCounters]) -> RequesterSums {
    let mut sums = RequesterSums::default();
    for c in counters.iter().map(RequesterCounters::from) {
        sums.packets += c.packets;
        sums.retransmissions += c.retransmissions;
        sums.timeouts += c.timeouts;
        sums.early_losses += c.early_losses;
        sums.spurious_losses += c.spurious_losses;
        sums.acknowledgements += c.sacks + c.acks;
        sums.ecn_marks += c.ecn_marks;
        sums.negative_acknowledgements +=
            c.nacks_trimmed + c.nacks_recoverable + c.nacks_fatal + c.nacks_ignored + c.naks;
    }
    sums
}

fn path_loads<N: NicKind>(plan: &Plan, world: &World<N>) -> Vec<u64> {
    let mut sums: Vec<u64> = Vec::new();
    for qp in plan.numbers() {
        let loads = world.host(SENDER).nic().path_loads(qp);
        sums.resize(sums.len().max(loads.len()), 0);
        for (sum, load) in sums.iter_mut().zip(loads) {
            *sum += load;
        }
    }
    let used = sums.iter().rposition(|&load| load > 0);
    sums.truncate(used.map_or(0, |last| last + 1));
    sums
}

/// Writes a file.
///
/// # Errors
/// [`WorldError::Output`].
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), WorldError> {
    std::fs::write(path, bytes).map_err(|error| WorldError::Output {
        path: path.display().to_string(),
        reason: error.to_string(),
    })
}
