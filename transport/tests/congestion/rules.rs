//! The rules of the window one by one.

use stellar_transport::congestion::{AckSample, Nscc, NsccParams};
use stellar_transport::time::Ticks;

use crate::congestion::path::{Path, BASE, ETA, MAX, MTU, Q};

#[test]
fn starts_at_the_largest_window() {
    assert_eq!(Path::new().nscc.cwnd(), MAX);
}

#[test]
fn unmarked_below_target_grows_in_proportion_to_the_distance() {
    let growth = |delay| {
        let mut path = Path::with_cwnd(100_000);
        let before = path.nscc.cwnd();
        f64::from(path.three_adjustments(delay, false) - before)
    };
    let (near, far) = (growth(900), growth(200));
    // Eight times as far; a little less, as the window it is divided by grows.
    assert!(
        (7.0..8.0).contains(&(far / near)),
        "growth {near} at 900 ticks, {far} at 200"
    );
    // alpha = 4 MTU * 4/3 / 1,500 ticks.
    let expected = 3.0 * (4.0 * 4096.0 * 4.0 / 3.0 / 1_500.0) * 100.0 * 8.0 * 4096.0 / 101_000.0;
    assert!(
        (near / expected - 1.0).abs() < 0.02,
        "growth {near}, expected about {expected}"
    );
}

#[test]
fn unmarked_above_target_grows_by_the_fair_increase() {
    let mut path = Path::with_cwnd(100_000);
    let mut expected = f64::from(path.nscc.cwnd());
    for _ in 0..3 {
        expected += 5.0 * 4096.0 * (4.0 / 3.0) * 8.0 * 4096.0 / expected;
    }
    let cwnd = f64::from(path.three_adjustments(2 * Q, false));
    assert!(
        (cwnd / expected - 1.0).abs() < 0.003,
        "{cwnd}, expected about {expected}"
    );
}

#[test]
fn marked_above_target_shrinks_once_per_round_trip() {
    let mut path = Path::new();
    // The average has to pass the target first.
    let first = loop {
        let cwnd = path.ack(MTU, 3 * Q, true, 1);
        if path.nscc.average_delay().0 >= Q {
            break cwnd;
        }
        assert_eq!(cwnd, MAX, "no decrease below target");
    };
    assert!(first < MAX, "decreases");
    for _ in 0..7 {
        // The window grew only as `adjust` permits, and no increase was collected.
        assert_eq!(
            path.ack(MTU, 3 * Q, true, 1),
            first,
            "not again within the round trip"
        );
    }
    assert!(path.ack(MTU, 3 * Q, true, BASE) < first);
}

#[test]
fn one_decrease_takes_at_most_half() {
    let mut path = Path::new();
    // The delay stays below that of quick adapt, which is another rule.
    for _ in 0..1_000 {
        path.ack(1, 4 * Q, true, 0);
    }
    assert!(path.nscc.average_delay().0 > 3 * Q, "far above target");
    let before = path.ack(1, 4 * Q, true, 0);
    let after = path.ack(MTU, 4 * Q, true, BASE);
    assert!(
        after >= before / 2 && after <= before / 2 + ETA + 1,
        "{before} to {after}"
    );
}

#[test]
fn marked_below_target_changes_nothing_but_the_steady_increase() {
    let mut path = Path::with_cwnd(100_000);
    let before = path.nscc.cwnd();
    for _ in 0..100 {
        assert_eq!(path.ack(7, Q - 1, true, 1), before);
    }
    let after = path.ack(7, Q - 1, true, BASE);
    assert_eq!(after - before, ETA);
}

#[test]
fn an_idle_path_speeds_up_after_more_than_a_window() {
    let mut path = Path::with_cwnd(100_000);
    let mut acked = 0;
    let mut steps = Vec::new();
    let mut before = path.nscc.cwnd();
    // No adjustment in between: every SACK within a tick, and `adjust_bytes` is eight packets.
    for _ in 0..60 {
        acked += MTU;
        let after = path.ack(MTU, 0, false, 0);
        steps.push((acked, after - before));
        before = after;
    }
    let fast: Vec<_> = steps
        .iter()
        .filter(|(_, step)| *step == MTU / 3 || *step == MTU / 3 + 1)
        .collect();
    assert!(
        fast.len() > 5,
        "fast increase of a third of what is acknowledged: {steps:?}"
    );
    assert!(
        fast.iter().all(|(acked, _)| *acked > 100_000),
        "only after a window: {steps:?}"
    );
    // A delay of 1 us restarts the count.
    path.ack(MTU, 125, false, 0);
    let before = path.nscc.cwnd();
    assert!(path.ack(MTU, 0, false, 0) - before != MTU / 3);
}

#[test]
fn without_a_round_trip_only_the_bytes_count() {
    let mut path = Path::with_cwnd(100_000);
    let (before, average) = (path.nscc.cwnd(), path.nscc.average_delay());
    for ecn in [false, true] {
        for _ in 0..20 {
            let sample = AckSample {
                acked_bytes: MTU,
                rtt: None,
                ecn,
                in_flight: 0,
            };
            path.nscc.on_ack(sample, path.now);
        }
    }
    assert_eq!(
        (path.nscc.cwnd(), path.nscc.average_delay()),
        (before, average)
    );
}

#[test]
fn the_base_round_trip_is_the_smallest_seen() {
    let mut path = Path::new();
    path.nscc.on_ack(
        AckSample {
            acked_bytes: 1,
            rtt: Some(Ticks(800)),
            ecn: false,
            in_flight: 0,
        },
        Ticks(1),
    );
    assert_eq!(path.nscc.base_rtt(), Ticks(800));
    path.nscc.on_ack(
        AckSample {
            acked_bytes: 1,
            rtt: Some(Ticks(900)),
            ecn: false,
            in_flight: 0,
        },
        Ticks(2),
    );
    assert_eq!(path.nscc.base_rtt(), Ticks(800));
}

#[test]
fn a_round_trip_that_wrapped_is_no_sample() {
    let mut path = Path::new();
    let wrapped = Ticks(66_000).round_trip(0);
    assert_eq!(wrapped, Ticks(464));
    let mut path_of_100_us = Nscc::new(
        &NsccParams::from_path(Ticks(12_500), 100, MTU, false).expect("a long path"),
        Ticks(0),
    );
    let sample = |rtt| AckSample {
        acked_bytes: MTU,
        rtt: Some(rtt),
        ecn: false,
        in_flight: 0,
    };
    path_of_100_us.on_ack(sample(wrapped), Ticks(66_000));
    assert_eq!(
        path_of_100_us.base_rtt(),
        Ticks(12_500),
        "below a quarter of the base"
    );
    path.nscc.on_ack(sample(Ticks(250)), Ticks(0));
    assert_eq!(path.nscc.base_rtt(), Ticks(250), "a quarter of the base");
}

#[test]
fn one_packet_may_leave_whatever_the_window() {
    let mut path = Path::new();
    path.nscc.on_loss(u32::MAX);
    let cwnd = path.nscc.cwnd();
    assert_eq!(cwnd, MTU, "never below one packet");
    assert!(path.nscc.may_send(0, 8192));
    assert!(!path.nscc.may_send(1, cwnd));
    assert!(path.nscc.may_send(1, cwnd - 1));
    assert!(!path.nscc.may_send(u32::MAX, u32::MAX));
}

#[test]
fn the_receivers_penalty_scales_the_window_while_it_stands() {
    let mut path = Path::new();
    path.nscc.on_receiver_penalty(64);
    assert_eq!(path.nscc.cwnd(), MAX / 2);
    path.nscc.on_receiver_penalty(64);
    assert_eq!(path.nscc.cwnd(), MAX / 2, "the same again is no second cut");
    for beyond in [127, 128, 255] {
        path.nscc.on_receiver_penalty(beyond);
        assert_eq!(path.nscc.cwnd(), MTU);
    }
    path.nscc.on_receiver_penalty(0);
    assert_eq!(path.nscc.cwnd(), MAX);
}

#[test]
fn a_wrap_of_the_clock_changes_nothing() {
    let windows = |start| {
        let mut path = Path::at(start);
        let mut windows = Vec::new();
        for step in 0..2_000 {
            if step % 97 == 0 {
                path.nscc.on_loss(MTU);
            }
            windows.push(path.ack(MTU, step * 37 % (5 * Q), step % 3 == 0, 40));
        }
        windows
    };
    let plain = windows(Ticks(0));
    assert!(plain.iter().any(|cwnd| *cwnd != MAX));
    assert_eq!(windows(Ticks(u32::MAX - 40_000)), plain);
    assert_eq!(windows(Ticks((1 << 31) - 40_000)), plain);
}
