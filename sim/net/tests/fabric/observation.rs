//! Statistics, time series, taps, determinism.

use std::sync::{Arc, Mutex};

use sim_net::{ChannelId, DropReason, Fabric, Frame, TapSide, Time};

use crate::common::{bottleneck, leaf_spine, line, run, star, Sent, A, B, C};

#[test]
fn depth_is_weighted_by_time() {
    // 10G: each frame of n bytes takes (n + 24) * 800 ps. Four come at once through 100G lines.
    let mut fabric = Fabric::new(star("rate_gbps = 10"), 1);
    let len = Sent::new(A, C).frame(fabric.topology()).len() as u64;
    for from in [A, B] {
        for _ in 0..2 {
            Sent::new(from, C).send(&mut fabric, 0);
        }
    }
    let channel = bottleneck(fabric.topology());
    let deliveries = run(&mut fabric);
    let stats = fabric.stats(channel).unwrap();
    assert_eq!((stats.sent_frames, stats.sent_bytes), (4, 4 * len));
    assert_eq!(
        (stats.data.waited, stats.data.bytes, stats.data.max_bytes),
        (3, 0, 3 * len)
    );
    // Arrivals at t1, t1, t2, t2; departures every `service` from t1.
    let (t1, t2) = ((len + 12) * 80, (2 * len + 36) * 80);
    let service = (len + 24) * 800;
    let waits = service + (t1 + 2 * service - t2) + (t1 + 3 * service - t2);
    assert_eq!(stats.data.byte_time, u128::from(waits * len));
    let end = deliveries.last().unwrap().time;
    assert_eq!(fabric.now(), end);
    assert!((stats.data.mean_bytes(end) - (waits * len) as f64 / end as f64).abs() < 1e-9);
    assert_eq!(stats.data.mean_bytes(0), 0.0);
}

#[test]
fn the_integral_runs_up_to_the_present() {
    let mut fabric = Fabric::new(star("rate_gbps = 0.001"), 1);
    for _ in 0..2 {
        Sent::new(A, C).send(&mut fabric, 0);
    }
    let channel = bottleneck(fabric.topology());
    let integral = |fabric: &mut Fabric, time: Time| {
        fabric.advance_to(time, |_| {});
        fabric.stats(channel).unwrap().data.byte_time
    };
    let first = integral(&mut fabric, 1_000_000);
    let second = integral(&mut fabric, 3_000_000);
    let len = Sent::new(A, C).frame(fabric.topology()).len() as u128;
    assert_eq!(second - first, len * 2_000_000);
}

/// The wake event of a lost queue comes while another frame has just occupied the line. Frames behind it must stay in the queue.
#[test]
fn a_queue_lost_with_its_link_wakes_nobody_early() {
    let mut fabric = Fabric::new(
        crate::common::topology("[defaults]\nrate_gbps = 100\n[back_to_back]\nplanes = 1"),
        1,
    );
    let frame = || Frame::new(vec![0; 976]);
    let service = 80_000;
    let link = fabric.topology().link("p0").unwrap();
    fabric.schedule_link(link, 10_000, false).unwrap();
    fabric.schedule_link(link, 20_000, true).unwrap();
    for time in [0, 0, service, service] {
        fabric.send(A, 0, time, frame()).unwrap();
    }
    fabric.advance_to(service + 1, |_| {});
    assert_eq!(fabric.stats(link.forward()).unwrap().data.bytes, 976);
    assert_eq!(fabric.free_at(A, 0), Ok(3 * service));
    let times: Vec<Time> = run(&mut fabric)
        .iter()
        .map(|delivery| delivery.time)
        .collect();
    assert_eq!(times, [service + 988 * 80, 2 * service + 988 * 80]);
}

#[test]
fn samples_show_the_queue_at_their_times() {
    let mut fabric = Fabric::new(star("rate_gbps = 10"), 1);
    let channel = bottleneck(fabric.topology());
    let len = Sent::new(A, C).frame(fabric.topology()).len() as u64;
    fabric.sample_every(100_000, vec![channel]).unwrap();
    for _ in 0..4 {
        Sent::new(A, C).send(&mut fabric, 150_000);
    }
    fabric.advance_to(5_000_000, |_| {});
    let samples = fabric.samples();
    assert_eq!(samples.len(), 50);
    for (n, sample) in (0..).zip(samples) {
        assert_eq!((sample.time, sample.channel), (n * 100_000, channel));
        // The expected depth follows from the arrivals, every (len + 24) * 80 ps, and the departures, ten times slower.
        let arrived = (0..4)
            .filter(|i| 150_000 + (len + 12) * 80 + i * (len + 24) * 80 <= sample.time)
            .count() as u64;
        let first = 150_000 + (len + 12) * 80;
        let started = (0..4)
            .filter(|i| first + i * (len + 24) * 800 <= sample.time)
            .count() as u64;
        assert_eq!(sample.sent_bytes, started * len);
        assert_eq!(
            (sample.data_bytes, sample.control_bytes),
            ((arrived - started) * len, 0)
        );
    }
}

#[test]
fn taps_see_both_ends() {
    let mut fabric = Fabric::new(star("loss = 0.5, delay_ns = 100"), 4);
    let channel = bottleneck(fabric.topology());
    type Seen = Arc<Mutex<Vec<(ChannelId, Time, Frame)>>>;
    let seen: [Seen; 2] = Default::default();
    for (side, seen) in [TapSide::Transmit, TapSide::Receive].into_iter().zip(&seen) {
        let seen = Arc::clone(seen);
        let tap = move |channel, time, frame: &Frame| {
            seen.lock().unwrap().push((channel, time, frame.clone()))
        };
        fabric.set_tap(channel, side, Box::new(tap)).unwrap();
    }
    for psn in 0..50 {
        Sent {
            psn,
            ..Sent::new(A, C)
        }
        .send(&mut fabric, 0);
    }
    let deliveries = run(&mut fabric);
    let [sent, received] = seen.map(|seen| seen.lock().unwrap().clone());
    assert_eq!(sent.len(), 50);
    let arrived: Vec<_> = deliveries
        .into_iter()
        .map(|d| (channel, d.time, d.frame))
        .collect();
    assert_eq!(received, arrived);
    assert!(received.len() < 50);
    // A frame was sent before it arrived by 12 bytes of preamble and FCS, its own length, and the cable.
    for (_, time, frame) in &received {
        let start = time - (frame.len() as u64 + 12) * 80 - 100_000;
        assert!(sent.contains(&(channel, start, frame.clone())));
    }
}

/// The latency of a switch follows the last bit.
#[test]
fn a_tap_before_a_switch_sees_the_last_bit() {
    let mut fabric = Fabric::new(line("", ""), 1);
    let channel = fabric.topology().link("m").unwrap().forward();
    let times = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&times);
    let tap = move |_, time, _: &Frame| seen.lock().unwrap().push(time);
    fabric
        .set_tap(channel, TapSide::Receive, Box::new(tap))
        .unwrap();
    Sent::new(A, C).send(&mut fabric, 0);
    let delivery = &run(&mut fabric)[0];
    let through = (delivery.frame.len() as u64 + 12) * 80;
    assert_eq!(*times.lock().unwrap(), [2 * through]);
    assert_eq!(delivery.time, 3 * through + 400_000);
}

#[test]
fn two_runs_of_one_seed_are_identical() {
    let outcome = |seed| {
        let more = "[[overrides]]\nplane = 0\nset = { loss = 0.01, corruption = 0.01, jitter_ns = 300, queue_bytes = 20_000, \
                    ecn = { min_bytes = 2000, max_bytes = 15_000, max_probability = 0.3 }, trim = { dscp = 9 } }";
        let mut fabric = Fabric::new(leaf_spine(2, 4, more), seed);
        for psn in 0..400u32 {
            for host in 0..8 {
                let (from, to) = (
                    sim_net::HostId(host),
                    sim_net::HostId((host + 3 + psn % 5) % 8),
                );
                Sent {
                    psn,
                    sport: psn as u16,
                    ack: psn % 7 == 0,
                    ..Sent::new(from, to)
                }
                .send(&mut fabric, u64::from(psn) * 30_000);
            }
        }
        let deliveries = run(&mut fabric);
        let channels: Vec<_> = fabric.topology().channels().collect();
        let stats: Vec<_> = channels
            .into_iter()
            .map(|channel| fabric.stats(channel).unwrap())
            .collect();
        (deliveries, stats, fabric.totals())
    };
    let (first, again, other) = (outcome(5), outcome(5), outcome(6));
    assert!(first == again);
    assert!(first.0 != other.0);
    // The run contains everything that could differ.
    let total = |count: fn(&sim_net::ChannelStats) -> u64| first.1.iter().map(count).sum::<u64>();
    assert!(total(|s| s.ecn_marks) > 0 && total(|s| s.trims) > 0 && total(|s| s.corrupted) > 0);
    assert!(first.2.dropped.of(DropReason::RandomLoss) > 0);
}

#[test]
fn statistics_can_be_written_as_json() {
    let mut fabric = Fabric::new(star("loss = 1.0"), 1);
    Sent::new(A, C).send(&mut fabric, 0);
    run(&mut fabric);
    let stats = fabric.stats(bottleneck(fabric.topology())).unwrap();
    let json = serde_json::to_value(stats).unwrap();
    assert_eq!(json["drops"]["RandomLoss"], 1);
    assert_eq!(json["drops"]["QueueFull"], 0);
    let json = serde_json::to_value(fabric.totals()).unwrap();
    assert_eq!(
        (json["sent"].as_u64(), json["in_flight"].as_u64()),
        (Some(1), Some(0))
    );
}
