//! The demonstration run, and that a run is a function of its seed.

use sim_world::transfer::{run, Run, Transfer};
use sim_world::{lossy_topology, MrcPlan, Plan, TransportPlan};
use stellar_transport::spray::Policy;

const LEAF_SPINE: &str = include_str!("../../net/topologies/leaf_spine.toml");
const UNEVEN: &str = include_str!("../topologies/uneven.toml");
const MS: u64 = 1_000_000_000;

fn plan(seed: u64, loss: f64) -> Plan {
    let lossy = Some(("p0.leaf0-spine5", loss));
    let topology = lossy_topology("leaf_spine.toml", LEAF_SPINE, lossy).expect("topology");
    Plan::new(topology, seed).expect("hosts")
}

fn transfer(plan: &Plan, bytes: u32, messages: u32) -> Run {
    let limit = 20 * MS;
    let transfer = Transfer {
        bytes,
        messages,
        immediates: false,
        interval: 0,
        limit,
    };
    run(plan, transfer).expect("a good run")
}

#[test]
fn eight_megabytes_over_128_paths_with_one_lossy_link_arrive_byte_exact() {
    let run = transfer(&plan(4, 0.01), 8 << 20, 1);
    let report = &run.report;
    assert_eq!(report.bytes, 8 << 20);
    assert_eq!(report.completions.succeeded, 1);
    // A few of 2,048 packets and their SACKs are lost on a sixteenth of the paths.
    let (lost, again) = (
        report.fabric.dropped.total(),
        report.requester.retransmissions,
    );
    assert!(
        again > 0 && again <= lost,
        "{lost} lost, {again} sent again"
    );
    assert!(
        report.out_of_order.max > 0,
        "a packet sent again comes late"
    );
    assert_eq!(
        report.path_loads.iter().filter(|&&load| load > 0).count(),
        128
    );
    assert!(report.ratio < 1.0);
}

#[test]
fn without_loss_nothing_is_sent_twice_and_the_line_is_nearly_full() {
    let run = transfer(&plan(1, 0.0), 8 << 20, 4);
    let report = &run.report;
    assert_eq!(report.requester.retransmissions, 0);
    assert_eq!(report.completions.succeeded, 4);
    assert!((0.9..1.0).contains(&report.ratio), "{}", report.ratio);
}

#[test]
fn one_path_and_go_back_n_stay_on_one_plane() {
    let mut plan = plan(3, 0.0);
    plan.transport = TransportPlan::Rc;
    let run = transfer(&plan, 1 << 20, 4);
    assert_eq!(run.report.out_of_order.max, 0);
    let topology = run.world.fabric().topology();
    let idle = topology.links().iter().filter(|link| link.plane == 1);
    for link in idle {
        let id = topology.link(&link.name).expect("it is its own");
        for channel in id.channels() {
            let stats = run.world.fabric().stats(channel).expect("channel");
            assert_eq!(stats.sent_frames, 0, "{} is in the other plane", link.name);
        }
    }
}

#[test]
fn one_path_at_a_time_over_rc_leaves_slow_spines_with_packets_in_order() {
    let slow = "set = { rate_gbps = 50, queue_bytes = 4_000_000 }";
    let spines = [0, 1, 2, 3].map(|spine| {
        ["p0", "p1"].map(|plane| format!("[[overrides]]\nnode = '{plane}.spine{spine}'\n{slow}\n"))
    });
    let text = format!("{LEAF_SPINE}\n{}", spines.concat().concat());
    let time = |transport| {
        let runs = [1, 2, 3, 4].map(|seed| {
            let topology = lossy_topology("slow.toml", &text, None).expect("topology");
            let mut plan = Plan::new(topology, seed).expect("hosts");
            plan.transport = transport;
            transfer(&plan, 1 << 20, 4).report
        });
        for report in &runs {
            assert_eq!(report.out_of_order.max, 0);
            assert_eq!(report.requester.retransmissions, 0);
        }
        runs.iter().map(|report| report.duration_ns).sum::<u64>()
    };
    let fixed = time(TransportPlan::Rc);
    let hp3 = time(TransportPlan::rc(Some(Policy::Hp3), 128).expect("a policy of RC"));
    assert!(hp3 < fixed, "{hp3} ns, {fixed} ns on one path");
}

#[test]
fn a_policy_that_reorders_is_refused_over_rc() {
    let error = TransportPlan::rc(Some(Policy::FlowBender), 128).expect_err("it reorders");
    assert!(
        error.to_string().contains("`flow-bender` with RC"),
        "{error}"
    );
}

/// All output of a run: report and captures.
fn traces(seed: u64) -> Vec<Vec<u8>> {
    let mut plan = plan(seed, 0.05);
    plan.capture = true;
    let run = transfer(&plan, 1 << 20, 2);
    let captures = run.world.captures().expect("captures were asked for");
    let files = captures.files().expect("encodable");
    let mut traces = vec![run.report.json().into_bytes()];
    traces.extend(files.into_iter().map(|(_, bytes)| bytes));
    traces
}

#[test]
fn a_run_is_a_function_of_its_seed() {
    let first = traces(7);
    assert_eq!(first.len(), 5, "a report and two ports of two hosts");
    assert!(first == traces(7), "two runs of one seed differ");
    for (index, (one, other)) in first.iter().zip(traces(8)).enumerate() {
        assert!(*one != other, "trace {index} does not depend on the seed");
    }
}

#[test]
fn a_fabric_that_reorders_marks_and_loses_changes_no_byte() {
    for policy in [Policy::RoundRobin, Policy::Obs, Policy::EvState] {
        let topology = lossy_topology("uneven.toml", UNEVEN, None).expect("topology");
        let mut plan = Plan::new(topology, 4).expect("hosts");
        plan.qps = 4;
        plan.transport = TransportPlan::Mrc(MrcPlan {
            policy,
            ..MrcPlan::default()
        });
        let report = transfer(&plan, 4 << 20, 1).report;
        assert_eq!(report.bytes, 16 << 20);
        let (order, queues) = (report.out_of_order.max, report.series.queues.len());
        assert!(order > 16, "{policy:?}: only {order} packets out of order");
        assert!(report.requester.ecn_marks > 0, "{policy:?}: no marks");
        assert!(report.fabric.dropped.total() > 0, "{policy:?}: no losses");
        assert!(queues > 0, "{policy:?}: no queues");
    }
}
