//! Path MTU 8,192 between two Verilated cards: payloads that lie in three pages of 4 KiB at both ends, over MRC with loss and over RC.

use sim_nic::{chosen_shape, host_ports, RtlNic};
use sim_world::pair::{connect, FIRST_QP, RECEIVER, SENDER};
use sim_world::report::Report;
use sim_world::transfer::{LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{verify, Plan, RegionSpec, TransportPlan, Write};
use stellar_transport::rx::{Owner, PageSize};

const MTU_LOG2: u8 = 13;
/// Simulated time after which a run fails, in picoseconds: 10 ms.
const TIMEOUT_PS: u64 = 10_000_000_000;

/// Runs a transfer and checks memory and completions.
fn run(transport: Option<TransportPlan>, loss: f64, lengths: &[u32]) -> Report {
    let lossy = (loss > 0.0).then_some(("p0.leaf0-spine0", loss));
    let topology = host_ports(chosen_shape())
        .lossy_topology(LEAF_SPINE_FILE, LEAF_SPINE, lossy)
        .expect("a topology");
    let mut plan = Plan::new(topology, 3).expect("a plan");
    plan.mtu_log2 = MTU_LOG2;
    plan.transport = transport.unwrap_or(plan.transport);
    let mut world = connect::<RtlNic>(&plan).expect("a world");
    // Neither address is a multiple of 4 KiB, nor of what PCIe cuts at, so that every full packet has bytes in three pages.
    let spec = |owner, skew| RegionSpec {
        owner,
        length: lengths.iter().map(|&length| u64::from(length)).sum(),
        page_size: PageSize::Size4K,
        skew,
    };
    let local = world
        .register(SENDER, spec(Owner::Host, 77))
        .expect("memory");
    let remote = world
        .register(RECEIVER, spec(Owner::Gpu, 2_051))
        .expect("memory");
    let mut offset = 0;
    for &length in lengths {
        world
            .post(Write {
                from: SENDER,
                to: RECEIVER,
                qp: FIRST_QP,
                local: (local, offset),
                remote: (remote, offset),
                length,
                immediate: None,
            })
            .expect("room");
        offset += u64::from(length);
    }
    world.run(TIMEOUT_PS).expect("an end");
    let verified = verify(&world).expect("every byte where it belongs");
    Report::of(&plan, &mut world, verified)
}

/// Lengths around multiples of the MTU, and their packets.
const LENGTHS: [(u32, u64); 7] = [
    (8 * 8_192 + 1, 9),
    (8_191, 1),
    (8_192, 1),
    (8_193, 2),
    (0, 1),
    (1, 1),
    (3 * 8_192, 3),
];

#[test]
fn a_mebibyte_crosses_a_fabric_with_loss() {
    let report = run(None, 0.05, &[(1 << 20) + 1]);
    assert_eq!(report.mtu, 8_192);
    let requester = report.requester;
    assert!(requester.retransmissions > 0, "nothing was lost");
    assert_eq!(requester.packets - requester.retransmissions, 129);
}

#[test]
fn messages_end_at_every_side_of_a_packet() {
    let (lengths, packets): (Vec<_>, Vec<_>) = LENGTHS.into_iter().unzip();
    for transport in [None, Some(TransportPlan::Rc)] {
        let requester = run(transport, 0.0, &lengths).requester;
        assert_eq!(requester.retransmissions, 0);
        assert_eq!(requester.packets, packets.iter().sum::<u64>());
    }
}
