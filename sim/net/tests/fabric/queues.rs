//! Capacity, classes and marking.

use sim_net::{DropReason, EcnThresholds, Fabric, Frame};
use stellar_wire::mrc::Peth;
use stellar_wire::{Ecn, ExtHeaders, Header, Ipv4, Opcode};

use crate::common::{bottleneck, ecn, parsed, psns, run, star, Sent, A, B, C};

/// Sends `count` frames of 1,000 payload bytes from `a` and from `b` at 100G each to `c`; returns the fabric.
fn burst(settings: &str, count: u32, sent: Sent) -> Fabric {
    let mut fabric = Fabric::new(star(settings), 7);
    for psn in 0..count {
        for from in [A, B] {
            Sent {
                from,
                psn,
                ..sent.clone()
            }
            .send(&mut fabric, 0);
        }
    }
    fabric
}

fn frame_len() -> u64 {
    let topology = star("");
    Sent::new(A, C).frame(&topology).len() as u64
}

#[test]
fn a_full_queue_drops_the_newest() {
    let room = 5 * frame_len();
    let mut fabric = burst(&format!("queue_bytes = {room}"), 40, Sent::new(A, C));
    let channel = bottleneck(fabric.topology());
    let deliveries = run(&mut fabric);
    let stats = fabric.stats(channel).unwrap();
    // Two frames come per frame time and one leaves; the first pair finds the line idle. By the time the last pair is in, 40
    // have left or are leaving, five wait, and the rest found no room.
    assert_eq!(stats.data.max_bytes, room);
    assert_eq!(stats.drops.of(DropReason::QueueFull), 80 - 45);
    assert_eq!(stats.drops.total(), 80 - 45);
    assert_eq!(deliveries.len(), 45);
    // The frames that arrived are in order, and the early ones are all there.
    for from in [A, B] {
        let ip = fabric.topology().hosts()[from.0 as usize].ports[0].ipv4;
        let of_host: Vec<u32> = deliveries
            .iter()
            .map(parsed)
            .filter(|frame| matches!(frame.ip, stellar_wire::Ip::V4(h) if h.src == ip))
            .map(|frame| frame.bth.psn)
            .collect();
        assert!(of_host.is_sorted());
        assert_eq!(of_host[..3], [0, 1, 2]);
    }
}

#[test]
fn control_overtakes_data_but_not_the_frame_on_the_line() {
    let mut fabric = Fabric::new(star("rate_gbps = 10"), 1);
    for psn in 0..10 {
        Sent {
            psn,
            ..Sent::new(A, C)
        }
        .send(&mut fabric, 0);
    }
    for psn in 100..103 {
        Sent {
            from: B,
            psn,
            ack: true,
            ..Sent::new(B, C)
        }
        .send(&mut fabric, 200_000);
    }
    let order = psns(&run(&mut fabric));
    // One data frame takes 0.88 us at 10G: the first is on the line when the SACKs come.
    assert_eq!(order, [0, 100, 101, 102, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn a_probe_waits_behind_data_and_is_marked_as_data() {
    let settings = "rate_gbps = 10, ecn = { min_bytes = 0, max_bytes = 0, max_probability = 1.0 }";
    let mut fabric = burst(settings, 3, Sent::new(A, C));
    let mut probe = Sent::new(B, C).roce(fabric.topology());
    probe.bth.opcode = Opcode::MrcProbe;
    probe.bth.psn = 99;
    probe.ext = ExtHeaders {
        peth: Some(Peth::default()),
        ..ExtHeaders::default()
    };
    probe.payload.clear();
    let frame = Frame::new(probe.emit().unwrap());
    fabric.send(B, 0, 0, frame).unwrap();
    let deliveries = run(&mut fabric);
    assert_eq!(psns(&deliveries), [0, 0, 1, 1, 2, 2, 99]);
    assert_eq!(ecn(&deliveries[6]), Ecn::CongestionExperienced);
}

#[test]
fn a_host_keeps_its_own_order() {
    let topology =
        crate::common::topology("[defaults]\nrate_gbps = 10\n[back_to_back]\nplanes = 1");
    let mut fabric = Fabric::new(topology, 1);
    for psn in 0..3 {
        Sent {
            psn,
            ack: psn == 2,
            ..Sent::new(A, B)
        }
        .send(&mut fabric, 0);
    }
    assert_eq!(psns(&run(&mut fabric)), [0, 1, 2]);
}

#[test]
fn classes_can_be_told_by_code_point() {
    let text = "
        hosts = [{ name = 'a' }, { name = 'b' }, { name = 'c' }]
        switches = [{ name = 's' }]
        links = [
            { name = 'a', ends = ['a', 's'] },
            { name = 'b', ends = ['b', 's'] },
            { name = 'c', ends = ['s', 'c'], set = { rate_gbps = 1 } },
        ]
        fabric = { control_dscp = [46] }
        defaults = { rate_gbps = 100 }";
    let mut fabric = Fabric::new(crate::common::topology(text), 1);
    for psn in 0..4 {
        let dscp = if psn == 3 { 46 } else { 0 };
        // The opcode does not matter here: the SACK without the code point waits.
        Sent {
            psn,
            dscp,
            ack: psn == 2,
            ..Sent::new(A, C)
        }
        .send(&mut fabric, 0);
    }
    assert_eq!(psns(&run(&mut fabric)), [0, 3, 1, 2]);
}

#[test]
fn control_has_a_queue_of_its_own_size() {
    let len = Sent {
        ack: true,
        ..Sent::new(A, C)
    }
    .frame(&star(""))
    .len() as u64;
    let settings = format!("control_queue_bytes = {}", 3 * len);
    let mut fabric = burst(
        &settings,
        20,
        Sent {
            ack: true,
            ..Sent::new(A, C)
        },
    );
    let channel = bottleneck(fabric.topology());
    assert_eq!(run(&mut fabric).len(), 23);
    let stats = fabric.stats(channel).unwrap();
    assert_eq!(
        (stats.control.max_bytes, stats.data.max_bytes),
        (3 * len, 0)
    );
    assert_eq!(stats.drops.of(DropReason::QueueFull), 17);
}

#[test]
fn a_step_threshold_marks_exactly_above_it() {
    let len = frame_len();
    let settings = format!(
        "ecn = {{ min_bytes = {0}, max_bytes = {0}, max_probability = 1.0 }}",
        4 * len
    );
    for v6 in [false, true] {
        let sent = Sent {
            v6,
            ..Sent::new(A, C)
        };
        let len = sent.frame(&star("")).len() as u64;
        let mut fabric = burst(&settings, 20, sent);
        let channel = bottleneck(fabric.topology());
        let deliveries = run(&mut fabric);
        assert_eq!(deliveries.len(), 40);
        // The depth that each frame finds, in order of arrival: frames arrive in pairs, and one leaves the queue per pair.
        let mut waiting = 0u64;
        let mut marks = Vec::new();
        for pair in 0..20 {
            if pair > 0 {
                waiting -= 1;
                marks.push(waiting * len >= 4 * frame_len());
                waiting += 1;
            } else {
                marks.push(false);
            }
            marks.push(waiting * len >= 4 * frame_len() && pair > 0);
            waiting += 1;
        }
        let expected = marks.iter().filter(|&&marked| marked).count();
        let seen = deliveries
            .iter()
            .filter(|d| ecn(d) == Ecn::CongestionExperienced)
            .count();
        let unmarked_first = deliveries
            .iter()
            .position(|d| ecn(d) == Ecn::CongestionExperienced);
        assert_eq!(seen, expected, "IPv6: {v6}");
        assert_eq!(unmarked_first, marks.iter().position(|&marked| marked));
        assert_eq!(fabric.stats(channel).unwrap().ecn_marks, expected as u64);
    }
}

#[test]
fn only_capable_packets_are_marked() {
    let settings = "ecn = { min_bytes = 0, max_bytes = 0, max_probability = 1.0 }";
    for (sent, arrives) in [
        (Ecn::NotEct, Ecn::NotEct),
        (Ecn::Ect0, Ecn::CongestionExperienced),
        (Ecn::Ect1, Ecn::CongestionExperienced),
    ] {
        let mut fabric = burst(
            settings,
            2,
            Sent {
                ecn: sent,
                ..Sent::new(A, C)
            },
        );
        let channel = bottleneck(fabric.topology());
        let deliveries = run(&mut fabric);
        // The first one found the line idle.
        assert_eq!(ecn(&deliveries[0]), sent);
        assert!(deliveries[1..].iter().all(|d| ecn(d) == arrives));
        let marks = if sent == Ecn::NotEct { 0 } else { 3 };
        assert_eq!(fabric.stats(channel).unwrap().ecn_marks, marks);
    }
}

/// Which of twenty frames over two lines get marks from the queue of one line like them, which marks from a depth of three frames on.
fn marked_of_twenty(more: &str) -> Vec<usize> {
    let depth = 3 * frame_len();
    let settings = format!(
        "ecn = {{ min_bytes = {depth}, max_bytes = {depth}, max_probability = 1.0{more} }}"
    );
    let mut fabric = burst(&settings, 10, Sent::new(A, C));
    let deliveries = run(&mut fabric);
    let is_marked = |&at: &usize| ecn(&deliveries[at]) == Ecn::CongestionExperienced;
    (0..20).filter(is_marked).collect()
}

#[test]
fn a_mark_is_for_what_is_in_front_of_a_frame_or_for_what_is_behind_it() {
    // Two frames come while one leaves, so every second frame finds one more that waits.
    let in_front: Vec<usize> = (7..20).collect();
    assert_eq!(marked_of_twenty(""), in_front);
    // The last three leave fewer than three behind.
    let behind: Vec<usize> = (4..17).collect();
    assert_eq!(marked_of_twenty(", at_departure = true"), behind);
}

#[test]
fn a_queue_that_is_lost_with_its_link_marks_nothing() {
    let always =
        "ecn = { min_bytes = 0, max_bytes = 0, max_probability = 1.0, at_departure = true }";
    let mut fabric = burst(always, 20, Sent::new(A, C));
    let channel = bottleneck(fabric.topology());
    // In the middle of the burst.
    fabric
        .schedule_link(channel.link(), 2_500_000, false)
        .unwrap();
    let deliveries = run(&mut fabric);
    let arrived = |delivery: &&sim_net::Delivery| ecn(delivery) == Ecn::CongestionExperienced;
    let arrived = deliveries.iter().filter(arrived).count() as u64;
    let stats = fabric.stats(channel).unwrap();
    assert!(arrived > 0 && stats.drops.total() > 5, "{arrived}");
    // One may have been on the line.
    assert!(stats.ecn_marks <= arrived + 1, "{} marks", stats.ecn_marks);
}

#[test]
fn the_port_to_a_host_does_not_mark_unless_told() {
    let text = "
        hosts = [{ name = 'a' }, { name = 'b' }, { name = 'c' }]
        switches = [{ name = 's' }]
        links = [{ name = 'a', ends = ['a', 's'] }, { name = 'b', ends = ['b', 's'] }, { name = 'c', ends = ['s', 'c'] }]
        [defaults]
        rate_gbps = 100
        ecn = { min_bytes = 0, max_bytes = 0, max_probability = 1.0 }";
    let mut fabric = Fabric::new(crate::common::topology(text), 1);
    for from in [A, B, A, B] {
        Sent::new(from, C).send(&mut fabric, 0);
    }
    assert!(run(&mut fabric).iter().all(|d| ecn(d) == Ecn::Ect0));
}

#[test]
fn probability_rises_between_the_thresholds() {
    let ecn = EcnThresholds {
        min_bytes: 1000,
        max_bytes: 3000,
        max_probability: 0.4,
        at_departure: false,
    };
    for (depth, expected) in [
        (0, 0.0),
        (1000, 0.0),
        (2000, 0.2),
        (2500, 0.3),
        (3000, 1.0),
        (9999, 1.0),
    ] {
        assert!(
            (ecn.probability(depth) - expected).abs() < 1e-12,
            "at {depth}"
        );
    }
    // A slow line keeps the depth between the thresholds, so the queue marks about that share.
    let settings = "rate_gbps = 0.001, queue_bytes = 10_000_000, \
                    ecn = { min_bytes = 0, max_bytes = 10_000_000, max_probability = 1.0 }";
    let mut fabric = Fabric::new(star(settings), 3);
    let count = 4_000u64;
    for _ in 0..count {
        Sent {
            payload: 1000,
            ..Sent::new(A, C)
        }
        .send(&mut fabric, 0);
    }
    let channel = bottleneck(fabric.topology());
    // All frames are in the queue long before the second one leaves a line of 1 Mb/s.
    fabric.advance_to(1_000_000_000, |_| {});
    let len = frame_len() as f64;
    let shares = (1..count).map(|n| (n as f64 - 1.0) * len / 1e7);
    let mean: f64 = shares.clone().sum();
    let deviation = shares.map(|p| p * (1.0 - p)).sum::<f64>().sqrt();
    let marks = fabric.stats(channel).unwrap().ecn_marks as f64;
    assert!(
        (marks - mean).abs() < 4.0 * deviation,
        "{marks} marks, expected {mean} +- {deviation}"
    );
}

#[test]
fn the_ipv4_checksum_stays_right() {
    let settings = "ecn = { min_bytes = 0, max_bytes = 0, max_probability = 1.0 }";
    let mut fabric = burst(settings, 30, Sent::new(A, C));
    for delivery in run(&mut fabric) {
        // Parsing verifies the checksum and the iCRC, which covers neither TOS nor checksum.
        let (ip, _) = Ipv4::parse(&delivery.frame.bytes()[14..]).unwrap();
        assert_eq!(ip.ttl, 63);
        parsed(&delivery);
    }
}
