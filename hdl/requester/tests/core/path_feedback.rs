//! What NACKs, probes and ports that go down tell about paths. Random histories hardly reach these cases in a state in which they matter.

use stellar_transport::spray::PlaneMask;
use stellar_transport::time::Ticks;
use stellar_wire::host::{Wqe, WqeOpcode};

use crate::core::lockstep::Bench;
use crate::core::setup::LKEY;

pub const QP: usize = 0;
/// Registers of an MRC queue pair that keeps states of entropy values: 16 paths, MTU 256, a skip lasts for one turn, 3 retries, no early loss detection.
pub const REGISTERS: u64 = 1 << 16 | 1 << 17 | 3 << 20;
/// Rings the doorbell with the right producer index.
const RINGS: u64 = 1 << 50;

/// Posts a message of this number of packets.
pub fn post(bench: &mut Bench, packets: u32) {
    let entry = Wqe {
        opcode: WqeOpcode::Write,
        slot: bench.pairs[QP].producer,
        length: packets * 256,
        local_va: 0x10_0000,
        lkey: LKEY,
        ..Wqe::default()
    };
    assert!(bench.place(QP, entry.to_long_bytes()), "the ring has space");
    bench.ring(QP, RINGS);
}

/// Delivers what is in flight.
pub fn deliver(bench: &mut Bench) {
    while !bench.pairs[QP].flying.is_empty() {
        bench.deliver_mrc(QP, 1 << 21 | 1 << 25 | 5 << 28);
    }
}

#[test]
fn a_trim_on_the_way_skips_the_path_and_one_at_the_last_hop_does_not() {
    // The dice of NACKs with reasons 1 and 2.
    for reason in [10, 1] {
        let mut bench = Bench::new(REGISTERS);
        for _ in 0..20 {
            post(&mut bench, 7);
            for port in [0, 1, 0, 1] {
                bench.transmit(QP, port);
            }
            bench.refuse_mrc(QP, reason);
            bench.pairs[QP].flying.remove(0);
            for port in [1, 0, 1] {
                bench.transmit(QP, port);
            }
            deliver(&mut bench);
            bench.now = bench.now.plus(Ticks(100));
        }
        let counters = *bench.pairs[QP].reference.counters();
        assert_eq!((counters.nacks_trimmed, counters.retransmissions), (20, 20));
        bench.compare_counters();
    }
}

/// All packets are late, so both planes have values that are assumed bad. The first one to be probed waits for port 0.
pub fn with_probe_for_port_0() -> Bench {
    let mut bench = Bench::new(REGISTERS);
    post(&mut bench, 40);
    for port in [0, 1, 0, 1] {
        bench.transmit(QP, port);
    }
    bench.act(55, 0);
    bench.transmit(QP, 1);
    assert_eq!(bench.pairs[QP].reference.counters().probes, 0);
    bench
}

#[test]
fn a_probe_whose_plane_goes_down_is_dropped() {
    let mut bench = with_probe_for_port_0();
    bench.set_planes(PlaneMask::only(1));
    for _ in 0..3 {
        bench.now = bench.now.plus(Ticks::from_us(6));
        bench.transmit(QP, 1);
    }
    assert!(bench.pairs[QP].reference.counters().probes >= 2);
    // The one that was dropped comes again when its plane is back.
    bench.set_planes(PlaneMask::BOTH);
    for port in [0, 1, 0, 1] {
        bench.now = bench.now.plus(Ticks::from_us(6));
        bench.transmit(QP, port);
    }
    bench.compare_counters();
}
