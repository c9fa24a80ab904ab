//! No loss waits for the timer because nothing was behind it.

use sim_net::Topology;
use sim_world::report::Report;
use sim_world::sweep::{busiest, plan};
use sim_world::transfer::{run, Transfer};
use sim_world::{MrcPlan, Plan, ReferenceNic, TransportPlan};
use stellar_transport::spray::Policy;

const LEAF_SPINE: &str = include_str!("../../net/topologies/leaf_spine.toml");
/// Bare round trip of the fabric in nanoseconds, with the read of the payload.
const ROUND_TRIP: u64 = 5_600;
/// Time limit of a run: 1 s.
const LIMIT: u64 = 1_000_000_000_000;

/// `messages` of `bytes` over 4 paths, one every `interval` picoseconds, with this loss on the busiest link.
fn transfer(loss: f64, seed: u64, bytes: u32, messages: u32, interval: u64) -> Report {
    let transfer = Transfer {
        bytes,
        messages,
        immediates: false,
        interval,
        limit: LIMIT,
    };
    let short = Transfer {
        messages: 16,
        ..transfer
    };
    let clean = plan("leaf_spine.toml", LEAF_SPINE, None, Some(4), seed).expect("a plan");
    let (link, _) = busiest(&run::<ReferenceNic>(&clean, short).expect("a run"));
    let lossy = Some((link.as_str(), loss));
    let lossy = plan("leaf_spine.toml", LEAF_SPINE, lossy, Some(4), seed).expect("a plan");
    run::<ReferenceNic>(&lossy, transfer).expect("a run").report
}

#[test]
fn three_percent_of_loss_on_one_of_four_paths_cost_little() {
    let ratios = [1, 2, 3, 4].map(|seed| {
        let report = transfer(0.03, seed, 1 << 20, 32, 0);
        assert!(report.requester.early_losses > 40, "{report:?}");
        assert_eq!(report.requester.timeouts, 0, "seed {seed}");
        report.ratio
    });
    // A loss among the last packets of the run costs two round trips, 2 % of it.
    assert!(ratios.iter().all(|&ratio| ratio > 0.965), "{ratios:?}");
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(mean >= 0.98, "{ratios:?}");
}

#[test]
fn a_message_with_a_loss_takes_less_than_three_round_trips() {
    // With seeds 2 and 7, the last packets of some messages are lost.
    for seed in [1, 2, 7] {
        let report = transfer(0.01, seed, 64 << 10, 500, 5_373_000);
        let times = &report.completions;
        assert!(report.requester.early_losses > 10, "{report:?}");
        assert_eq!(report.requester.timeouts, 0, "seed {seed}");
        assert_eq!(report.requester.spurious_losses, 0, "seed {seed}");
        assert!(times.p99_ns < 3 * ROUND_TRIP, "{times:?}");
    }
}

/// Two leaves under two spines; one link of the first plane loses half of its packets.
const HALF_IS_LOST: &str = r#"
[defaults]
rate_gbps = 200
delay_ns = 50
queue_bytes = 1_000_000
[leaf_spine]
planes = 2
leaves = 2
spines = 2
hosts_per_leaf = 1
[[overrides]]
link = "p0.leaf0-spine1"
set.loss = 0.5
"#;

/// What is in flight behind the oldest packet may be lost without anyone knowing. If it held the oldest one, only timeouts would end that.
#[test]
fn no_message_waits_for_a_timeout_because_the_congestion_window_is_full_of_losses() {
    for seed in 1..=8 {
        let topology = Topology::from_toml("half is lost", HALF_IS_LOST).expect("a topology");
        let mut plan = Plan::new(topology, seed).expect("a plan");
        plan.transport = TransportPlan::Mrc(MrcPlan {
            policy: Policy::Obs,
            paths: 8,
            ..MrcPlan::default()
        });
        plan.mtu_log2 = 8;
        let transfer = Transfer {
            bytes: 128 << 10,
            messages: 8,
            immediates: false,
            interval: 2_000_000_000,
            limit: LIMIT,
        };
        let report = run::<ReferenceNic>(&plan, transfer).expect("a run").report;
        assert!(report.requester.early_losses > 100, "{report:?}");
        assert_eq!(report.requester.timeouts, 0, "seed {seed}");
    }
}
