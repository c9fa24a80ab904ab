//! Fabrics with a spine whose links are slower than the others: packets of its paths come late, and are not lost.

use sim_cluster::workload::permutation;
use sim_cluster::{Record, Report, Settings};
use stellar_transport::spray::Policy;

use crate::common::{run, topology};

/// A permutation among two leaves of 8 hosts under 8 spines of 200 Gb/s, of which one has links of `gbps`.
fn slow_spine(gbps: u32, paths: u8, early_loss: u16, policy: Policy, seed: u64) -> Report {
    let topology = topology(&format!(
        "
        [fabric]
        switch_latency_ns = 500
        ecn_at_last_hop = true
        [defaults]
        rate_gbps = 200
        delay_ns = 500
        queue_bytes = 4_000_000
        ecn = {{ min_bytes = 80_000, max_bytes = 320_000, max_probability = 0.2 }}
        [leaf_spine]
        planes = 1
        leaves = 2
        spines = 8
        hosts_per_leaf = 8
        [[overrides]]
        node = 'p0.spine3'
        set = {{ rate_gbps = {gbps} }}
        "
    ));
    let flows = permutation(&topology, Some(4), 8_000_000, seed).unwrap();
    let settings = Settings {
        seed,
        paths,
        policy,
        early_loss,
        sack_every: 16,
        ..Settings::default()
    };
    let report = run::<Record>(&topology, &flows, &settings);
    assert_eq!(report.flows.finished, 8);
    report
}

/// Share of the packets that were sent again, over two seeds. Nothing is lost: the fabric drops nothing, and no timer expires.
fn spurious(gbps: u32, paths: u8, policy: Policy) -> f64 {
    let shares = [1, 2].map(|seed| {
        let packets = slow_spine(gbps, paths, 128, policy, seed).packets;
        assert_eq!(packets.dropped.total(), 0, "{packets:?}");
        packets.retransmitted as f64 / packets.data as f64
    });
    shares.iter().sum::<f64>() / shares.len() as f64
}

#[test]
fn a_slow_spine_makes_packets_late_and_few_count_as_lost() {
    for policy in [Policy::Obs, Policy::EvState] {
        assert_eq!(spurious(200, 128, policy), 0.0);
        for (gbps, paths) in [(100, 128), (50, 128), (50, 8)] {
            let share = spurious(gbps, paths, policy);
            assert!(
                share < 0.01,
                "{policy:?}, a spine of {gbps} Gb/s, {paths} paths: {share}"
            );
        }
    }
}
