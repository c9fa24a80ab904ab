//! From counters to results.

use std::collections::HashMap;

use sim_net::{ChannelId, ChannelStats, Node, Sample, Time};

use super::{
    Depth, FlowResult, FlowTotals, PacketTotals, QueueSample, Report, Spread, TimeSpread,
    UplinkResult, UplinkTotals,
};
use crate::topology::uplinks;
use crate::{Carrier, Cluster};

/// Picoseconds of a microsecond.
const US: f64 = 1e6;

impl<C: Carrier> Cluster<C> {
    /// The results so far. `cpu_seconds` is the CPU time that the run took, if it was measured.
    pub fn report(&self, cpu_seconds: Option<f64>) -> Report {
        let packets = self.packets();
        Report {
            carrier: C::NAME,
            hosts: self.hosts.len(),
            settings: self.settings.clone(),
            balancer: *self.fabric.topology().balancer(),
            flows: self.flow_totals(),
            packets,
            uplinks: self.uplink_totals(),
            path_packets: self.path_packets(),
            simulated_us: self.fabric.now() as f64 / US,
            occurrences: self.occurrences,
            cpu_seconds,
            packets_per_second: cpu_seconds.map(|seconds| packets.data as f64 / seconds),
            hash: format!("{:016x}", self.hash.value()),
            flow_results: self.flow_results(),
            uplink_bytes: self.uplink_bytes(),
        }
    }

    fn flow_results(&self) -> Vec<FlowResult> {
        let flows = self.flows.iter().zip(&self.states);
        flows
            .map(|(flow, state)| {
                let since = |time: Option<Time>| Some((time? - state.started?) as f64 / US);
                FlowResult {
                    id: flow.id,
                    src: flow.src.0,
                    dst: flow.dst.0,
                    bytes: flow.bytes,
                    start_us: state.started.map(|time| time as f64 / US),
                    fct_us: since(state.sent),
                    received_us: since(state.received),
                    failed: state.failed.map(|status| format!("{status:?}")),
                }
            })
            .collect()
    }

    fn flow_totals(&self) -> FlowTotals {
        let flows = self.flows.iter().zip(&self.states);
        let finished = flows.filter_map(|(flow, state)| {
            Some((flow.bytes, (state.sent? - state.started?) as f64 / US))
        });
        let (bytes, times): (Vec<u64>, Vec<f64>) = finished.unzip();
        FlowTotals {
            total: self.flows.len(),
            finished: times.len(),
            failed: self
                .states
                .iter()
                .filter(|state| state.failed.is_some())
                .count(),
            bytes: bytes.iter().sum(),
            fct_us: TimeSpread::of(times),
        }
    }

    fn packets(&self) -> PacketTotals {
        let mut totals = PacketTotals {
            damaged: self.damaged,
            dropped: self.fabric.totals().dropped,
            ..PacketTotals::default()
        };
        for host in &self.hosts {
            let counters = host.queue_pairs();
            for counters in counters.filter_map(|qp| host.endpoint.qp_counters(qp)) {
                totals.data += counters.packets;
                totals.retransmitted += counters.retransmissions;
                totals.timeouts += counters.timeouts;
                totals.acknowledgements += counters.sacks + counters.acks;
                totals.probes += counters.probes;
            }
        }
        for channel in self.fabric.topology().channels() {
            if let Ok(stats) = self.fabric.stats(channel) {
                totals.marked += stats.ecn_marks;
                totals.trimmed += stats.trims;
            }
        }
        totals
    }

    fn path_packets(&self) -> Vec<u64> {
        let mut sums = Vec::new();
        for host in &self.hosts {
            let loads = host.queue_pairs();
            for loads in loads.filter_map(|qp| host.endpoint.path_loads(qp)) {
                sums.resize(sums.len().max(loads.len()), 0);
                for (sum, load) in sums.iter_mut().zip(loads) {
                    *sum += load;
                }
            }
        }
        sums
    }

    fn uplinks_with_stats(&self) -> impl Iterator<Item = (ChannelId, ChannelStats)> + '_ {
        let uplinks = uplinks(self.fabric.topology()).into_iter();
        uplinks.filter_map(|channel| Some((channel, self.fabric.stats(channel).ok()?)))
    }

    fn uplink_bytes(&self) -> Vec<u64> {
        let uplinks = self.uplinks_with_stats();
        uplinks.map(|(_, stats)| stats.sent_bytes).collect()
    }

    /// The uplinks, in the order of [`Report::uplink_bytes`].
    pub fn uplinks(&self) -> Vec<UplinkResult> {
        let topology = self.fabric.topology();
        let name = |node| match node {
            Node::Host { host, .. } => topology.hosts()[host.0 as usize].name.clone(),
            Node::Switch(switch) => topology.switches()[switch.0 as usize].name.clone(),
        };
        self.uplinks_with_stats()
            .map(|(channel, stats)| {
                let link = &topology.links()[channel.link().0 as usize];
                let (from, to) = topology.ends(channel);
                UplinkResult {
                    link: link.name.clone(),
                    from: name(from),
                    to: name(to),
                    rate_gbps: link.params.rate_mbps as f64 / 1e3,
                    bytes: stats.sent_bytes,
                    frames: stats.sent_frames,
                    marked: stats.ecn_marks,
                    dropped: stats.drops.total(),
                    max_waiting: stats.data.max_bytes,
                    mean_waiting: stats.data.mean_bytes(self.fabric.now()),
                }
            })
            .collect()
    }

    /// The samples of the uplinks' queues that the settings ask for, in the order of time.
    pub fn queue_samples(&self) -> Vec<QueueSample> {
        let uplinks = uplinks(self.fabric.topology());
        let indices: HashMap<_, _> = (0..)
            .zip(uplinks)
            .map(|(index, channel)| (channel, index))
            .collect();
        let samples = self.samples();
        samples
            .filter_map(|sample| {
                Some(QueueSample {
                    time_us: sample.time as f64 / US,
                    uplink: *indices.get(&sample.channel)?,
                    waiting: waiting(sample),
                    with_line: waiting(sample) + sample.line_bytes,
                    sent_bytes: sample.sent_bytes,
                })
            })
            .collect()
    }

    /// The samples within the window of the settings.
    fn samples(&self) -> impl Iterator<Item = &Sample> {
        let sampling = self.settings.sampling;
        self.fabric.samples().iter().filter(move |sample| {
            sampling.is_some_and(|sampling| (sampling.from..=sampling.to).contains(&sample.time))
        })
    }

    fn uplink_totals(&self) -> UplinkTotals {
        let uplinks = self.uplinks_with_stats();
        let max_waiting = uplinks.map(|(_, stats)| stats.data.max_bytes).max();
        let bytes = self.uplink_bytes();
        let samples = self.samples();
        let (waiting, with_line): (Vec<u64>, Vec<u64>) = samples
            .map(|sample| (waiting(sample), waiting(sample) + sample.line_bytes))
            .unzip();
        UplinkTotals {
            count: bytes.len(),
            bytes: Spread::of(&bytes),
            waiting: Depth::of(&waiting),
            with_line: Depth::of(&with_line),
            max_waiting: max_waiting.unwrap_or(0),
        }
    }
}

/// Bytes that wait at a channel, without the frame on the line.
const fn waiting(sample: &Sample) -> u64 {
    sample.data_bytes + sample.control_bytes
}

impl Depth {
    fn of(samples: &[u64]) -> Option<Self> {
        let max = *samples.iter().max()?;
        let mean = samples.iter().sum::<u64>() as f64 / samples.len() as f64;
        Some(Self { mean, max })
    }
}

impl Spread {
    /// The spread of `values`; zeros if there is nothing.
    fn of(values: &[u64]) -> Self {
        let (Some(&least), Some(&greatest)) = (values.iter().min(), values.iter().max()) else {
            return Self::default();
        };
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        if mean == 0.0 {
            return Self::default();
        }
        let squares = values.iter().map(|&value| (value as f64 - mean).powi(2));
        let variance = squares.sum::<f64>() / values.len() as f64;
        Self {
            mean,
            cv: variance.sqrt() / mean,
            range: (greatest - least) as f64 / mean,
        }
    }
}

impl TimeSpread {
    /// The spread of `times`; zeros if there is none.
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_unstable_by(f64::total_cmp);
        let at_most = |share: f64| {
            let rank = (times.len() as f64 * share).ceil() as usize;
            times.get(rank.max(1) - 1).copied().unwrap_or(0.0)
        };
        Self {
            mean: times.iter().sum::<f64>() / times.len().max(1) as f64,
            p50: at_most(0.5),
            p99: at_most(0.99),
            max: at_most(1.0),
        }
    }
}
