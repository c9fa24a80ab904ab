//! Losses behind which nothing was sent: a probe asks for them before the timer expires, or the lowest packet is sent again at once; the answer tells which packets are lost.

use stellar_transport::requester::RequesterCounters;
use stellar_transport::time::Ticks;

use crate::core::lockstep::Bench;
use crate::core::path_feedback::{deliver, post, QP, REGISTERS};

/// A packet counts as lost early from 3 PSNs on; the timeout is 40 us.
const EARLY: u64 = REGISTERS | 2 << 22;
/// The same with oblivious spraying, which keeps all paths.
const OBLIVIOUS: u64 = EARLY | 1;

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

/// Sends a message of which nothing arrives, and lets its tail be found: within two round trips, and not half of the timeout.
fn lose_a_message(bench: &mut Bench) {
    let began = bench.now;
    send(bench);
    bench.pairs[QP].flying.clear();
    expire(bench);
    let took = bench.now.since(began);
    assert!(took.0 < 400, "{took:?}");
}

/// Sends the packets of the message again.
fn send_again(bench: &mut Bench) {
    for _ in 0..7 {
        for port in [0, 1] {
            bench.transmit(QP, port);
        }
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
    lose_a_message(&mut bench);
    assert_eq!(counters(&bench).probes, 1);
    bench.now = bench.now.plus(Ticks(100));
    deliver(&mut bench);
    assert_eq!(counters(&bench).early_losses, 7);
    send_again(&mut bench);
    bench.now = bench.now.plus(Ticks(100));
    deliver(&mut bench);
    let counters = counters(&bench);
    assert_eq!((counters.retransmissions, counters.timeouts), (7, 0));
    bench.compare_counters();
}

#[test]
fn the_lowest_packet_is_sent_again_without_a_probe_if_all_paths_are_kept() {
    let mut bench = settled(OBLIVIOUS);
    lose_a_message(&mut bench);
    let found = counters(&bench);
    assert_eq!(
        (found.probes, found.early_losses, found.retransmissions),
        (0, 1, 1)
    );
    // Its answer tells which of the others are lost.
    bench.now = bench.now.plus(Ticks(100));
    deliver(&mut bench);
    assert_eq!(counters(&bench).early_losses, 7);
    // They are lost again: a probe asks.
    send_again(&mut bench);
    bench.pairs[QP].flying.clear();
    expire(&mut bench);
    assert_eq!(counters(&bench).probes, 1);
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

/// Nothing of the packet arrives, and the answers to probes show that before its timeout.
#[test]
fn a_packet_that_is_found_lost_each_time_fails_the_queue_pair() {
    for registers in [EARLY, OBLIVIOUS] {
        let mut bench = settled(registers);
        send(&mut bench);
        bench.pairs[QP].flying.clear();
        let began = bench.now;
        while bench.pairs[QP].reference.error().is_none() {
            expire(&mut bench);
            // The probe arrives, and no data.
            bench.pairs[QP]
                .flying
                .retain(|sent| sent.probe_id.is_some());
            bench.now = bench.now.plus(Ticks(100));
            deliver(&mut bench);
            for port in [0, 1, 0, 1] {
                bench.transmit(QP, port);
            }
            bench.pairs[QP]
                .flying
                .retain(|sent| sent.probe_id.is_some());
            assert!(bench.now.since(began).0 < Ticks::from_us(400).0);
        }
        assert_eq!(counters(&bench).timeouts, 0);
        bench.compare_counters();
    }
}
