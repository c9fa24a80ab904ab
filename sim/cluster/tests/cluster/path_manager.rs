//! The driver's manager of paths over a cluster: a spine begins to lose packets.

use std::collections::BTreeMap;

use sim_cluster::workload::{permutation, Workload};
use sim_cluster::{Cluster, ClusterError, Record, Settings};
use sim_net::{Fate, Filter, HostId, Parcel, Time, Topology};
use stellar_driver::paths::{PathAccess, PathCounts, PathManager};
use stellar_wire::rows::PathUseRow;

use crate::common::topology;

/// A microsecond in picoseconds.
const US: Time = 1_000_000;
/// Length of a sample: a path of sixteen carries 38 packets in it.
const SAMPLE: Time = 100 * US;
const FLOWS: f64 = 8.0;
/// Paths of a queue pair.
const PATHS: u8 = 16;
/// Longer frames carry data.
const CONTROL: usize = 1_000;

/// Two leaves of 8 hosts under 8 spines. Half of the hosts send, so 7 spines are enough.
fn clos() -> Topology {
    topology(
        "
        [fabric]
        switch_latency_ns = 500
        [defaults]
        rate_gbps = 200
        delay_ns = 500
        queue_bytes = 4_000_000
        ecn = { min_bytes = 80_000, max_bytes = 320_000, max_probability = 0.2 }
        [leaf_spine]
        planes = 1
        leaves = 2
        spines = 8
        hosts_per_leaf = 8
        ",
    )
}

/// What was counted on the paths of each queue pair.
type Totals = BTreeMap<(HostId, u32), Vec<PathCounts>>;

struct Paths<'a> {
    cluster: &'a mut Cluster<Record>,
    totals: &'a mut Totals,
}

impl PathAccess for Paths<'_> {
    type Pair = (HostId, u32);
    type Error = ClusterError;

    fn counts(&mut self, (host, qp): Self::Pair) -> Result<Vec<PathCounts>, ClusterError> {
        let new = self.cluster.take_path_counts(host, qp);
        let totals = self.totals.entry((host, qp)).or_default();
        totals.resize(new.len(), PathCounts::default());
        for (total, new) in totals.iter_mut().zip(new) {
            total.add(new);
        }
        Ok(totals.clone())
    }

    fn deny(&mut self, pair: Self::Pair, path: u8) -> Result<(), ClusterError> {
        self.set_denied(pair, path, true)
    }

    fn allow(&mut self, pair: Self::Pair, path: u8) -> Result<(), ClusterError> {
        self.set_denied(pair, path, false)
    }
}

impl Paths<'_> {
    /// Paths have the numbers that [`PathAccess::counts`] gives them: backups follow the values in use.
    fn set_denied(
        &mut self,
        (host, qp): (HostId, u32),
        path: u8,
        denied: bool,
    ) -> Result<(), ClusterError> {
        let index = self.cluster.paths_of(host, qp)[usize::from(path)].value();
        self.cluster
            .use_path(host, qp, PathUseRow { index, denied })
    }
}

/// A run in samples, with or without a manager.
struct Run {
    cluster: Cluster<Record>,
    manager: Option<PathManager<(HostId, u32)>>,
    totals: Totals,
    now: Time,
}

impl Run {
    fn new(topology: Topology, bytes: u64, managed: bool) -> Self {
        let settings = Settings {
            paths: PATHS,
            early_loss: 128,
            path_loads: true,
            ..Settings::default()
        };
        let flows: Workload = permutation(&topology, Some(4), bytes, 1).unwrap();
        let mut cluster = Cluster::new(topology, flows, settings).unwrap();
        cluster.run_until(US).unwrap();
        let mut manager = PathManager::new();
        for pair in cluster.senders() {
            manager.watch(pair);
        }
        Self {
            cluster,
            manager: managed.then_some(manager),
            totals: Totals::new(),
            now: US,
        }
    }

    /// Goodput of a flow in Gb/s in the next sample.
    fn sample(&mut self) -> f64 {
        let before = self.cluster.bytes_received();
        self.now += SAMPLE;
        self.cluster.run_until(self.now).unwrap();
        if let Some(manager) = &mut self.manager {
            let mut paths = Paths {
                cluster: &mut self.cluster,
                totals: &mut self.totals,
            };
            manager.sample(&mut paths).unwrap();
        }
        let bytes = (self.cluster.bytes_received() - before) as f64;
        bytes * 8.0 / (SAMPLE as f64 / 1000.0) / FLOWS
    }

    fn samples(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.sample()).collect()
    }

    /// Paths that the manager keeps out of use.
    fn denied(&self) -> usize {
        let manager = self.manager.iter();
        let all = manager.flat_map(|manager| {
            let of_pair = move |pair| (0..=u8::MAX).filter(move |&path| manager.denies(pair, path));
            self.cluster.senders().into_iter().flat_map(of_pair)
        });
        all.count()
    }

    /// From now on the links to a spine lose every second data packet, or none. Acknowledgements are in another class, and pass.
    fn lose(&mut self, loses: bool) {
        let fabric = self.cluster.fabric_mut();
        let of_spine = |leaf| fabric.topology().link(&format!("p0.leaf{leaf}-spine3"));
        let channels = (0..2).flat_map(|leaf| of_spine(leaf).expect("a link").channels());
        for channel in channels.collect::<Vec<_>>() {
            let mut data = 0;
            let filter: Filter<Record> = Box::new(move |record, _| {
                let is_data = record.length() > CONTROL;
                data += u64::from(is_data);
                if is_data && data.is_multiple_of(2) {
                    Fate::Drop
                } else {
                    Fate::Pass
                }
            });
            fabric.set_filter(channel, loses.then_some(filter)).unwrap();
        }
    }
}

/// Goodput before packets are lost, from half a millisecond after on, and when they no longer are.
fn goodput_around_losses(managed: bool) -> [f64; 3] {
    let mut run = Run::new(clos(), 130_000_000, managed);
    let mean = |samples: Vec<f64>| samples.iter().sum::<f64>() / samples.len() as f64;
    run.samples(1);
    let before = mean(run.samples(3));
    run.lose(true);
    run.samples(5);
    let during = mean(run.samples(8));
    let left = run.denied();
    run.lose(false);
    // Denied paths rest for 16 samples, and are tried one by one.
    run.samples(24);
    let after = mean(run.samples(4));
    let denied = run.denied();
    println!("{left} paths denied, {denied} later; {before:.0}, {during:.0}, {after:.0} Gb/s");
    assert_eq!(left > 0, managed);
    assert!(4 * denied <= left, "{denied} paths that are well");
    [before, during, after]
}

#[test]
fn a_spine_that_loses_packets_is_left_within_half_a_millisecond_and_used_again_later() {
    let with = goodput_around_losses(true);
    let without = goodput_around_losses(false);
    println!("Gb/s for a flow: {with:.0?} with the manager, {without:.0?} without");
    assert!(
        with[1] > 0.9 * with[0] && with[2] > 0.9 * with[0],
        "{with:?}"
    );
    assert!(without[1] < 0.75 * without[0], "{without:?}");
}
