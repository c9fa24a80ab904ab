//! Two Verilated NICs on a fabric.

use sim_nic::{chosen_shape, host_ports, RtlNic};
use sim_world::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{Plan, TransportPlan};

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
