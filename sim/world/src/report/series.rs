//! Time series of a run.

use serde::Serialize;
use sim_net::{ChannelId, Fabric, Node, Topology};

use crate::pair::RECEIVER;
use crate::Sample;

/// Maximum number of queues in the report. It lists those that were deepest.
const QUEUES: usize = 8;

/// One output queue of a switch over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueSeries {
    /// Sender and receiver of the channel.
    pub channel: String,
    /// Greatest depth of the whole run, also between samples, in bytes.
    pub max_bytes: u64,
    /// Depth at each sample in bytes.
    pub bytes: Vec<u32>,
}

/// Series with one value per sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// Times of the samples in nanoseconds.
    pub time_ns: Vec<u64>,
    /// Goodput between the sample before and this one in Gb/s.
    pub goodput_gbps: Vec<f64>,
    /// Window of the first queue pair in bytes.
    pub cwnd: Vec<u32>,
    /// The queue pair's bytes in flight.
    pub in_flight: Vec<u32>,
    /// The queue pair's latest round trip in nanoseconds; 0 before the first.
    pub rtt_ns: Vec<u64>,
    /// The deepest queues, deepest first. Hosts' ports are left out: they hold the frames that their NIC has sent early.
    pub queues: Vec<QueueSeries>,
}

impl Series {
    pub(crate) fn of(samples: &[Sample], fabric: &Fabric) -> Self {
        let (mut time_before, mut placed_before) = (0, 0);
        let goodput = samples.iter().map(|sample| {
            let placed = sample.placed.get(RECEIVER).copied().unwrap_or(0);
            let (bytes, time) = (placed - placed_before, sample.time - time_before);
            (time_before, placed_before) = (sample.time, placed);
            super::gigabits_per_second(bytes, time)
        });
        Self {
            time_ns: samples.iter().map(|sample| sample.time / 1000).collect(),
            goodput_gbps: goodput.collect(),
            cwnd: samples.iter().map(|sample| sample.cwnd).collect(),
            in_flight: samples.iter().map(|sample| sample.in_flight).collect(),
            rtt_ns: samples.iter().map(|sample| sample.rtt / 1000).collect(),
            queues: deepest(samples, fabric),
        }
    }
}

fn deepest(samples: &[Sample], fabric: &Fabric) -> Vec<QueueSeries> {
    let topology = fabric.topology();
    let depth = |channel| {
        let stats = fabric.stats(channel).expect("channels are the topology's");
        stats.data.max_bytes
    };
    let mut queues: Vec<(u64, usize, ChannelId)> = topology
        .channels()
        .enumerate()
        .filter(|&(_, channel)| matches!(topology.ends(channel).0, Node::Switch(_)))
        .map(|(index, channel)| (depth(channel), index, channel))
        .filter(|&(max, ..)| max > 0)
        .collect();
    queues.sort_by_key(|&(max, index, _)| (std::cmp::Reverse(max), index));
    queues.truncate(QUEUES);
    queues
        .into_iter()
        .map(|(max_bytes, index, channel)| QueueSeries {
            channel: channel_name(topology, channel),
            max_bytes,
            bytes: samples.iter().map(|sample| sample.queues[index]).collect(),
        })
        .collect()
}

fn channel_name(topology: &Topology, channel: ChannelId) -> String {
    let name = |node| match node {
        Node::Host { host, .. } => topology.hosts()[host.0 as usize].name.as_str(),
        Node::Switch(switch) => topology.switches()[switch.0 as usize].name.as_str(),
    };
    let (from, to) = topology.ends(channel);
    format!("{} -> {}", name(from), name(to))
}
