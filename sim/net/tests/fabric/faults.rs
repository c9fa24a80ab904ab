//! Loss, corruption, filters.

use sim_net::{DropReason, Fabric, Fate, Frame, LinkId};
use stellar_wire::{Ecn, RoceFrame, WireError};

use crate::common::{ecn, line, numbered, psns, run, topology, Sent, A, B, C};

fn cable(settings: &str, seed: u64) -> Fabric {
    Fabric::new(
        topology(&format!(
            "[defaults]\nrate_gbps = 200\n{settings}\n[back_to_back]\nplanes = 2"
        )),
        seed,
    )
}

#[test]
fn loss_is_binomial_and_follows_the_seed() {
    let lost = |seed| {
        let mut fabric = cable("loss = 0.03", seed);
        numbered(&mut fabric, 20_000);
        let arrived = psns(&run(&mut fabric));
        let stats = fabric.stats(LinkId(0).forward()).unwrap();
        assert_eq!(
            stats.drops.of(DropReason::RandomLoss) as usize,
            20_000 - arrived.len()
        );
        assert_eq!(stats.sent_frames, 20_000);
        (20_000 - arrived.len(), arrived)
    };
    // The mean is 600 and the standard deviation 24.1; four of them are 97.
    for seed in 0..4 {
        let (count, _) = lost(seed);
        assert!((503..=697).contains(&count), "{count} of 20000 lost at 3 %");
    }
    assert_eq!(lost(1), lost(1));
    assert_ne!(lost(1).1, lost(2).1);
}

#[test]
fn links_are_lossy_independently() {
    let arrived = |planes: &[usize]| -> Vec<Vec<u32>> {
        let mut fabric = cable("loss = 0.5", 1);
        for psn in 0..100 {
            for &port in planes {
                Sent {
                    psn,
                    port,
                    ..Sent::new(A, B)
                }
                .send(&mut fabric, 0);
            }
        }
        let deliveries = run(&mut fabric);
        let of_plane = |plane| {
            deliveries
                .iter()
                .filter(|d| d.port == plane)
                .cloned()
                .collect::<Vec<_>>()
        };
        planes.iter().map(|&plane| psns(&of_plane(plane))).collect()
    };
    let both = arrived(&[0, 1]);
    assert_ne!(both[0], both[1]);
    // Traffic on one link does not change which frames another link loses.
    assert_eq!(arrived(&[1])[0], both[1]);
}

#[test]
fn corruption_changes_one_byte_and_receivers_see_it() {
    let mut fabric = cable("corruption = 0.5", 3);
    let topology = fabric.topology().clone();
    numbered(&mut fabric, 1000);
    let mut corrupted = 0;
    for (psn, delivery) in (0..).zip(run(&mut fabric)) {
        let sent = Sent {
            psn,
            payload: 64,
            ..Sent::new(A, B)
        }
        .frame(&topology);
        let differing = sent
            .bytes()
            .iter()
            .zip(delivery.frame.bytes())
            .filter(|(a, b)| a != b)
            .count();
        assert!(differing <= 1);
        corrupted += differing as u64;
        if let Err(error) = RoceFrame::parse(delivery.frame.bytes()) {
            assert_ne!(differing, 0, "{error}");
        }
    }
    assert_eq!(
        fabric.stats(LinkId(0).forward()).unwrap().corrupted,
        corrupted
    );
    assert!(
        (430..=570).contains(&corrupted),
        "{corrupted} of 1000 at 50 %"
    );
}

#[test]
fn a_corrupted_header_is_read_anew() {
    // Every frame gets a wrong byte between the switches. The second switch refuses some of the headers, and the receiver refuses some of the
    // payloads.
    let mut fabric = Fabric::new(line("corruption = 1.0", ""), 1);
    for _ in 0..500 {
        Sent {
            payload: 64,
            ..Sent::new(A, C)
        }
        .send(&mut fabric, 0);
    }
    let deliveries = run(&mut fabric);
    let second = fabric.topology().switch("t").unwrap();
    let dropped = fabric.switch_drops(second).unwrap();
    // 20 of 142 bytes are the IP header, two the EtherType.
    assert!(dropped.of(DropReason::Malformed) > 40 && dropped.of(DropReason::NotIp) > 0);
    let bad_icrc = deliveries
        .iter()
        .filter(|d| {
            matches!(
                RoceFrame::parse(d.frame.bytes()),
                Err(WireError::Icrc { .. })
            )
        })
        .count();
    assert!(bad_icrc > 200);
}

#[test]
fn filters_drop_delay_duplicate_and_mark() {
    let mut fabric = cable("delay_ns = 100", 1);
    let filter = |frame: &Frame, n: u64| {
        let psn = RoceFrame::parse(frame.bytes()).unwrap().bth.psn;
        assert_eq!(u64::from(psn), n);
        match n {
            1 => Fate::Drop,
            2 => Fate::Delay(50_000),
            5 => Fate::Duplicate,
            6 => Fate::MarkCe,
            _ => Fate::Pass,
        }
    };
    let channel = LinkId(0).forward();
    fabric.set_filter(channel, Some(Box::new(filter))).unwrap();
    numbered(&mut fabric, 8);
    let deliveries = run(&mut fabric);
    // A frame takes 142 + 24 bytes, 6.64 ns, so a delay of 50 ns would put number 2 behind number 9.
    assert_eq!(psns(&deliveries), [0, 3, 4, 5, 5, 6, 7, 2]);
    assert_eq!(deliveries[3].time, deliveries[4].time);
    let marked: Vec<bool> = deliveries
        .iter()
        .map(|d| ecn(d) == Ecn::CongestionExperienced)
        .collect();
    assert_eq!(
        marked,
        [false, false, false, false, false, true, false, false]
    );
    let stats = fabric.stats(channel).unwrap();
    assert_eq!(
        (
            stats.ecn_marks,
            stats.duplicates,
            stats.drops.of(DropReason::Filter)
        ),
        (1, 1, 1)
    );

    fabric.set_filter(channel, None).unwrap();
    numbered(&mut fabric, 8);
    assert_eq!(psns(&run(&mut fabric)), (0..8).collect::<Vec<_>>());
}

#[test]
fn a_filter_can_drop_every_packet_once() {
    let mut fabric = cable("", 1);
    let mut seen = std::collections::HashSet::new();
    let filter = move |frame: &Frame, _| {
        let psn = RoceFrame::parse(frame.bytes()).unwrap().bth.psn;
        if seen.insert(psn) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    };
    fabric
        .set_filter(LinkId(0).forward(), Some(Box::new(filter)))
        .unwrap();
    numbered(&mut fabric, 10);
    assert_eq!(run(&mut fabric), []);
    numbered(&mut fabric, 10);
    assert_eq!(run(&mut fabric).len(), 10);
}

#[test]
fn a_mark_by_filter_inside_the_fabric_stays() {
    for link in ["m", "c"] {
        let mut fabric = Fabric::new(line("", ""), 1);
        let channel = fabric.topology().link(link).unwrap().forward();
        fabric
            .set_filter(channel, Some(Box::new(|_, _| Fate::MarkCe)))
            .unwrap();
        Sent::new(A, C).send(&mut fabric, 0);
        Sent {
            ecn: Ecn::NotEct,
            ..Sent::new(A, C)
        }
        .send(&mut fabric, 0);
        let deliveries = run(&mut fabric);
        assert_eq!(
            ecn(&deliveries[0]),
            Ecn::CongestionExperienced,
            "link {link}"
        );
        assert_eq!(ecn(&deliveries[1]), Ecn::NotEct);
        assert_eq!(fabric.stats(channel).unwrap().ecn_marks, 1);
    }
}
