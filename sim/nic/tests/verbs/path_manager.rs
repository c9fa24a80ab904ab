//! The manager of paths over a card: a link behind some of a queue pair's paths loses half of its packets, or is slow and marks them.

use std::time::Duration;

use sim_net::Topology;
use sim_nic::{chosen_shape, host_ports, FabricPair};
use sim_world::{HostPorts, Plan};
use stellar_driver::paths::{CardPaths, PathCounts, PathManager, PathTraffic};
use stellar_driver::*;

use crate::verbs::hosts::*;

/// Paths of the queue pair, and the message of a sample: 512 packets.
const PATHS: u8 = 8;
const BYTES: u32 = 128 << 10;
const MTU_LOG2: u8 = 8;
/// Samples in which the manager finds the paths over that link, and the backups that take their place, and one more.
const SAMPLES: usize = 5;

/// Two leaves with a host each under two spines; the link to one of them has these `settings`. Switches know the addresses of the topology.
pub fn two_spines(settings: &str) -> (FabricPair, Plan, [Device; 2]) {
    let HostPorts { count, rate_gbps } = host_ports(chosen_shape());
    let text = format!(
        "[defaults]\nrate_gbps = {rate_gbps}\ndelay_ns = 50\nqueue_bytes = 1_000_000\n\
         [leaf_spine]\nplanes = {count}\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n\
         [[overrides]]\nlink = \"p0.leaf0-spine1\"\n{settings}\n"
    );
    let topology = Topology::from_toml("two spines", &text).unwrap();
    let plan = Plan::new(topology, 1).unwrap();
    let pair = FabricPair::new(&plan).unwrap();
    let devices = [0, 1].map(|host: usize| {
        let place = [plan.sender, plan.receiver][host].0;
        let ports = &plan.topology.hosts()[place as usize].ports;
        let addresses = [&ports[0], &ports[ports.len() - 1]].map(|port| PortAddress {
            mac: port.mac.0,
            ip: port.ipv4.into(),
        });
        let probe = Probe::new(pair.function(host)).unwrap();
        let config = DeviceConfig::new(addresses, host as u64);
        probe.bring_up(config).unwrap()
    });
    (pair, plan, devices)
}

/// Connects with these attributes of the path at either end.
pub fn connect_by_paths(qps: [&QueuePair; 2], paths: [PathAttributes; 2]) {
    let told = qps.map(|qp| qp.connection(5));
    let peers = [told[1], told[0]];
    for ((qp, peer), path) in qps.into_iter().zip(peers).zip(paths) {
        qp.modify(Modify::Init(InitAttributes::default())).unwrap();
        let mut ready = RtrAttributes::new(peer);
        ready.path = path;
        qp.modify(Modify::Rtr(ready)).unwrap();
    }
    for qp in qps {
        qp.modify(Modify::Rts(RtsAttributes::new(5))).unwrap();
    }
}

/// What a queue pair went through while the manager watched it.
struct Watched {
    /// Time of each message, and the events that harm the queue pair until it was done.
    messages: Vec<(Duration, u64)>,
    counts: Vec<PathTraffic>,
    counters: QpCounters,
    /// Indices of the paths that were denied, ascending.
    denied: Vec<u8>,
}

impl Watched {
    fn sum(&self, count: fn(&PathCounts) -> u64) -> u64 {
        self.counts.iter().map(|path| count(&path.counts)).sum()
    }

    /// The paths that suffered are left, and nothing is suffered any more.
    fn check(&self) {
        let counters = &self.counters;
        let sent = self.sum(|path| path.sent);
        assert_eq!(sent, counters.get(QpCounter::PacketsSent));
        let lost = counters.get(QpCounter::Timeouts) + counters.get(QpCounter::EarlyLosses);
        assert_eq!(self.sum(|path| path.lost), lost);
        let marked = counters.get(QpCounter::EcnReported);
        assert_eq!(self.sum(|path| path.marked), marked);
        let (first, last) = (self.messages[0], self.messages[SAMPLES - 1]);
        assert!(first.1 > 0 && last.1 == 0, "it suffers at first only");
        assert!(last.0 < first.0, "a message takes less time than at first");
        assert!(!self.denied.is_empty());
    }
}

/// Sends a message in each sample, and lets the manager look at the counts. `harm` counts what harms the queue pair.
fn watch(link: &str, harm: QpCounter) -> Watched {
    let (pair, _, devices) = two_spines(link);
    let [a, b] = open(&devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    // Oblivious spraying learns nothing.
    let path = PathAttributes {
        paths: PATHS,
        mtu_log2: MTU_LOG2,
        policy: Policy::Obs,
        ..PathAttributes::default()
    };
    connect_by_paths([&qa, &qb], [path; 2]);
    let (source, target) = (
        a.region(BYTES as usize, false),
        b.region(BYTES as usize, true),
    );
    let sent = pattern(BYTES as usize, 0x31);
    source.memory().unwrap().write(0, &sent).unwrap();
    let to = target.remote();

    let mut manager = PathManager::new();
    manager.watch(qa.number());
    let zero = qa.path_counts().unwrap();
    assert!(zero.iter().all(|path| path.counts == PathCounts::default()));
    let indices: Vec<u8> = zero.iter().map(|path| path.index).collect();
    assert_eq!(indices, (0..PATHS).chain(128..136).collect::<Vec<_>>());

    let harmed = || qa.counters().unwrap().get(harm);
    let mut denied = Vec::new();
    let mut messages = Vec::new();
    for _ in 0..SAMPLES {
        let before = harmed();
        let slice = source.slice(0, BYTES).unwrap();
        let began = pair.function(0).now();
        qa.post_send(&WorkRequest::write(1, slice, to.address, to.rkey))
            .unwrap();
        assert_eq!(ends(&a.completions(1)), [(1, WcStatus::Success)]);
        let took = pair.function(0).now() - began;
        messages.push((took, harmed() - before));
        let changes = manager.sample(&mut CardPaths::new([&qa])).unwrap();
        let new = changes.iter().filter(|change| change.denied);
        denied.extend(new.map(|change| indices[usize::from(change.path)]));
    }
    denied.sort_unstable();
    assert_eq!(qa.denied_paths(), denied);
    let counts = qa.path_counts().unwrap();
    println!("{messages:?}, denied {denied:?}, {counts:?}");
    Watched {
        messages,
        counts,
        counters: qa.counters().unwrap(),
        denied,
    }
}

#[test]
fn a_path_that_loses_packets_is_found_by_the_cards_counts_and_left() {
    watch("set.loss = 0.5", QpCounter::Retransmissions).check();
}

#[test]
fn a_path_that_is_slow_is_found_by_its_marks_and_left() {
    let slow = "set.rate_gbps = 20\n\
                set.ecn = { min_bytes = 1_000, max_bytes = 8_000, max_probability = 1.0 }";
    let watched = watch(slow, QpCounter::EcnReported);
    watched.check();
    let marked = watched.counts.iter().filter(|path| path.counts.marked > 0);
    let marked: Vec<u8> = marked.map(|path| path.index).collect();
    assert_eq!(marked, watched.denied, "no other path has marks");
    assert!(marked.iter().all(|index| index % 2 == 0), "of port 0");
}
