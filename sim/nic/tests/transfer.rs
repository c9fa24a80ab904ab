//! Two Verilated NICs on a fabric.

use sim_net::Topology;
use sim_nic::RtlNic;
use sim_world::transfer::{run, Transfer, LEAF_SPINE};
use sim_world::Plan;

#[test]
fn a_write_crosses_the_fabric_byte_by_byte() {
    let topology = Topology::from_toml("leaf_spine.toml", LEAF_SPINE).unwrap();
    let plan = Plan::new(topology, 1).unwrap();
    let run = run::<RtlNic>(
        &plan,
        Transfer {
            limit: 2_000_000_000,
            ..Transfer::whole(64 << 10)
        },
    )
    .unwrap();
    assert_eq!(run.report.requester.retransmissions, 0);
}
