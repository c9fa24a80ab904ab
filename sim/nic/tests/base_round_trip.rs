//! The base round trip that worlds configure congestion control with is what lone packets take, of RTL and of the reference. What congestion control sees begins at the departure of a packet.

use sim_nic::{chosen_shape, host_ports, RtlNic, CLOCK_PS};
use sim_world::pair::base_round_trip;
use sim_world::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{NicKind, Plan, ReferenceNic};

/// Cycles of a card from the selection of a packet to its departure, beside the read of its payload, which arrives a beat in a cycle.
const SELECTED_TO_READ: u64 = 59;

/// Time that a card takes from the selection of a packet of `payload` bytes to its departure, beside the latency of reads, in picoseconds.
fn card_sends(payload: usize) -> u64 {
    let beats = payload.div_ceil(chosen_shape().beat()) as u64;
    (SELECTED_TO_READ + beats) * CLOCK_PS
}

/// Longest round trip of packets that are alone, from selection to acknowledgement, and the base round trip; in picoseconds. A NIC takes `sends` from the selection to the departure, beside the read.
fn round_trips<N: NicKind>(mtu_log2: u8, read_latency: u64, sends: u64) -> (u64, u64) {
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
    let seen = samples.map(|sample| sample.rtt).max().expect("samples");
    let read = plan.pcie.reads.latency + plan.pcie.reads.transfer_time(1 << mtu_log2);
    (
        seen + read + sends,
        base_round_trip::<N>(&plan).expect("a way there and back"),
    )
}

#[test]
fn it_is_that_of_a_lone_packet() {
    for read_latency in [600_000, 1_500_000] {
        for mtu_log2 in [8, 10, 12, 13] {
            for (seen, base) in [
                round_trips::<RtlNic>(mtu_log2, read_latency, card_sends(1 << mtu_log2)),
                round_trips::<ReferenceNic>(mtu_log2, read_latency, 0),
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
