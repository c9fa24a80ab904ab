//! Records of a world while it runs: time series, and how far out of order packets arrived.

use std::collections::BTreeMap;

use serde::Serialize;
use sim_net::{ChannelId, Fabric, Time, Topology};
use stellar_wire::Bth;

use crate::samples::Samples;
use crate::CongestionState;

/// Bins of the arrival distance: 0, 1, 2-3, 4-7, ... up to half the PSN space.
const BINS: usize = 24;

/// A sample of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The sample's time, in picoseconds.
    pub time: Time,
    /// Bytes written to each host's memory so far.
    pub placed: Vec<u64>,
    /// Window of the observed queue pair in bytes.
    pub cwnd: u32,
    /// Bytes in flight.
    pub in_flight: u32,
    /// Latest round trip in picoseconds, 0 before the first.
    pub rtt: Time,
    /// Depth of every channel's data queue in bytes.
    pub queues: Vec<u32>,
}

/// How far data packets of a host arrived out of order. The distance is that of a PSN below the highest one before it on its queue pair, 0 if in
/// order. A retransmission counts when it arrives, so a loss shows as a late packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ArrivalOrder {
    /// Number of data packets.
    pub packets: u64,
    /// Greatest distance.
    pub max: u32,
    /// Packets by distance: 0, 1, 2 to 3, 4 to 7, and so on in powers of two, up to the last that is not empty.
    pub histogram: Vec<u64>,
}

/// Series and order so far.
#[derive(Clone, Debug)]
pub struct Record {
    channels: Vec<ChannelId>,
    samples: Samples<Sample>,
    /// Arrivals by receiving host.
    arrivals: BTreeMap<usize, ArrivalOrder>,
    /// Highest PSN by receiving host and queue pair.
    highest: BTreeMap<(usize, u32), u32>,
}

impl Record {
    /// An empty record; its first sample is at time 0.
    pub fn new(topology: &Topology) -> Self {
        Self {
            channels: topology.channels().collect(),
            samples: Samples::new(),
            arrivals: BTreeMap::new(),
            highest: BTreeMap::new(),
        }
    }

    /// Takes every sample before `time`, with the state since the last event: for each host the bytes placed in its memory, and the congestion state
    /// of the observed queue pair.
    pub fn sample_until(
        &mut self,
        time: Time,
        fabric: &Fabric,
        state: impl Fn() -> (Vec<u64>, CongestionState),
    ) {
        while self.samples.next_time() < time {
            let (placed, congestion) = state();
            let depth = |&channel: &ChannelId| {
                let stats = fabric.stats(channel).expect("channels are the topology's");
                stats.data.bytes as u32
            };
            self.samples.push(Sample {
                time: self.samples.next_time(),
                placed,
                cwnd: congestion.cwnd,
                in_flight: congestion.in_flight,
                rtt: congestion.rtt.unwrap_or(0),
                queues: self.channels.iter().map(depth).collect(),
            });
        }
    }

    /// Records a packet that arrived at a host.
    pub fn arrived(&mut self, host: usize, bth: &Bth) {
        if !bth.opcode.is_write() {
            return;
        }
        let order = self.arrivals.entry(host).or_default();
        let highest = self.highest.entry((host, bth.dest_qp)).or_insert(bth.psn);
        let ahead = bth.psn.wrapping_sub(*highest) & 0xff_ffff;
        let distance = if ahead < 1 << 23 {
            *highest = bth.psn;
            0
        } else {
            (1 << 24) - ahead
        };
        order.packets += 1;
        order.max = order.max.max(distance);
        let bin = bin_of(distance);
        if order.histogram.len() <= bin {
            order.histogram.resize(bin + 1, 0);
        }
        order.histogram[bin] += 1;
    }

    /// Samples, in order of time.
    pub fn samples(&self) -> &[Sample] {
        self.samples.kept()
    }

    /// Order of arrival at a host.
    pub fn arrival_order(&self, host: usize) -> ArrivalOrder {
        self.arrivals.get(&host).cloned().unwrap_or_default()
    }
}

/// Bin of a distance: 0, 1, 2 to 3, 4 to 7, ...
fn bin_of(distance: u32) -> usize {
    ((u32::BITS - distance.leading_zeros()) as usize).min(BINS)
}

/// Name of a bin.
pub(crate) fn bin_name(bin: usize) -> String {
    match bin {
        0 => "0".into(),
        1 => "1".into(),
        _ => format!("{}-{}", 1u32 << (bin - 1), (1u64 << bin) - 1),
    }
}
