//! A plane that does not answer, although the own port is up: new packets leave it, and a probe brings it back.

use stellar_transport::requester::RequesterCounters;
use stellar_transport::spray::PlaneMask;
use stellar_transport::time::Ticks;

use crate::core::lockstep::Bench;
use crate::core::path_feedback::{deliver, post, QP, REGISTERS};

/// Oblivious spraying.
pub const OBLIVIOUS: u64 = REGISTERS | 1;

pub fn counters(bench: &Bench) -> RequesterCounters {
    *bench.pairs[QP].reference.counters()
}

/// Drops what is in flight on plane 1.
fn swallow(bench: &mut Bench) {
    let flying = &mut bench.pairs[QP].flying;
    flying.retain(|packet| packet.entropy.0 & 1 == 0);
}

/// Sends two messages, of which plane 1 carries one, and finds that plane silent.
pub fn silenced() -> Bench {
    let mut bench = Bench::new(OBLIVIOUS);
    post(&mut bench, 32);
    post(&mut bench, 32);
    assert!(bench.transmit(QP, 0) && bench.transmit(QP, 1));
    swallow(&mut bench);
    deliver(&mut bench);
    bench.act(55, 0);
    assert_eq!(counters(&bench).timeouts, 32);
    bench
}

#[test]
fn data_packets_leave_a_silent_plane_and_return_when_a_probe_is_answered() {
    let mut bench = silenced();
    // All retransmissions leave by plane 0.
    let mut sent = 0;
    while counters(&bench).retransmissions < 32 {
        assert!(!bench.transmit(QP, 1));
        bench.transmit(QP, 0);
        deliver(&mut bench);
        sent += 1;
        assert!(sent < 200, "retransmissions wait");
    }
    // So do new packets.
    bench.now = bench.now.plus(Ticks(1000));
    post(&mut bench, 7);
    assert!(!bench.transmit(QP, 1));
    assert!(bench.transmit(QP, 0));
    // The timer of a packet that was acknowledged asks plane 1.
    bench.act(55, 0);
    bench.transmit(QP, 1);
    assert_eq!(counters(&bench).probes, 1);
    deliver(&mut bench);
    post(&mut bench, 7);
    assert!(bench.transmit(QP, 1));
    deliver(&mut bench);
    bench.compare_counters();
}

#[test]
fn a_silent_plane_is_used_if_the_other_one_goes_down() {
    let mut bench = silenced();
    bench.set_planes(PlaneMask::only(1));
    assert!(bench.transmit(QP, 1));
    bench.set_planes(PlaneMask::BOTH);
    bench.compare_counters();
}
