//! Losses behind which nothing was sent: a probe asks for them before the timer expires, and its answer tells which packets are lost.

use stellar_transport::requester::RequesterCounters;
use stellar_transport::time::Ticks;

use crate::core::lockstep::Bench;
use crate::core::path_feedback::{deliver, post, QP, REGISTERS};

/// A packet counts as lost early from 3 PSNs on; the timeout is 40 us.
const EARLY: u64 = REGISTERS | 2 << 22;

/// A queue pair that knows its round trip: messages were answered after 100 ticks.
fn settled(registers: u64) -> Bench {
    let mut bench = Bench::new(registers);
    for _ in 0..20 {
        send(&mut bench);
        bench.now = bench.now.plus(Ticks(100));
        deliver(&mut bench);
    }
    bench
}

/// Sends a message of 7 packets.
fn send(bench: &mut Bench) {
    post(bench, 7);
    for port in [0, 1, 0, 1] {
        bench.transmit(QP, port);
    }
}

/// Lets timers expire until one has an effect, and both ports send. The first one may be that of packets that have been acknowledged.
fn expire(bench: &mut Bench) {
    let before = counters(bench);
    for _ in 0..3 {
        bench.act(55, 0);
        for port in [0, 1] {
            bench.transmit(QP, port);
        }
        if counters(bench) != before {
            break;
        }
    }
}

fn counters(bench: &Bench) -> RequesterCounters {
    *bench.pairs[QP].reference.counters()
}

#[test]
fn a_probe_finds_losses_at_the_tail_before_the_timer() {
    let mut bench = settled(EARLY);
    assert_eq!(counters(&bench).probes, 0);
    let began = bench.now;
    send(&mut bench);
    bench.pairs[QP].flying.clear();
    expire(&mut bench);
    assert_eq!(counters(&bench).probes, 1);
    // Two round trips at most, and not half of the timeout.
    assert!(
        bench.now.since(began).0 < 400,
        "{:?}",
        bench.now.since(began)
    );
    bench.now = bench.now.plus(Ticks(100));
    deliver(&mut bench);
    assert_eq!(counters(&bench).early_losses, 7);
    for _ in 0..7 {
        for port in [0, 1] {
            bench.transmit(QP, port);
        }
    }
    bench.now = bench.now.plus(Ticks(100));
    deliver(&mut bench);
    let counters = counters(&bench);
    assert_eq!((counters.retransmissions, counters.timeouts), (7, 0));
    bench.compare_counters();
}

#[test]
fn probes_without_an_answer_wait_twice_as_long_each_time_and_end() {
    let mut bench = settled(EARLY);
    send(&mut bench);
    bench.pairs[QP].flying.clear();
    let sent = bench.now;
    let mut waits = vec![];
    while counters(&bench).timeouts == 0 {
        expire(&mut bench);
        waits.push(bench.now.since(sent).0);
        bench.pairs[QP].flying.clear();
        assert!(waits.len() < 20, "{waits:?}");
    }
    let probes = counters(&bench).probes as usize;
    assert!((3..8).contains(&probes), "{waits:?}");
    // The probes, and the timeout.
    assert_eq!(waits.last(), Some(&Ticks::from_us(40).0), "{waits:?}");
    bench.compare_counters();
}

#[test]
fn a_queue_pair_without_early_loss_detection_sends_no_probe() {
    let mut bench = settled(REGISTERS);
    send(&mut bench);
    bench.pairs[QP].flying.clear();
    expire(&mut bench);
    assert_eq!(counters(&bench).timeouts, 7);
    bench.compare_counters();
}
