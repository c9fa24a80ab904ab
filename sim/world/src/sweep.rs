//! Goodput and completion time against the loss of one link, for few and many paths and for RC.

use serde::Serialize;
use sim_net::{Node, Time};
use stellar_transport::spray::Policy;

use crate::config::{lossy_topology, MrcPlan, TransportPlan};
use crate::pair::SENDER;
use crate::transfer::{run, Run, Transfer};
use crate::{NicKind, Plan, ReferenceNic, WorldError};

/// Loss probabilities of the swept link.
pub const LOSSES: [f64; 4] = [0.0, 0.001, 0.01, 0.03];
/// Transports compared: paths of MRC, `None` for RC.
pub const TRANSPORTS: [Option<u8>; 3] = [Some(4), Some(128), None];

/// The run that measures goodput. One queue pair posts all of these messages at once.
const SATURATED: Transfer = Transfer {
    bytes: 1 << 20,
    messages: 32,
    immediates: false,
    interval: 0,
    limit: LIMIT,
};
/// Length and number of the messages of the latency run.
const PACED_BYTES: u32 = 64 << 10;
const PACED_MESSAGES: u32 = 500;
/// Share of the wire limit that the latency run offers.
const PACED_LOAD: f64 = 0.25;
/// Time limit of a run: 1 s.
const LIMIT: Time = 1_000_000_000_000;

/// The result of one transport at one loss probability.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `mrc` or `rc`.
    pub mode: &'static str,
    /// Paths of the queue pair.
    pub paths: u8,
    /// The lossy link: the link between switches that is busiest without loss.
    pub link: String,
    /// Share of the data packets that take this link without loss.
    pub share: f64,
    /// Probability that the link loses a frame, in each direction.
    pub loss: f64,
    /// Goodput of the saturated run in Gb/s.
    pub goodput_gbps: f64,
    /// Goodput divided by the capacity of the planes in use.
    pub ratio: f64,
    /// Data packets of that run.
    pub packets: u64,
    /// Retransmissions among them.
    pub retransmissions: u64,
    /// Timers that expired in that run.
    pub timeouts: u64,
    /// Median completion time of 64 KiB messages at a quarter of the load, in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile of the completion time, in nanoseconds.
    pub p99_ns: u64,
}

/// Sweeps [`LOSSES`] for every one of [`TRANSPORTS`] over the topology in `text`.
///
/// # Errors
/// The errors of [`run`].
pub fn sweep(file: &str, text: &str, seed: u64) -> Result<Vec<Row>, WorldError> {
    let mut rows = Vec::new();
    for paths in TRANSPORTS {
        let clean = run::<ReferenceNic>(&plan(file, text, None, paths, seed)?, SATURATED)?;
        let (link, share) = busiest(&clean);
        for loss in LOSSES {
            let plan = plan(file, text, Some((&link, loss)), paths, seed)?;
            let saturated = run::<ReferenceNic>(&plan, SATURATED)?;
            let paced = run::<ReferenceNic>(&plan, paced(saturated.report.wire_limit_gbps))?;
            rows.push(row((&link, share), loss, &saturated, &paced));
        }
    }
    Ok(rows)
}

/// Runs one queue pair on the topology in `text`, over this number of paths with MRC, or with RC. One link is lossy.
///
/// # Errors
/// The errors of [`lossy_topology`] and [`Plan::new`].
pub fn plan(
    file: &str,
    text: &str,
    loss: Option<(&str, f64)>,
    paths: Option<u8>,
    seed: u64,
) -> Result<Plan, WorldError> {
    let mut plan = Plan::new(lossy_topology(file, text, loss)?, seed)?;
    plan.transport = match paths {
        Some(paths) => TransportPlan::Mrc(MrcPlan {
            paths,
            policy: Policy::Obs,
            ..MrcPlan::default()
        }),
        None => TransportPlan::Rc,
    };
    // Messages queue up if loss keeps the line from being used.
    plan.sq_log2 = 12;
    Ok(plan)
}

fn paced(limit_gbps: f64) -> Transfer {
    let bits = f64::from(PACED_BYTES) * 8.0;
    Transfer {
        bytes: PACED_BYTES,
        messages: PACED_MESSAGES,
        immediates: false,
        interval: (bits * 1e3 / (limit_gbps * PACED_LOAD)) as Time,
        limit: LIMIT,
    }
}

/// Returns the switch link that carried most in one direction, and its share of the data packets. Without a switch link, returns the sender's own
/// link.
pub fn busiest<N: NicKind>(run: &Run<N>) -> (String, f64) {
    let fabric = run.world.fabric();
    let topology = fabric.topology();
    let is_switch = |node| matches!(node, Node::Switch(_));
    let frames = |channel| fabric.stats(channel).map_or(0, |stats| stats.sent_frames);
    let bytes = |channel| fabric.stats(channel).map_or(0, |stats| stats.sent_bytes);
    let between = topology.channels().filter(|&channel| {
        let (from, to) = topology.ends(channel);
        is_switch(from) && is_switch(to)
    });
    let own = topology.uplink(run.world.host(SENDER).id, 0);
    let best = between.max_by_key(|&channel| (bytes(channel), std::cmp::Reverse(channel)));
    let channel = best.or(own).expect("the sender has a port");
    let name = topology.links()[channel.link().0 as usize].name.clone();
    let packets = run.report.requester.packets;
    (name, frames(channel) as f64 / packets as f64)
}

fn row((link, share): (&str, f64), loss: f64, saturated: &Run, paced: &Run) -> Row {
    let (report, times) = (&saturated.report, &paced.report.completions);
    Row {
        mode: report.mode,
        paths: report.paths,
        link: link.into(),
        share,
        loss,
        goodput_gbps: report.goodput_gbps,
        ratio: report.ratio,
        packets: report.requester.packets,
        retransmissions: report.requester.retransmissions,
        timeouts: report.requester.timeouts,
        p50_ns: times.p50_ns,
        p99_ns: times.p99_ns,
    }
}
