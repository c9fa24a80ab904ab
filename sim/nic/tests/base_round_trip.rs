//! The base round trip that worlds configure congestion control with is what lone packets see, of RTL and of the reference.

use sim_nic::{chosen_shape, host_ports, RtlNic};
use sim_world::pair::base_round_trip;
use sim_world::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{NicKind, Plan, ReferenceNic};

/// Longest round trip of packets that are alone, and the base round trip; in picoseconds.
fn round_trips<N: NicKind>(mtu_log2: u8, read_latency: u64) -> (u64, u64) {
    let ports = host_ports(chosen_shape());
    let topology = ports
        .topology(LEAF_SPINE_FILE, LEAF_SPINE)
        .expect("a topology");
    let mut plan = Plan::new(topology, 5).expect("a plan");
    plan.mtu_log2 = mtu_log2;
    plan.pcie.reads.latency = read_latency;
    let lone = Transfer {
        bytes: 1 << mtu_log2,
        messages: 4,
        immediates: false,
        interval: 20_000_000,
        limit: 1_000_000_000,
    };
    let run = run::<N>(&plan, lone).expect("an end");
    let samples = run.world.record().samples().iter();
    let seen = samples.map(|sample| sample.rtt).max();
    (
        seen.expect("samples"),
        base_round_trip::<N>(&plan).expect("a way there and back"),
    )
}

#[test]
fn it_is_that_of_a_lone_packet() {
    for read_latency in [600_000, 1_500_000] {
        for mtu_log2 in [8, 10, 12, 13] {
            for (seen, base) in [
                round_trips::<RtlNic>(mtu_log2, read_latency),
                round_trips::<ReferenceNic>(mtu_log2, read_latency),
            ] {
                assert!(
                    seen.abs_diff(base) * 100 < base,
                    "MTU {}, reads of {read_latency} ps: {seen} ps seen, {base} ps expected",
                    1 << mtu_log2
                );
            }
        }
    }
}
