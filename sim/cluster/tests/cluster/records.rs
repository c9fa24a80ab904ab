//! Packets as records and as bytes give the same run: every frame has the same length and leaves at the same time.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sim_cluster::workload::{all_to_all, incast, permutation, ring_all_reduce};
use sim_cluster::{Addressing, QueuePairs, Sampling, Settings, Transport};
use sim_net::{Balancer, DropReason, HostId, Topology};
use stellar_transport::spray::Policy;

use crate::common::{clos, run_both};

const MARKS: &str = "ecn = { min_bytes = 20_000, max_bytes = 60_000, max_probability = 0.8 }";

#[test]
fn with_every_policy() {
    let topology = clos(
        1,
        4,
        &format!("[[overrides]]\nplane = 0\nset = {{ {MARKS} }}\n[fabric]\necn_at_last_hop = true"),
    );
    let policies = [
        (Policy::SinglePath, 1),
        (Policy::RoundRobin, 8),
        (Policy::Obs, 128),
        (Policy::EvState, 16),
        (Policy::Bitmap, 16),
        (Policy::Reps, 16),
        (Policy::Mixed, 16),
        (Policy::FlowBender, 16),
        (Policy::Hopper, 16),
        (Policy::Hp3, 16),
    ];
    assert_eq!(policies.len(), Policy::COUNT);
    for (policy, paths) in policies {
        for sack_every in [4, 16] {
            let flows = permutation(&topology, None, 400_000, 3).unwrap();
            let settings = Settings {
                policy: policy.into(),
                paths,
                sack_every,
                path_loads: true,
                ..Settings::default()
            };
            let report = run_both(&topology, &flows, &settings);
            assert_eq!(report.flows.finished, 8, "{policy:?}");
            assert_eq!(report.packets.data, 8 * 98, "{policy:?}");
            let used = report.path_packets.iter();
            let used = used.filter(|&&packets| packets > 0).count();
            // No flow has as many packets as there are paths at most.
            let at_a_time = if policy.traits().one_path { 1 } else { paths };
            assert!(
                used >= usize::from(at_a_time).min(100),
                "{policy:?}: {used}"
            );
        }
    }
}

/// Source routes with packets that are lost, trimmed or refused, and a link that fails. Two spines have two cables to a leaf, which chooses by the
/// header around the packet.
#[test]
fn with_source_routes() {
    let lossy = format!(
        "[[overrides]]\nplane = 0\nset = {{ queue_bytes = 60_000, trim = {{ dscp = 9 }}, {MARKS} }}
        [[overrides]]\nnode = 'p0.spine2'\nset = {{ loss = 0.02 }}
        [[events]]\nat_us = 20\nlink = 'p0.leaf0-spine1'\nup = false
        [[links]]\nname = 'second'\nends = ['p0.leaf0', 'p0.spine1']
        [[links]]\nname = 'third'\nends = ['p0.leaf0', 'p0.spine3']"
    );
    for (planes, balancer, transport) in [
        (1, "ecmp", Transport::Mrc),
        (2, "ecmp", Transport::Mrc),
        (1, "conweave", Transport::Rc),
    ] {
        let topology = clos(planes, 4, &lossy);
        let topology = topology.with_balancer(balancer.parse().unwrap()).unwrap();
        let flows = incast(&topology, 6, 200_000, 1).unwrap();
        let settings = Settings {
            transport,
            addressing: Addressing::Srv6,
            policy: Policy::Mixed.into(),
            paths: 16,
            early_loss: 128,
            small_mtu: vec![HostId(2)],
            ..Settings::default()
        };
        let report = run_both(&topology, &flows, &settings);
        let packets = report.packets;
        assert!(report.flows.finished > 0, "{:?}", report.flows);
        assert!(packets.retransmitted > 0, "{packets:?}");
        assert!(packets.trimmed > 0, "{packets:?}");
        assert!(packets.marked > 0, "{packets:?}");
        assert!(packets.dropped.total() > 0, "{packets:?}");
    }
}

/// With so many hosts, records ask for the memory of cards ahead of time, and bytes do not.
#[test]
fn with_more_hosts_than_the_caches_hold() {
    let topology = clos(1, 130, "");
    let flows = permutation(&topology, None, 40_000, 5).unwrap();
    let report = run_both(&topology, &flows, &Settings::default());
    assert_eq!(report.flows.finished, 260);
}

#[test]
fn over_two_planes_of_which_one_fails_and_comes_back() {
    let topology = clos(
        2,
        3,
        "[fabric]
        reroute_ns = 5_000
        [[events]]
        at_us = 20
        link = 'p1.h0-leaf0'
        up = false
        [[events]]
        at_us = 90
        link = 'p1.h0-leaf0'
        up = true
        [[events]]
        at_us = 25
        link = 'p0.leaf0-spine1'
        up = false",
    );
    let flows = permutation(&topology, None, 3_000_000, 5).unwrap();
    let report = run_both(&topology, &flows, &Settings::default());
    assert_eq!(report.flows.finished, 6);
    assert!(report.packets.dropped.of(DropReason::LinkDown) > 0);
    assert!(report.packets.retransmitted > 0);
}

#[test]
fn with_losses_timeouts_probes_and_early_loss_detection() {
    let topology = clos(
        1,
        4,
        &format!(
            "[[overrides]]\nnode = 'p0.spine2'\nset = {{ loss = 0.02, jitter_ns = 700, {MARKS} }}"
        ),
    );
    let flows = permutation(&topology, None, 1_500_000, 7).unwrap();
    for early_loss in [0, 128] {
        let settings = Settings {
            policy: Policy::EvState.into(),
            early_loss,
            ..Settings::default()
        };
        let report = run_both(&topology, &flows, &settings);
        assert_eq!(report.flows.finished, 8);
        let packets = report.packets;
        assert!(packets.retransmitted > 0, "{packets:?}");
        // Early loss detection and tail probes find every loss before its timer.
        assert_eq!(packets.timeouts > 0, early_loss == 0, "{packets:?}");
        assert!(packets.probes > 0, "{packets:?}");
    }
}

#[test]
fn with_trimming() {
    let topology = clos(
        1,
        8,
        "[[overrides]]\nplane = 0\nset = { queue_bytes = 60_000, trim = { dscp = 9, last_hop_dscp = 11 } }",
    );
    let flows = incast(&topology, 12, 600_000, 1).unwrap();
    let report = run_both(&topology, &flows, &Settings::default());
    assert_eq!(report.flows.finished, 12);
    assert!(report.packets.trimmed > 100, "{:?}", report.packets);
    assert_eq!(report.packets.dropped.of(DropReason::QueueFull), 0);
}

#[test]
fn with_classes_by_code_point_and_queues_that_overflow() {
    let topology = clos(
        1,
        8,
        "[fabric]\ncontrol_dscp = [46]\n[[overrides]]\nplane = 0\nset = { queue_bytes = 50_000 }",
    );
    let flows = incast(&topology, 12, 400_000, 2).unwrap();
    let settings = Settings {
        sampling: Some(Sampling {
            period: 5_000_000,
            from: 0,
            to: 100_000_000,
        }),
        ..Settings::default()
    };
    let report = run_both(&topology, &flows, &settings);
    assert_eq!(report.flows.finished, 12);
    assert!(report.packets.dropped.of(DropReason::QueueFull) > 0);
    let (waiting, with_line) = (report.uplinks.waiting, report.uplinks.with_line);
    assert!(waiting.unwrap().mean < with_line.unwrap().mean);
}

#[test]
fn with_rc_that_goes_back() {
    let topology = clos(
        1,
        3,
        "[[overrides]]\nnode = 'p0.spine0'\nset = { loss = 0.003 }",
    );
    let flows = all_to_all(&topology, 6, 200_000).unwrap();
    for policy in [Policy::SinglePath, Policy::Hopper, Policy::Hp3] {
        let settings = Settings {
            transport: Transport::Rc,
            policy: policy.into(),
            paths: 8,
            queue_pairs: QueuePairs::PerPair,
            ..Settings::default()
        };
        let report = run_both(&topology, &flows, &settings);
        assert_eq!(report.flows.finished, 30, "{policy:?}");
        assert!(report.packets.retransmitted > 0, "{policy:?}");
    }
}

#[test]
fn with_cards_that_refuse() {
    let topology = clos(2, 3, "");
    let flows = all_to_all(&topology, 6, 100_000).unwrap();
    for transport in [Transport::Mrc, Transport::Rc] {
        let settings = Settings {
            transport,
            small_mtu: vec![HostId(2)],
            ..Settings::default()
        };
        let report = run_both(&topology, &flows, &settings);
        assert_eq!((report.flows.finished, report.flows.failed), (20, 10));
        let failed = report.flow_results.iter();
        let failed = failed.filter(|flow| flow.failed.is_some());
        assert!(failed.clone().all(|flow| flow.src == 2 || flow.dst == 2));
        assert!(failed.clone().all(|flow| flow.fct_us.is_none()));
        let expected = match transport {
            Transport::Mrc => "RemOpErr",
            Transport::Rc => "RemInvReqErr",
        };
        let reasons: Vec<_> = failed.filter_map(|flow| flow.failed.as_deref()).collect();
        assert_eq!(reasons, [expected; 10]);
    }
}

#[test]
fn with_flows_that_wait_for_others() {
    let topology = clos(
        1,
        4,
        "[[overrides]]\nnode = 'p0.spine3'\nset = { loss = 0.01 }",
    );
    let flows = ring_all_reduce(&topology, 8, 800_000, 4).unwrap();
    for queue_pairs in [QueuePairs::PerFlow, QueuePairs::PerPair] {
        let settings = Settings {
            queue_pairs,
            ..Settings::default()
        };
        let report = run_both(&topology, &flows, &settings);
        assert_eq!(report.flows.finished, 8 * 14);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, rng_seed: RngSeed::Fixed(2026), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_any_weather(
        planes in 1..3usize,
        loss in 0..30u32,
        jitter in 0..2_000u32,
        queue in 20_000..200_000u32,
        trims: bool,
        marks: bool,
        seed: u64,
        (policy, paths) in prop_oneof![
            Just((Policy::SinglePath, 1)),
            Just((Policy::Obs, 32)),
            Just((Policy::EvState, 8)),
            Just((Policy::Mixed, 8)),
            Just((Policy::FlowBender, 8)),
            Just((Policy::Hopper, 8)),
            Just((Policy::Hp3, 8)),
        ],
        rc in proptest::bool::weighted(0.2),
        srv6: bool,
    ) {
        let trim = if trims { ", trim = { dscp = 9 }" } else { "" };
        let ecn = if marks { format!(", {MARKS}") } else { String::new() };
        let set = format!("loss = 0.0{loss:02}, jitter_ns = {jitter}, queue_bytes = {queue}{trim}{ecn}");
        let topology = clos(planes, 3, &format!("[[overrides]]\nnode = 'p0.spine1'\nset = {{ {set} }}"));
        let flows = all_to_all(&topology, 4, 90_000).unwrap();
        let settings = Settings {
            seed,
            policy: policy.into(),
            paths,
            transport: if rc { Transport::Rc } else { Transport::Mrc },
            addressing: if srv6 { Addressing::Srv6 } else { Addressing::Ipv4 },
            limit: 20_000_000_000,
            ..Settings::default()
        };
        run_both(&topology, &flows, &settings);
    }
}

#[test]
fn with_balancers_and_without_loss() {
    let pfc = "[[overrides]]
        plane = 0
        set = { pfc = { xoff_bytes = 40_000, xon_bytes = 30_000 }, queue_bytes = 4_000_000 }";
    let lossless = clos(1, 4, pfc);
    let lossy = clos(
        1,
        4,
        "[[overrides]]\nplane = 0\nset = { queue_bytes = 60_000 }",
    );
    for balancer in [
        "ecmp",
        "spray",
        "adaptive",
        "let-flow,gap_us=1",
        "conga",
        "conweave",
        "drill",
    ] {
        let balancer: Balancer = balancer.parse().unwrap();
        for (transport, paths) in [(Transport::Mrc, 8), (Transport::Rc, 8)] {
            let settings = Settings {
                transport,
                paths,
                ..Settings::default()
            };
            let run = |topology: &Topology| {
                let topology = topology.clone().with_balancer(balancer).unwrap();
                let flows = incast(&topology, 7, 200_000, 3).unwrap();
                run_both(&topology, &flows, &settings)
            };
            let report = run(&lossless);
            assert_eq!(report.flows.finished, 7, "{balancer:?} {transport:?}");
            assert_eq!(
                report.packets.dropped.total(),
                0,
                "{balancer:?} {transport:?}"
            );
            let dropped = run(&lossy).packets.dropped.of(DropReason::QueueFull);
            assert!(dropped > 0, "{balancer:?} {transport:?}");
        }
    }
}
