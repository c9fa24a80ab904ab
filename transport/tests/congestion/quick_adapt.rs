//! Tests of quick adapt and its effects.

use stellar_transport::congestion::AckSample;
use stellar_transport::time::Ticks;

use crate::congestion::path::{Path, BASE, ETA, MAX, MTU, Q};

#[test]
fn quick_adapt_falls_to_what_was_achieved() {
    let mut path = Path::new();
    // 5 packets get through in a period, with delays above four targets.
    for _ in 0..5 {
        assert_eq!(path.ack(MTU, 4 * Q + 1, false, 10), MAX);
    }
    assert_eq!(path.ack(MTU, 4 * Q + 1, false, BASE + Q), 6 * MTU + ETA);
}

#[test]
fn quick_adapt_needs_congestion_little_achieved_and_a_whole_period() {
    // A delay of exactly four targets is not above.
    let mut path = Path::new();
    path.ack(MTU, 4 * Q, true, 10);
    assert!(path.ack(MTU, 4 * Q, true, BASE + Q) > MAX / 3);

    // An eighth of the largest window was achieved.
    let mut path = Path::new();
    path.ack(MAX / 8, 5 * Q, true, 10);
    assert!(path.ack(0, 5 * Q, true, BASE + Q) > MAX / 3);

    // One tick short of a period.
    let mut path = Path::new();
    assert!(path.ack(MTU, 5 * Q, false, BASE + Q - 1) > MAX / 3);
    assert_eq!(path.ack(MTU, 5 * Q, false, 1), 2 * MTU);
}

#[test]
fn a_loss_makes_quick_adapt_act_without_delay_and_only_in_its_period() {
    let mut path = Path::new();
    path.nscc.on_loss(MTU);
    assert_eq!(path.nscc.cwnd(), MAX - MTU, "a loss takes its bytes");
    assert_eq!(path.ack(3 * MTU, Q / 2, false, BASE + Q), 3 * MTU + ETA);
    let grown = path.ack(MTU, Q / 2, false, BASE + Q);
    assert!(grown >= 3 * MTU, "the loss is forgotten");
}

#[test]
fn marks_of_bytes_in_flight_at_a_quick_adapt_are_ignored() {
    let mut path = Path::new();
    for _ in 0..400 {
        path.ack(1, 5 * Q, true, 0);
    }
    path.now = path.now.plus(Ticks(BASE + Q));
    let in_flight = 10 * MTU;
    let sample = AckSample {
        acked_bytes: 8 * MTU,
        rtt: Some(Ticks(BASE + 5 * Q)),
        ecn: true,
        in_flight,
    };
    path.nscc.on_ack(sample, path.now);
    let adapted = path.nscc.cwnd();
    assert!(
        (8 * MTU..9 * MTU).contains(&adapted),
        "quick adapt to {adapted}"
    );
    for _ in 0..10 {
        assert!(
            path.ack(MTU, 3 * Q, true, 110) >= adapted,
            "marks of old bytes"
        );
    }
    let before = path.nscc.cwnd();
    assert!(
        path.ack(MTU, 3 * Q, true, BASE) < before,
        "a mark of new bytes"
    );
}
