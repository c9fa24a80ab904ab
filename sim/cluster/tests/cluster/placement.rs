//! Source routes in clusters: flows are placed on spines, and leave one when throughput falls.

use std::sync::Arc;

use sim_cluster::files::read_conweave_flows;
use sim_cluster::workload::permutation;
use sim_cluster::{Addressing, Baseline, BaselineParams, Cluster, ClusterPolicy, Record, Settings};
use stellar_transport::rx::Psn;
use stellar_transport::spray::{
    EntropyProfile, EvIndex, Feedback, GeneratedEntropy, HeaderFields, PathAck, PlaneMask, Policy,
    SkipScope, Spray, SprayConfig,
};
use stellar_transport::time::Ticks;

use crate::common::{clos, run_both};

/// Two paths for each of four spines: a card has two ports.
const PATHS: u8 = 8;
const PERIOD: u32 = 1_000;

fn settings(policy: impl Into<ClusterPolicy>, seed: u64) -> Settings {
    Settings {
        policy: policy.into(),
        paths: PATHS,
        addressing: Addressing::Srv6,
        seed,
        ..Settings::default()
    }
}

/// Uplinks that carry more than half of a flow, in a permutation of eight flows over four uplinks of each of two leaves.
fn uplinks_in_use(settings: &Settings) -> usize {
    let (topology, bytes) = (clos(1, 4, ""), 400_000);
    let flows = permutation(&topology, None, bytes, settings.seed).unwrap();
    let report = run_both(&topology, &flows, settings);
    assert_eq!(report.flows.finished, 8);
    let loaded = report.uplink_bytes.iter();
    loaded.filter(|&&carried| carried > bytes / 2).count()
}

#[test]
fn placed_flows_of_a_permutation_do_not_collide_and_drawn_ones_do() {
    let placed = ClusterPolicy::Baseline(Baseline::Placed);
    let seeds = 1..=4;
    assert!(seeds
        .clone()
        .all(|seed| uplinks_in_use(&settings(placed, seed)) == 8));
    assert!(
        seeds
            .map(|seed| uplinks_in_use(&settings(Policy::SinglePath, seed)))
            .sum::<usize>()
            < 4 * 8
    );
}

#[test]
fn source_routes_need_spines_to_count() {
    let topology = sim_cluster::leaf_spine(2, 2, 3).unwrap();
    let flows = permutation(&topology, None, 1_000, 1).unwrap();
    let settings = settings(Policy::Obs, 1);
    let mut cluster = Cluster::<Record>::new(topology, flows, settings).unwrap();
    let error = cluster.run(|_| {}).expect_err("three spines").to_string();
    assert!(error.contains("power of two"), "{error}");
}

#[test]
fn a_flow_that_leaves_its_path_does_so_in_both_forms() {
    let topology = clos(1, 4, "");
    // Source, destination, priority group, bytes, start in seconds. Small flows take the other spines, so that the last one comes to the uplink of the first.
    let text = "5
        0 4 3 4000000 0
        2 4 3 64 0.000000001
        2 5 3 64 0.000000002
        2 6 3 64 0.000000003
        1 5 3 4000000 0.000060";
    let flows = read_conweave_flows("test", text, 8).unwrap();
    let placed = ClusterPolicy::Baseline(Baseline::Placed);
    let stays = settings(placed, 2);
    let leaves = Settings {
        telemetry_us: 20,
        ..stays.clone()
    };
    let [stays, leaves] = [stays, leaves].map(|settings| run_both(&topology, &flows, &settings));
    assert_eq!((stays.flows.finished, leaves.flows.finished), (5, 5));
    assert!(leaves.flows.fct_us.max < 0.8 * stays.flows.fct_us.max);
}

/// A queue pair on the second of four paths, and its acknowledgements.
struct Watched {
    spray: Spray,
    now: u32,
}

impl Watched {
    fn new(telemetry: Option<Ticks>) -> Self {
        let values = GeneratedEntropy {
            base: 0xc000,
            stride_log2: 0,
            active: PATHS,
            backups: 0,
        };
        let config = SprayConfig {
            policy: Policy::SinglePath,
            paths: PATHS,
            planes_up: PlaneMask::BOTH,
            seed: 1,
            profile: Arc::new(EntropyProfile::generated(values, HeaderFields::SourcePort).unwrap()),
            rotation: 0,
            skip: SkipScope::default(),
            probe_interval: Ticks(1_000),
            base_rtt: Ticks(1_000),
            bend_after: 1,
        };
        let params = BaselineParams {
            base_rtt: Ticks(1_000),
            gbps: 200,
            mtu: 4096,
            paths: PATHS,
            seed: 1,
            place: 5,
            telemetry,
        };
        let policy = Baseline::Placed.policy(&params).unwrap();
        let spray = Spray::with_policy(config, policy).unwrap();
        Self { spray, now: 0 }
    }

    fn slot(&mut self) -> u8 {
        assert_eq!(self.spray.held_until(Ticks(self.now)), None);
        let path = self.spray.choose(None, PlaneMask::only(0)).unwrap();
        path.index.place()
    }

    /// A sample in which so many packets are acknowledged.
    fn sample(&mut self, packets: u16) -> u8 {
        self.now += PERIOD;
        let ack = PathAck {
            entropy: 0xc000,
            packets,
            next_psn: Psn::new(1 << 20),
            ..PathAck::default()
        };
        self.spray.on_ack(&ack, Ticks(self.now));
        self.slot()
    }
}

#[test]
fn a_path_is_left_when_a_sample_falls_by_more_than_a_fifth() {
    let mut watched = Watched::new(Some(Ticks(PERIOD)));
    // Queue pair 5 of its switch, over four paths.
    assert_eq!(watched.slot(), 1);
    // The first acknowledgement begins a sample; the first sample does not count.
    for packets in [20, 20, 100, 81, 100] {
        assert_eq!(watched.sample(packets), 1, "{packets}");
    }
    assert_eq!(watched.sample(60), 2);
    // Nor does the first one of the new path, which had packets of the old one.
    for packets in [40, 90, 90, 73] {
        assert_eq!(watched.sample(packets), 2, "{packets}");
    }
    assert_eq!(watched.sample(0), 3);
    let home = EvIndex::active(0, 3);
    watched
        .spray
        .on_feedback(home, Feedback::Timeout, Ticks(watched.now));
    assert_eq!(watched.slot(), 0);
}

#[test]
fn without_telemetry_a_path_is_left_after_a_timeout_only() {
    let mut watched = Watched::new(None);
    for packets in [100, 100, 10, 0, 0] {
        assert_eq!(watched.sample(packets), 1);
    }
    watched
        .spray
        .on_feedback(EvIndex::active(0, 1), Feedback::Timeout, Ticks(0));
    assert_eq!(watched.slot(), 2);
}
