//! A queue pair that changes its path: the probes before, and the time without data.

use stellar_transport::requester::Requester;
use stellar_transport::spray::EvIndex;
use stellar_transport::time::Ticks;

use crate::core::lockstep::Bench;
use crate::core::path_feedback::{deliver, post, QP, REGISTERS};
use crate::core::setup::BASE_RTT;

/// Hopper, and no early loss detection.
const HOPPER: u64 = REGISTERS | 1 << 63;

fn home(bench: &Bench) -> EvIndex {
    match &bench.pairs[QP].reference {
        Requester::Mrc(mrc) => mrc.spray().home(),
        Requester::Rc(_) => panic!("it uses MRC"),
    }
}

fn packets(bench: &Bench) -> u64 {
    bench.pairs[QP].reference.counters().packets
}

fn transmit(bench: &mut Bench) {
    for port in [0, 1].repeat(4) {
        bench.transmit(QP, port);
    }
}

/// Sends a message that is acknowledged after this number of ticks. Probes are answered after half of the base round trip.
fn round_trip(bench: &mut Bench, ticks: u32) {
    post(bench, 7);
    transmit(bench);
    let flying = &mut bench.pairs[QP].flying;
    let (probes, data): (Vec<_>, Vec<_>) =
        flying.drain(..).partition(|sent| sent.probe_id.is_some());
    let wait = BASE_RTT / 2;
    bench.now = bench.now.plus(Ticks(wait));
    bench.pairs[QP].flying = probes;
    deliver(bench);
    bench.now = bench.now.plus(Ticks(ticks - wait));
    bench.pairs[QP].flying = data;
    deliver(bench);
}

#[test]
fn a_slow_path_is_left_for_one_that_was_probed_and_no_data_leaves_meanwhile() {
    let mut bench = Bench::new(HOPPER);
    let first = home(&bench);
    round_trip(&mut bench, BASE_RTT);
    assert_eq!(bench.pairs[QP].reference.counters().probes, 0);
    round_trip(&mut bench, 2 * BASE_RTT);
    round_trip(&mut bench, 2 * BASE_RTT);
    let probes = bench.pairs[QP].reference.counters().probes;
    assert!(probes >= 2, "{probes} probes of other paths");
    assert_eq!(
        home(&bench),
        first,
        "two base round trips are no reason to change"
    );

    round_trip(&mut bench, 4 * BASE_RTT);
    let (before, decided) = (packets(&bench), bench.now);
    post(&mut bench, 7);
    transmit(&mut bench);
    assert_eq!(packets(&bench), before, "data during the delay");
    assert_eq!(home(&bench), first);
    // The timer ends the delay, which is the longest one.
    let until = decided.plus(Ticks(2 * BASE_RTT));
    assert_eq!(bench.pairs[QP].reference.deadline(), Some(until));
    bench.now = until.since(Ticks(1));
    transmit(&mut bench);
    assert_eq!(packets(&bench), before, "data before the end of the delay");
    bench.now = until;
    bench.act(55, 0);
    transmit(&mut bench);
    assert_eq!(packets(&bench), before + 7);
    assert_ne!(home(&bench), first);
    bench.compare_counters();
}

#[test]
fn a_timeout_ends_the_delay() {
    let mut bench = Bench::new(HOPPER);
    for round_trips in [1, 2, 2] {
        round_trip(&mut bench, round_trips * BASE_RTT);
    }
    post(&mut bench, 7);
    transmit(&mut bench);
    round_trip(&mut bench, 4 * BASE_RTT);
    post(&mut bench, 7);
    let before = packets(&bench);
    bench.now = bench.now.plus(Ticks::from_us(40));
    bench.act(55, 0);
    transmit(&mut bench);
    assert!(packets(&bench) > before);
    deliver(&mut bench);
    bench.compare_counters();
}
