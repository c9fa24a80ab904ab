//! IPv4, IPv6 and source routes, between two Verilated cards and between two references.

use sim_net::Topology;
use sim_nic::RtlNic;
use sim_world::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{Addressing, MrcPlan, NicKind, Plan, ReferenceNic, TransportPlan};

/// Three rounds of 128 paths.
const PACKETS: u32 = 3 * 128;

/// Number of data packets on each uplink of the sender's leaves: 8 of plane 0, 8 of plane 1.
fn uplinks<N: NicKind>(addressing: Addressing, transport: TransportPlan) -> Vec<u64> {
    let topology = Topology::from_toml(LEAF_SPINE_FILE, LEAF_SPINE).expect("the topology");
    let mut plan = Plan::new(topology, 7).expect("a plan");
    plan.addressing = addressing;
    plan.transport = transport;
    // 1,024 bytes, because 128 packets of 4,096 bytes are more than the window of an idle fabric.
    plan.mtu_log2 = 10;
    let run = run::<N>(&plan, Transfer::whole(PACKETS << plan.mtu_log2)).expect("a run");
    assert_eq!(run.report.requester.retransmissions, 0);
    let fabric = run.world.fabric();
    let sent = |name: String| {
        let link = fabric.topology().link(&name).expect("a link");
        let stats = fabric.stats(link.forward()).expect("its counters");
        stats.sent_frames
    };
    (0..2)
        .flat_map(|plane| (0..8).map(move |spine| format!("p{plane}.leaf0-spine{spine}")))
        .map(sent)
        .collect()
}

fn sprayed<N: NicKind>(addressing: Addressing) -> Vec<u64> {
    uplinks::<N>(addressing, TransportPlan::Mrc(MrcPlan::default()))
}

#[test]
fn with_source_routes_every_spine_carries_the_same() {
    let even = vec![u64::from(PACKETS) / 16; 16];
    assert_eq!(sprayed::<ReferenceNic>(Addressing::Srv6), even);
    assert_eq!(sprayed::<RtlNic>(Addressing::Srv6), even);
}

#[test]
fn addresses_alone_leave_it_to_the_hash_of_the_switches() {
    for addressing in [Addressing::Ipv4, Addressing::Ipv6] {
        // The number of packets on each plane depends on the pace of the ports, so card and reference may differ.
        for carried in [
            sprayed::<RtlNic>(addressing),
            sprayed::<ReferenceNic>(addressing),
        ] {
            assert_eq!(carried.iter().sum::<u64>(), u64::from(PACKETS));
            let (least, most) = (carried.iter().min(), carried.iter().max());
            assert!(least < most, "{addressing:?}: {carried:?}");
        }
    }
}

#[test]
fn a_reliable_connection_keeps_to_the_spine_its_port_names() {
    let carried = uplinks::<RtlNic>(Addressing::Srv6, TransportPlan::Rc);
    let used: Vec<u64> = carried
        .iter()
        .copied()
        .filter(|&frames| frames > 0)
        .collect();
    assert_eq!(used, [u64::from(PACKETS)], "{carried:?}");
    assert_eq!(
        carried,
        uplinks::<ReferenceNic>(Addressing::Srv6, TransportPlan::Rc)
    );
}
