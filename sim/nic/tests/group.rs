//! Verilated cards and software references of one group.

use sim_net::workload::Pattern;
use sim_nic::{chosen_shape, host_ports, AsPlanned, MixedNic, SimRate};
use sim_world::group::{
    place, run, FlowReport, GroupPlan, GroupRun, HostNic, Tenant, GROUP_TOPOLOGY,
    GROUP_TOPOLOGY_FILE,
};
use sim_world::Plan;

/// All of these NICs send to the last one.
fn incast(kinds: &[HostNic], bytes: u64) -> GroupRun<MixedNic<AsPlanned>> {
    let ports = host_ports(chosen_shape());
    let topology = ports.topology(GROUP_TOPOLOGY_FILE, GROUP_TOPOLOGY).unwrap();
    let nics = place(&topology, kinds).unwrap();
    let plan = GroupPlan {
        base: Plan::new(topology, 1).unwrap(),
        tenants: vec![Tenant {
            name: "incast".into(),
            pattern: Pattern::Incast,
            hosts: nics.iter().map(|nic| nic.0).collect(),
            bytes,
            start: 0,
            rounds: 1,
        }],
        nics,
        limit: 10_000_000_000,
    };
    run(&plan).unwrap_or_else(|error| panic!("{error}"))
}

/// Three cards send to a fourth. Windows come down from what a sender's line takes to a third of what the receiver's does, shares are equal, and every byte
/// arrives: `run` compares them.
#[test]
fn four_cards_share_the_line_to_one_of_them() {
    let run = incast(&[HostNic::Card; 4], 3_000_000);
    let [tenant] = run.report.tenants.as_slice() else {
        panic!("one tenant");
    };
    let summary: Vec<_> = tenant
        .flows
        .iter()
        .map(|flow| (flow.share_bytes, flow.window_first, flow.window_late))
        .collect();
    let mut rate = SimRate::default();
    for host in run.world.hosts() {
        rate.add(host.nic().rtl().expect("a card").rate());
    }
    println!(
        "{:?} {:?} {:.1} Gb/s, {summary:?}, {} cycles, {:.0}/s",
        tenant.fairness,
        tenant.window_fairness,
        tenant.goodput_gbps,
        rate.clocks,
        rate.clocks_per_second()
    );
    assert_eq!((run.report.completed, run.report.bytes), (3, 9_000_000));
    assert!(tenant.fairness.unwrap() >= 0.95, "{summary:?}");
    assert!(tenant.window_fairness.unwrap() >= 0.95, "{summary:?}");
    let sum = |window: fn(&FlowReport) -> u32| -> u32 { tenant.flows.iter().map(window).sum() };
    let (first, late) = (
        sum(|flow| flow.window_first),
        sum(|flow| flow.window_late[1]),
    );
    assert!(2 * late < first, "{summary:?}");
}
