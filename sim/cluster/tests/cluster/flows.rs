//! Generated flows, and clusters that cannot be built.

use std::collections::BTreeSet;

use sim_cluster::workload::{
    all_to_all, incast, permutation, ring_all_reduce, tree_all_reduce, Flow, GenerateError, Start,
    TriggerKind, Workload,
};
use sim_cluster::{leaf_spine, Cluster, ClusterError, FlowResult, Record, Sampling, Settings};
use sim_net::{HostId, Topology};
use stellar_transport::spray::Policy;

use crate::common::{clos, run, run_both};

fn pairs(workload: &Workload) -> Vec<(u32, u32)> {
    let flows = workload.flows.iter();
    flows.map(|flow| (flow.src.0, flow.dst.0)).collect()
}

#[test]
fn a_permutation_leaves_every_switch_once_per_host() {
    for (leaves, hosts, active) in [
        (2, 60, None),
        (4, 60, Some(30)),
        (5, 3, Some(2)),
        (2, 1, None),
    ] {
        let topology = leaf_spine(leaves, hosts, 2).unwrap();
        for seed in 0..4 {
            let pairs = pairs(&permutation(&topology, active, 9, seed).unwrap());
            assert_eq!(pairs.len(), leaves * active.unwrap_or(hosts));
            let leaf = |host: u32| host as usize / hosts;
            assert!(pairs.iter().all(|&(src, dst)| leaf(src) != leaf(dst)));
            let sources: BTreeSet<u32> = pairs.iter().map(|pair| pair.0).collect();
            let targets: BTreeSet<u32> = pairs.iter().map(|pair| pair.1).collect();
            assert_eq!(sources, targets);
            assert_eq!(sources.len(), pairs.len());
        }
    }
    let topology = leaf_spine(2, 30, 2).unwrap();
    let of = |seed| permutation(&topology, None, 9, seed).unwrap();
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn an_incast_has_one_target() {
    let topology = leaf_spine(2, 16, 2).unwrap();
    let pairs = pairs(&incast(&topology, 31, 9, 3).unwrap());
    let sources: BTreeSet<u32> = pairs.iter().map(|pair| pair.0).collect();
    assert_eq!(sources.len(), 31);
    assert!(pairs
        .iter()
        .all(|pair| pair.1 == pairs[0].1 && pair.0 != pair.1));
}

#[test]
fn all_to_all_has_every_pair() {
    let topology = leaf_spine(2, 4, 2).unwrap();
    let pairs: BTreeSet<_> = pairs(&all_to_all(&topology, 7, 9).unwrap())
        .into_iter()
        .collect();
    assert_eq!(pairs.len(), 42);
}

#[test]
fn a_ring_moves_every_part_twice_around() {
    let topology = clos(1, 3, "");
    let workload = ring_all_reduce(&topology, 5, 999, 1).unwrap();
    assert_eq!(workload.flows.len(), 5 * 8);
    assert!(workload.flows.iter().all(|flow| flow.bytes == 200));
    let at_start = workload
        .flows
        .iter()
        .filter(|flow| flow.start == Start::At(0));
    assert_eq!(at_start.count(), 5);
    let report = run::<Record>(&topology, &workload, &Settings::default());
    // Every step starts when the part of the step before has arrived at its sender.
    let flows = &report.flow_results;
    for (number, flow) in (5..).zip(&flows[5..]) {
        let before = flows[..number / 5 * 5].iter().rev();
        let mut before = before.filter(|other| other.dst == flow.src);
        let before = before.next().unwrap();
        let arrival = before.start_us.unwrap() + before.received_us.unwrap();
        assert!((flow.start_us.unwrap() - arrival).abs() < 1e-6);
    }
}

#[test]
fn a_tree_goes_up_when_children_have_sent_and_down_when_the_sum_is_there() {
    let topology = clos(1, 4, "");
    for ranks in [2, 3, 7, 8] {
        let workload = tree_all_reduce(&topology, ranks, 50_000, 1).unwrap();
        assert_eq!(workload.flows.len(), 2 * (ranks - 1));
        let report = run::<Record>(&topology, &workload, &Settings::default());
        let flows = &report.flow_results;
        assert_eq!(report.flows.finished, flows.len());
        let (up, down) = flows.split_at(ranks - 1);
        let arrival = |flow: &FlowResult| flow.start_us.unwrap() + flow.received_us.unwrap();
        for flow in up {
            let of_children = up.iter().filter(|other| other.dst == flow.src);
            let ready = of_children.map(arrival).fold(0.0, f64::max);
            assert!((flow.start_us.unwrap() - ready).abs() < 1e-6);
        }
        let sum = up.iter().map(arrival).fold(0.0, f64::max);
        for flow in down {
            let mut from_parent = down.iter().filter(|other| other.dst == flow.src);
            let ready = from_parent.next().map_or(sum, arrival);
            assert!((flow.start_us.unwrap() - ready).abs() < 1e-6);
        }
        let sent_up: BTreeSet<_> = up.iter().map(|flow| (flow.src, flow.dst)).collect();
        let sent_down: BTreeSet<_> = down.iter().map(|flow| (flow.dst, flow.src)).collect();
        assert_eq!(sent_up, sent_down);
    }
}

/// Trigger 0 is a computation of 7 us, which starts at 0; it activates one that starts the flow when the other flow is sent, too.
#[test]
fn triggers_take_time_and_activate_others() {
    let topology = clos(1, 2, "");
    let mut workload = all_to_all(&topology, 2, 1000).unwrap();
    let both = workload.add_trigger(TriggerKind::Barrier(2));
    let computed = workload.add_trigger(TriggerKind::OneShot);
    workload.triggers[computed.0 as usize].delay = 7_000_000;
    workload.triggers[computed.0 as usize].then.push(both);
    workload.first.push(computed);
    workload.flows[0].on_sent = Some(both);
    let flow = Flow {
        id: 3,
        start: Start::Trigger(both),
        on_sent: None,
        ..workload.flows[0]
    };
    workload.add_flow(flow);
    let of = |workload: &Workload| run_both(&topology, workload, &Settings::default()).flow_results;
    let early = of(&workload);
    assert!(early[0].fct_us.unwrap() < 7.0);
    assert_eq!(early[2].start_us, Some(7.0));
    workload.flows[0].bytes = 1_000_000;
    let late = of(&workload);
    assert!(late[0].fct_us.unwrap() > 7.0);
    assert_eq!(late[2].start_us, late[0].fct_us);
}

#[test]
fn patterns_that_do_not_fit_are_refused() {
    let topology = leaf_spine(2, 4, 2).unwrap();
    let message = |error: GenerateError| error.to_string();
    assert_eq!(
        message(incast(&topology, 8, 9, 1).unwrap_err()),
        "an incast of 9 hosts; the topology has 8, so give 2 to 8"
    );
    assert_eq!(
        message(all_to_all(&topology, 1, 9).unwrap_err()),
        "an all-to-all of 1 hosts; the topology has 8, so give 2 to 8"
    );
    assert_eq!(
        message(permutation(&topology, None, 0, 1).unwrap_err()),
        "0 bytes in a flow; give 1 to 68719476736 (64 GiB)"
    );
    let one = leaf_spine(1, 4, 1).unwrap();
    assert_eq!(
        message(permutation(&one, None, 9, 1).unwrap_err()),
        "a permutation sends to hosts of other switches, and one switch has more than half of the hosts; use another pattern or topology"
    );
}

fn refused(topology: &Topology, change: impl FnOnce(&mut Workload, &mut Settings)) -> String {
    let mut workload = all_to_all(topology, 2, 1000).unwrap();
    let mut settings = Settings::default();
    change(&mut workload, &mut settings);
    match Cluster::<Record>::new(topology.clone(), workload, settings) {
        Err(error) => error.to_string(),
        Ok(mut cluster) => match cluster.run(|_| {}) {
            Err(error) => error.to_string(),
            Ok(()) => panic!("accepted"),
        },
    }
}

#[test]
fn clusters_that_cannot_run_are_refused() {
    let topology = clos(1, 2, "");
    type Change = fn(&mut Workload, &mut Settings);
    let cases: [(Change, &str); 8] = [
        (|w, _| w.flows.clear(), "there is no flow; give at least one"),
        (
            |w, _| w.flows[1].dst = HostId(4),
            "flow 2 names host 4; the topology has 4, numbered from 0",
        ),
        (
            |w, _| w.flows[0].src = w.flows[0].dst,
            "flow 1 goes from a host to itself; name two hosts",
        ),
        (
            |w, _| w.flows[0].bytes = Flow::MAX_BYTES + 1,
            "flow 1 has 68719476737 bytes; give 1 to 68719476736 (64 GiB)",
        ),
        (
            |_, s| {
                s.sampling = Some(Sampling {
                    period: 0,
                    from: 0,
                    to: 1,
                });
            },
            "samples every 0 ps from 0 to 1 ps; give a period above 0, and an end that is not before the start",
        ),
        (
            |_, s| s.paths = 5,
            "paths: 5 active entropy values; use 1 or an even number up to 128 (half in each plane)",
        ),
        (
            |_, s| (s.policy, s.paths) = (Policy::Obs.into(), 1),
            "card: 1 paths; use an even number from 2 to the profile's 2 active values, or 1 with a policy of one path at a time",
        ),
        (
            |_, s| s.sack_every = 0,
            "card: a SACK for every 0 packets; use 1 to 63",
        ),
    ];
    for (change, message) in cases {
        assert_eq!(refused(&topology, change), message);
    }
    let three = clos(3, 2, "");
    assert_eq!(
        refused(&three, |_, _| {}),
        "host \"h0\" has 3 ports; a card has one or two, so use a topology of one or two planes"
    );
    let error: ClusterError = leaf_spine(0, 1, 1).unwrap_err().into();
    assert!(error.to_string().contains("leaf_spine.leaves"), "{error}");
}
