//! Files of other simulators.

use sim_cluster::files::{
    read_connection_matrix, read_conweave_flows, read_fat_tree, FatTreeSettings,
};
use sim_cluster::workload::{Start, TriggerId, TriggerKind};
use sim_cluster::Settings;
use sim_net::{HostId, Node};

use crate::common::{clos, run_both};

const MATRIX: &str = "Nodes 8
Connections 4
Triggers 2
# a comment

0->5 id 7 start 2000000 size 100000 send_done_trigger 1
1->6 id 9 start 1.5e6 size 4096 recv_done_trigger 1 prio 3
5->0 id 8 trigger 1 size 50000 send_done_trigger 3
6->1 id 12 trigger 3 size 1
trigger id 1 barrier count 2
trigger id 3 oneshot
";

#[test]
fn a_connection_matrix_has_flows_starts_and_triggers() {
    let workload = read_connection_matrix("m.cm", MATRIX, 8).unwrap();
    let flows: Vec<_> = workload
        .flows
        .iter()
        .map(|flow| (flow.id, flow.src.0, flow.dst.0, flow.bytes, flow.start))
        .collect();
    let (first, second) = (TriggerId(0), TriggerId(1));
    assert_eq!(
        flows,
        [
            (7, 0, 5, 100_000, Start::At(2_000_000)),
            (9, 1, 6, 4096, Start::At(1_500_000)),
            (8, 5, 0, 50_000, Start::Trigger(first)),
            (12, 6, 1, 1, Start::Trigger(second)),
        ]
    );
    assert_eq!(workload.flows[0].on_sent, Some(first));
    assert_eq!(workload.flows[1].on_received, Some(first));
    assert_eq!(workload.triggers[0].kind, TriggerKind::Barrier(2));
    assert_eq!(workload.triggers[1].kind, TriggerKind::OneShot);
    assert_eq!(workload.triggers[1].flows, [3]);

    let report = run_both(&clos(1, 4, ""), &workload, &Settings::default());
    let of = |id| {
        report
            .flow_results
            .iter()
            .find(|flow| flow.id == id)
            .unwrap()
    };
    assert_eq!(of(7).start_us, Some(2.0));
    let end = |id| of(id).start_us.unwrap() + of(id).fct_us.unwrap();
    let received = of(9).start_us.unwrap() + of(9).received_us.unwrap();
    assert_eq!(of(8).start_us, Some(end(7).max(received)));
    assert_eq!(of(12).start_us, Some(end(8)));
}

#[test]
fn a_trigger_of_many_shots_starts_its_flows_one_by_one() {
    let text = "Nodes 4\nConnections 4\n0->1 id 1 start 0 size 1000 send_done_trigger 5\n0->2 id 2 trigger 5 size 1000 send_done_trigger 5\n\
        0->3 id 3 trigger 5 size 1000 send_done_trigger 5\n1->2 id 4 start 900000000 size 9\ntrigger id 5 multishot\n";
    let workload = read_connection_matrix("m.cm", text, 4).unwrap();
    let report = run_both(&clos(1, 2, ""), &workload, &Settings::default());
    let flows = &report.flow_results;
    for pair in flows[..3].windows(2) {
        let end = pair[0].start_us.unwrap() + pair[0].fct_us.unwrap();
        assert_eq!(pair[1].start_us, Some(end));
    }
    assert_eq!(flows[3].start_us, Some(900.0));
}

#[test]
fn a_conweave_file_has_starts_in_seconds() {
    let text = "2\n0 3 3 1000 2.000012\n2 1 3 70000 0.5\n";
    let workload = read_conweave_flows("f.txt", text, 4).unwrap();
    let flows: Vec<_> = workload
        .flows
        .iter()
        .map(|flow| (flow.id, flow.src, flow.dst, flow.bytes, flow.start))
        .collect();
    assert_eq!(
        flows,
        [
            (1, HostId(0), HostId(3), 1000, Start::At(2_000_012_000_000)),
            (2, HostId(2), HostId(1), 70_000, Start::At(500_000_000_000)),
        ]
    );
}

const TWO_TIERS: &str = "# two tiers
Nodes 8
Tiers 2
Podsize 8

Tier 0
Downlink_speed_Gbps 200
Radix_Down 4
Radix_Up 4
Queue_Up 100000
Downlink_Latency_ns 500
Switch_Latency_ns 300

Tier 1
Downlink_speed_Gbps 400
Radix_Down 4
Bundle 2
Queue_Down 100000
Downlink_Latency_ns 700
";

#[test]
fn a_fat_tree_of_two_tiers_has_bundles() {
    let topology = read_fat_tree("t.topo", TWO_TIERS, &FatTreeSettings::default()).unwrap();
    assert_eq!((topology.hosts().len(), topology.switches().len()), (8, 4));
    assert_eq!(topology.links().len(), 8 + 2 * 4);
    let uplink = topology.link("tor1-agg1.1").unwrap();
    let params = &topology.links()[uplink.0 as usize].params;
    assert_eq!(
        (params.rate_mbps, params.delay_ps, params.queue_bytes),
        (400_000, 700_000, 100_000)
    );
    let host = topology.uplink(HostId(5), 0).unwrap();
    assert_eq!(
        topology.ends(host).1,
        Node::Switch(topology.switch("tor1").unwrap())
    );
    assert_eq!(topology.switches()[0].latency, 300_000);
    let matrix = read_connection_matrix("m.cm", MATRIX, 8).unwrap();
    let report = run_both(&topology, &matrix, &Settings::default());
    assert_eq!(report.flows.finished, 4);
}

#[test]
fn a_fat_tree_of_three_tiers_connects_all_pods() {
    // k = 4: 16 hosts, 4 pods of 2 + 2 switches, 4 core switches.
    let mut text = String::from("Nodes 16\nTiers 3\nPodsize 4\n");
    for tier in 0..3 {
        text += &format!("Tier {tier}\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1000\n");
        text += [
            "Radix_Down 2\nRadix_Up 2\n",
            "Radix_Down 2\nRadix_Up 2\n",
            "Radix_Down 4\n",
        ][tier];
    }
    let topology = read_fat_tree("t.topo", &text, &FatTreeSettings::default()).unwrap();
    assert_eq!(
        (topology.hosts().len(), topology.switches().len()),
        (16, 20)
    );
    assert_eq!(topology.links().len(), 16 + 16 + 16);
    let flows = sim_cluster::workload::permutation(&topology, None, 100_000, 1).unwrap();
    let report = run_both(&topology, &flows, &Settings::default());
    assert_eq!(report.flows.finished, 16);
    assert_eq!(report.uplinks.count, 16);
}
