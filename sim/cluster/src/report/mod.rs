//! Results of a run.

mod collect;

use serde::Serialize;
use sim_net::{Balancer, Drops};

use crate::Settings;

/// Everything that a run gives.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Form of the packets: records or bytes.
    pub carrier: &'static str,
    /// Hosts.
    pub hosts: usize,
    /// Settings of the run.
    pub settings: Settings,
    /// How the switches chose among equal paths.
    pub balancer: Balancer,
    /// Flows together.
    pub flows: FlowTotals,
    /// Packets of all queue pairs.
    pub packets: PacketTotals,
    /// Uplinks together.
    pub uplinks: UplinkTotals,
    /// Data packets by path: index of the entropy value, backups from 128 on. Empty if the settings do not ask for it.
    pub path_packets: Vec<u64>,
    /// Simulated time in microseconds.
    pub simulated_us: f64,
    /// Occurrences that the hosts acted on.
    pub occurrences: u64,
    /// CPU time of the run in seconds, if the caller measured it.
    pub cpu_seconds: Option<f64>,
    /// Data packets per second of CPU time.
    pub packets_per_second: Option<f64>,
    /// Hash over time, host, port and length of every frame that a host sent or received, in hexadecimal.
    pub hash: String,
    /// Each flow.
    pub flow_results: Vec<FlowResult>,
    /// Bytes that each uplink sent, from destination MAC address to iCRC.
    pub uplink_bytes: Vec<u64>,
}

/// Times of many flows, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimeSpread {
    /// Mean.
    pub mean: f64,
    /// Half of the flows take at most this.
    pub p50: f64,
    /// 99 of 100 flows take at most this.
    pub p99: f64,
    /// Longest.
    pub max: f64,
}

/// Flows together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FlowTotals {
    /// Flows of the workload.
    pub total: usize,
    /// Those whose sender has the last acknowledgement.
    pub finished: usize,
    /// Those whose queue pair failed.
    pub failed: usize,
    /// Payload of those that finished, in bytes.
    pub bytes: u64,
    /// Time from start to last acknowledgement (flow completion time), of those that finished.
    pub fct_us: TimeSpread,
}

/// Packets of all queue pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PacketTotals {
    /// Data packets sent, with those sent again.
    pub data: u64,
    /// Those sent again.
    pub retransmitted: u64,
    /// Timers that expired.
    pub timeouts: u64,
    /// SACKs, or RC's ACKs, that arrived.
    pub acknowledgements: u64,
    /// Probes sent.
    pub probes: u64,
    /// Frames that got a congestion mark, at any port.
    pub marked: u64,
    /// Frames trimmed.
    pub trimmed: u64,
    /// Frames dropped in the fabric, by reason.
    pub dropped: Drops,
    /// Frames that arrived with a changed byte and were dropped by the card, if packets are records.
    pub damaged: u64,
}

/// Depth of queues in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Depth {
    /// Mean over all samples.
    pub mean: f64,
    /// Greatest sample.
    pub max: u64,
}

/// How evenly something is spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation divided by the mean.
    pub cv: f64,
    /// Difference of greatest and least, divided by the mean.
    pub range: f64,
}

/// Channels from switches with hosts to other switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct UplinkTotals {
    /// How many.
    pub count: usize,
    /// Bytes sent.
    pub bytes: Spread,
    /// Bytes that wait, in samples, without the frame on the line; `None` without samples.
    pub waiting: Option<Depth>,
    /// The same with the frame on the line, as htsim counts.
    pub with_line: Option<Depth>,
    /// Greatest number of bytes that waited at any time.
    pub max_waiting: u64,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowResult {
    /// Its number.
    pub id: u64,
    /// The host that sends.
    pub src: u32,
    /// The host that receives.
    pub dst: u32,
    /// Payload.
    pub bytes: u64,
    /// When it started; `None` if it did not.
    pub start_us: Option<f64>,
    /// Time from its start to its last acknowledgement.
    pub fct_us: Option<f64>,
    /// Time from its start to the arrival of its last byte.
    pub received_us: Option<f64>,
    /// Why it failed, if it did.
    pub failed: Option<String>,
}

/// One channel from a switch with hosts to another switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UplinkResult {
    /// Name of the link.
    pub link: String,
    /// The switch with hosts, which sends.
    pub from: String,
    /// The switch that receives.
    pub to: String,
    /// Rate in Gb/s.
    pub rate_gbps: f64,
    /// Bytes sent, from destination MAC address to iCRC.
    pub bytes: u64,
    /// Frames sent.
    pub frames: u64,
    /// Frames that got a congestion mark here.
    pub marked: u64,
    /// Frames dropped here.
    pub dropped: u64,
    /// Greatest number of bytes of data that waited.
    pub max_waiting: u64,
    /// Mean over time of the bytes of data that waited.
    pub mean_waiting: f64,
}

/// The queue of an uplink at a time of the [`Sampling`](crate::Sampling).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSample {
    /// When, in microseconds.
    pub time_us: f64,
    /// Index of the uplink in [`Cluster::uplinks`](crate::Cluster::uplinks).
    pub uplink: usize,
    /// Bytes that wait.
    pub waiting: u64,
    /// The same with the frame on the line, as htsim counts.
    pub with_line: u64,
    /// Bytes sent until then.
    pub sent_bytes: u64,
}

impl Report {
    /// Name of the path policy, as on the command line.
    pub const fn policy(&self) -> &'static str {
        self.settings.policy.name()
    }
}
