//! Worlds of many hosts, with the software reference.

use sim_net::workload::Pattern;
use sim_net::HostId;
use sim_world::group::{
    place, run, GroupPlan, GroupReport, HostNic, Tenant, GROUP_TOPOLOGY, GROUP_TOPOLOGY_FILE,
};
use sim_world::{lossy_topology, Addressing, Plan, ReferenceNic, TransportPlan};

/// A tenant on these hosts, whose flows start at 0.
fn tenant(name: &str, pattern: Pattern, hosts: &[HostId], bytes: u64) -> Tenant {
    Tenant {
        name: name.into(),
        pattern,
        hosts: hosts.to_vec(),
        bytes,
        start: 0,
        rounds: 1,
    }
}

/// So many references on the fabric of leaves and spines, with 1 % loss on one of its links if asked for, and one tenant on all of them.
fn plan(nics: usize, pattern: Pattern, bytes: u64, lossy: bool) -> GroupPlan {
    let loss = lossy.then_some(("p0.leaf0-spine1", 0.05));
    let topology = lossy_topology(GROUP_TOPOLOGY_FILE, GROUP_TOPOLOGY, loss).unwrap();
    let nics = place(&topology, &vec![HostNic::Reference; nics]).unwrap();
    let hosts: Vec<HostId> = nics.iter().map(|nic| nic.0).collect();
    GroupPlan {
        base: Plan::new(topology, 1).unwrap(),
        tenants: vec![tenant("all", pattern, &hosts, bytes)],
        nics,
        limit: 100_000_000_000,
    }
}

fn report(plan: &GroupPlan) -> GroupReport {
    let run = run::<ReferenceNic>(plan).unwrap_or_else(|error| panic!("{error}"));
    run.report
}

#[test]
fn every_pattern_arrives_byte_by_byte_whatever_is_lost() {
    let (mut lost, mut retransmissions) = ([0; 2], [0; 2]);
    for pattern in Pattern::ALL {
        for (lossy, nics) in [(false, 8), (true, 6)] {
            let plan = plan(nics, pattern, 100_000, lossy);
            let first = report(&plan);
            let flows: usize = first.tenants[0].flows.len();
            assert_eq!(first.completed, flows as u64, "{}", pattern.name());
            let bytes: u64 = first.tenants[0].flows.iter().map(|flow| flow.bytes).sum();
            assert_eq!(first.bytes, bytes);
            lost[usize::from(lossy)] += first.fabric.dropped.total();
            retransmissions[usize::from(lossy)] += first.requester.retransmissions;
            assert_eq!(first.json(), report(&plan).json());
        }
    }
    assert_eq!([lost[0], retransmissions[0]], [0, 0]);
    assert!(lost[1] > 0 && retransmissions[1] > 0);
}

#[test]
fn senders_of_an_incast_get_equal_shares() {
    for senders in [2, 3, 7] {
        let report = report(&plan(senders + 1, Pattern::Incast, 8 << 20, false));
        let tenant = &report.tenants[0];
        let summary: Vec<_> = tenant
            .flows
            .iter()
            .map(|flow| (flow.share_bytes, flow.window_first, flow.window_late))
            .collect();
        assert!(tenant.fairness.unwrap() >= 0.95, "{senders}: {summary:?}");
        assert!(
            tenant.window_fairness.unwrap() >= 0.95,
            "{senders}: {summary:?}"
        );
        assert!(
            tenant.goodput_gbps > 230.0,
            "{senders}: {}",
            tenant.goodput_gbps
        );
        // All windows together started with what the senders' lines take, and have come down to what the receiver's line takes.
        let sum = |window: fn(&sim_world::group::FlowReport) -> u32| {
            tenant
                .flows
                .iter()
                .map(|flow| f64::from(window(flow)))
                .sum::<f64>()
        };
        let (first, late) = (
            sum(|flow| flow.window_first),
            sum(|flow| flow.window_late[1]),
        );
        assert!(2.0 * late < first, "{senders}: {summary:?}");
    }
}

#[test]
fn tenants_have_hosts_rounds_and_starts_of_their_own() {
    let mut plan = plan(6, Pattern::Ring, 120_000, true);
    let hosts = plan.tenants[0].hosts.clone();
    plan.tenants[0].hosts.truncate(4);
    let mut noise = tenant("noise", Pattern::Incast, &hosts[1..], 30_000);
    noise.start = 2_000_000;
    noise.rounds = 3;
    plan.tenants.push(noise);
    let report = report(&plan);
    let [ring, noise] = report.tenants.as_slice() else {
        panic!("two tenants");
    };
    assert_eq!((ring.flows.len(), ring.bytes), (24, 24 * 30_000));
    assert_eq!((noise.flows.len(), noise.bytes), (4, 3 * 4 * 30_000));
    assert_eq!(report.completed, 24 + 12);
    assert!(noise.flows.iter().all(|flow| flow.start_ns == 2_000));
    assert!(noise.duration_ns > 3 * noise.fct_ns[0]);
    let mut queue_pairs: Vec<u32> = ring
        .flows
        .iter()
        .chain(&noise.flows)
        .map(|flow| flow.qp)
        .collect();
    queue_pairs.sort_unstable();
    queue_pairs.dedup();
    assert_eq!(queue_pairs.len(), 4 + 4, "no queue pair has two tenants");
}

#[test]
fn every_transport_and_addressing_carries_them() {
    let base = plan(4, Pattern::Incast, 50_000, true);
    let mut rc = base.clone();
    rc.base.transport = TransportPlan::Rc;
    assert_eq!(report(&rc).completed, 3);
    for addressing in [Addressing::Ipv6, Addressing::Srv6] {
        let mut plan = base.clone();
        plan.base.addressing = addressing;
        assert_eq!(report(&plan).completed, 3);
    }
}

#[test]
fn a_report_is_a_page_and_every_port_has_a_capture() {
    let mut plan = plan(3, Pattern::AllToAll, 20_000, false);
    plan.base.capture = true;
    let run = run::<ReferenceNic>(&plan).unwrap();
    let html = run.report.html().unwrap();
    assert!(html.contains("<h2>all: all-to-all</h2>") && html.matches("<svg").count() == 2);
    let files = run.world.captures().unwrap().files().unwrap();
    assert_eq!(files.len(), 6);
}

#[test]
fn groups_that_cannot_run_are_refused() {
    let refused = |change: fn(&mut GroupPlan)| {
        let mut plan = plan(4, Pattern::Incast, 1000, false);
        change(&mut plan);
        let error = run::<ReferenceNic>(&plan).err().expect("refused");
        error.to_string()
    };
    assert_eq!(
        refused(|plan| plan.tenants.clear()),
        "there is no tenant; give at least one"
    );
    assert_eq!(
        refused(|plan| plan.tenants[0].hosts[0] = HostId(7)),
        "no host \"h7\" has a NIC; closest: h0, h1, h2"
    );
    assert_eq!(
        refused(|plan| plan.tenants[0].hosts[0] = plan.tenants[0].hosts[1]),
        "tenant \"all\" has host \"h1\" twice; name it once"
    );
    assert_eq!(
        refused(|plan| plan.tenants[0].hosts.truncate(1)),
        "an incast of 1 hosts; the topology has 8, so give 2 to 8"
    );
    assert_eq!(
        refused(|plan| plan.tenants[0].bytes = 0),
        "a message of 0 bytes; use 1 to 1073741824 (1 GiB)"
    );
    assert_eq!(
        refused(|plan| plan.tenants[0].rounds = 0),
        "tenant \"all\" has 0 rounds; use 1 to 1000"
    );
    assert_eq!(
        refused(|plan| plan.nics[0].1 = HostNic::Card),
        "there is no NIC: this world has software references only"
    );
    assert_eq!(
        refused(|plan| plan.limit = 1_000_000),
        "3 work request(s) not completed by 1 us"
    );
    let topology = lossy_topology(GROUP_TOPOLOGY_FILE, GROUP_TOPOLOGY, None).unwrap();
    let error = place(&topology, &[HostNic::Card; 9]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "9 NIC(s); the topology has 8 hosts, so name 2 to 8"
    );
}
