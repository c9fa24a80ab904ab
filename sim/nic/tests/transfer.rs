//! Two Verilated NICs on a fabric.

use sim_nic::{chosen_shape, host_ports, RtlNic};
use sim_world::pair::SENDER;
use sim_world::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{EntropyPlan, MrcPlan, Plan, TransportPlan};

/// Retransmissions on a fabric without loss.
fn sent_again(transport: Option<TransportPlan>) -> u64 {
    let ports = host_ports(chosen_shape());
    let topology = ports.topology(LEAF_SPINE_FILE, LEAF_SPINE).unwrap();
    let mut plan = Plan::new(topology, 1).unwrap();
    plan.transport = transport.unwrap_or(plan.transport);
    let run = run::<RtlNic>(
        &plan,
        Transfer {
            limit: 2_000_000_000,
            ..Transfer::whole(64 << 10)
        },
    )
    .unwrap();
    run.report.requester.retransmissions
}

#[test]
fn a_write_crosses_the_fabric_byte_by_byte() {
    assert_eq!(sent_again(None), 0);
}

#[test]
fn a_write_over_rc_crosses_the_fabric_byte_by_byte() {
    assert_eq!(sent_again(Some(TransportPlan::Rc)), 0);
}

/// Packets with another value would count on no path.
#[test]
fn packets_of_a_card_have_the_entropy_values_that_are_listed() {
    let ports = host_ports(chosen_shape());
    let topology = ports.topology(LEAF_SPINE_FILE, LEAF_SPINE).unwrap();
    let mut plan = Plan::new(topology, 1).unwrap();
    plan.transport = TransportPlan::Mrc(MrcPlan {
        paths: 4,
        ..MrcPlan::default()
    });
    plan.entropy = EntropyPlan::Explicit(vec![0x4000, 0x9123, 0x4777, 0x8001]);
    plan.first_qp = 5;
    let run = run::<RtlNic>(&plan, Transfer::whole(16 << plan.mtu_log2)).unwrap();
    let loads = &run.report.path_loads[..4];
    assert_eq!(loads.iter().sum::<u64>(), 16, "{loads:?}");
    // Odd paths belong to port 1.
    let mut of_ports = loads.iter().step_by(3 - ports.count);
    assert!(of_ports.all(|&load| load > 0), "{loads:?}");
}

/// Page walks of the sender's IOMMU while its card executes 256 messages of one list: 16 KiB of send queue, and 8 KiB of completion queue.
fn walks(large_pages: bool) -> u64 {
    let ports = host_ports(chosen_shape());
    let topology = ports.topology(LEAF_SPINE_FILE, LEAF_SPINE).unwrap();
    let mut plan = Plan::new(topology, 1).unwrap();
    plan.sq_log2 = 8;
    plan.pcie.iommu.large_pages = large_pages;
    let transfer = Transfer {
        bytes: 8,
        messages: 256,
        immediates: false,
        interval: 0,
        limit: 2_000_000_000,
    };
    let run = run::<RtlNic>(&plan, transfer).unwrap();
    assert_eq!(run.report.requester.packets, 256);
    run.world.host(SENDER).nic().iommu_counters().iotlb_misses
}

/// Without large pages, each page of 4 KiB of a ring is walked for.
#[test]
fn rings_are_in_large_pages_if_the_iommu_has_them() {
    let [large, small] = [true, false].map(walks);
    assert_eq!(small - large, 3 + 1, "{small} and {large} walks");
}
